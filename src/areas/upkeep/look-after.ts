/**
 * The look at what runs, every minute, server by server, by whichever instance comes first: what is gone is put back,
 * what crashes is told. Nobody looks while something is at work on an environment: it knows better.
 */
import { ask } from '../../adapters/docker/ask.ts';
import {
  containerLogs,
  inspectContainer,
  readContainer,
  readLogs,
} from '../../adapters/docker/containers.ts';
import type { ContainerState } from '../../adapters/docker/docker.ts';
import { readSites, type SeenProxy } from '../../adapters/proxy/sites.ts';
import { after, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId, EnvironmentId, ReleaseId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import { hasUnfinished } from '../../operations/operations.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Remote } from '../../remote/remote.ts';
import { type DueLook, setSeen, takeDueLooks } from '../environments/due-looks.ts';
import { lockEnvironment, setStatus } from '../environments/environment-state.ts';
import { tellProject } from '../projects/projects.ts';
import { readRelease } from '../releases/releases.ts';
import { connectTo } from '../servers/servers.ts';
import { compare, expectedContainers, type Finding, type Remembered, remember } from './compare.ts';
import { crashFault } from './crash-fault.ts';
import { enqueueUpkeep, startKind, type UpkeepContext } from './upkeep.ts';

const atOnce = 200;
const lookLimitMs = 50_000;

export function lookAfterSchedule(ctx: UpkeepContext): Schedule {
  return { name: 'look-after', cron: '* * * * *', timezone: 'UTC', run: () => lookAfterDue(ctx) };
}

export async function lookAfterDue(ctx: UpkeepContext): Promise<void> {
  const now = ctx.clock.now();
  const due = await takeDueLooks(ctx.db, now, after(now, minute - 5_000), atOnce);
  const servers = Map.groupBy(due, ({ serverId }) => serverId);
  await Promise.all([...servers].map(([serverId, looks]) => lookAtServer(ctx, serverId, looks)));
}

async function lookAtServer(
  ctx: UpkeepContext,
  serverId: ServerId,
  looks: readonly DueLook[],
): Promise<void> {
  const [first] = looks;
  if (!first) return;
  const signal = AbortSignal.timeout(lookLimitMs);
  try {
    const { remote } = await connectTo(ctx.servers, first.workspaceId, serverId);
    const wanted = await Promise.all(looks.map((look) => wantedOf(ctx, look)));
    const names = wanted.flatMap((each) => expectedContainers(each.run, each.deploymentId));
    const containers = await inspectAll(remote, names, signal);
    const proxy = await readSites({ remote, signal });
    for (const each of wanted) await judge(ctx, remote, each, containers, proxy, signal);
  } catch (error) {
    // A server that cannot be asked is told of by its own check; what runs there goes on, and is looked at later.
    if (!(error instanceof Fault) && !signal.aborted) throw error;
  }
}

interface Wanted {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly deploymentId: DeploymentId;
  readonly seen: Remembered;
  readonly run: Awaited<ReturnType<typeof readRelease>>['run'];
  readonly secrets: Awaited<ReturnType<typeof readRelease>>['variables'];
}

async function wantedOf(ctx: UpkeepContext, look: DueLook): Promise<Wanted> {
  const { workspaceId, environmentId, currentDeploymentId: deploymentId, seen } = look;
  const releaseId: ReleaseId = look.currentReleaseId;
  const { run, variables: secrets } = await readRelease(ctx.db, ctx.sealer, workspaceId, releaseId);
  return { workspaceId, environmentId, deploymentId, seen, run, secrets };
}

async function inspectAll(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, ContainerState>> {
  const replies = await ask(remote, names.map(inspectContainer), { signal });
  const states = replies.flatMap((reply) => readContainer(reply) ?? []);
  return new Map(states.map((state) => [state.name, state]));
}

async function judge(
  ctx: UpkeepContext,
  remote: Remote,
  wanted: Wanted,
  all: ReadonlyMap<string, ContainerState>,
  proxy: SeenProxy,
  signal: AbortSignal,
): Promise<void> {
  const { environmentId, deploymentId, run } = wanted;
  const names = expectedContainers(run, deploymentId);
  const containers = new Map(
    names.flatMap((name) => (all.has(name) ? [[name, all.get(name)]] : [])).filter(isSeen),
  );
  const site = proxy.sites.find(({ id }) => id === environmentId);
  const finding = compare(
    run,
    deploymentId,
    { containers, site, isProxyRunning: proxy.isRunning },
    wanted.seen,
  );
  const problem =
    finding.kind === 'crashed' ? await explain(remote, wanted, finding.container, signal) : null;
  await note(ctx, wanted, finding, problem, remember(containers));
}

function isSeen(entry: readonly unknown[]): entry is [string, ContainerState] {
  return entry[1] !== undefined;
}

async function explain(
  remote: Remote,
  { run, secrets }: Wanted,
  container: ContainerState,
  signal: AbortSignal,
): Promise<OperationFault> {
  const [logs] = await ask(remote, [containerLogs(container.name, 30)], { signal });
  const lines = logs?.status === 200 ? readLogs(logs.bytes).map(({ line }) => line) : [];
  return crashFault(container, lines, [...secrets.values()], run.memoryMb);
}

/** Under the environment's lock, and only where nothing is at work on it that would know better. */
async function note(
  ctx: UpkeepContext,
  { workspaceId, environmentId, deploymentId }: Wanted,
  finding: Finding,
  problem: OperationFault | null,
  seen: Remembered,
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    const { projectId, status, wanted, currentDeploymentId } = environment;
    const isStale = wanted !== 'running' || currentDeploymentId !== deploymentId;
    if (isStale || (await hasUnfinished(tx, environmentId))) return;
    await setSeen(tx, workspaceId, environmentId, seen);
    const news = (to: string) =>
      tellProject(tx, workspaceId, projectId, { reason: 'environment', environmentId, status: to });
    if (finding.kind === 'crashed') {
      await setStatus(tx, workspaceId, environmentId, 'degraded', problem, now);
      await news('degraded');
    } else if (finding.kind === 'missing') {
      await enqueueUpkeep(tx, ctx, { workspaceId, environment, kind: startKind });
    } else if (status !== 'running') {
      await setStatus(tx, workspaceId, environmentId, 'running', null, now);
      await news('running');
    }
  });
}
