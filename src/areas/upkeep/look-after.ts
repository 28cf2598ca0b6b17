/**
 * The look at what runs, every minute, server by server, by whichever instance comes first: what is gone is put back,
 * what crashes is told. Nobody looks while something is at work on an environment: it knows better.
 */
import { ask } from '../../adapters/docker/ask.ts';
import {
  containerLogs,
  inspectContainer,
  type ListedContainer,
  listContainers,
  readContainer,
  readContainers,
  readLogs,
} from '../../adapters/docker/containers.ts';
import type { ContainerState } from '../../adapters/docker/docker.ts';
import {
  readCertificates,
  readFronts,
  type SeenCertificate,
  type SeenProxy,
} from '../../adapters/proxy/fronts.ts';
import { after, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId, EnvironmentId, ReleaseId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import { hasUnfinishedInQueue } from '../../operations/operations.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Remote } from '../../remote/remote.ts';
import type { Secret } from '../../secret.ts';
import { missingCertificates } from '../domains/installed-certificates.ts';
import { type DueLook, setSeen, takeDueLooks } from '../environments/due-looks.ts';
import { lockEnvironment, setStatus } from '../environments/environment-state.ts';
import { noticeHealth } from '../environments/notice-health.ts';
import type { Place } from '../environments/place.ts';
import { placesOf } from '../environments/places.ts';
import { tellProject } from '../projects/projects.ts';
import { deploymentOf } from '../releases/look-at-site.ts';
import { type RunPlan, readRelease, secretsOf } from '../releases/releases.ts';
import { connectTo } from '../servers/connection/connect-server.ts';
import { lookAtServices } from '../services/look-at-services.ts';
import { hasServices } from '../services/read-services.ts';
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
    const wanted = (await Promise.all(looks.map((look) => wantedOf(ctx, look)))).filter(
      (each) => each !== undefined,
    );
    const names = wanted.flatMap((each) => expectedContainers(each.run, each.deploymentId));
    const { containers, listed } = await inspectAll(remote, names, signal);
    const proxy = await readFronts({ remote, signal });
    const missing = await certificatesAmiss(ctx, remote, wanted, signal);
    const looked = await Promise.allSettled(
      wanted.map(async (each) => {
        const foundWrong = [
          ...leftOvers(each, listed),
          ...(await servicesAmiss(ctx, remote, each, signal)),
          ...(missing.get(each.environmentId) ?? []),
        ];
        await judge(ctx, remote, each, containers, proxy, foundWrong, signal);
      }),
    );
    // What goes wrong with one is no reason to leave the others.
    for (const each of looked) if (each.status === 'rejected') throw each.reason;
  } catch (error) {
    // A server that cannot be asked is told of by its own check; what runs there goes on, and is looked at later.
    if (!(error instanceof Fault) && !signal.aborted) throw error;
  }
}

interface Wanted {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly deploymentId: DeploymentId;
  readonly place: Place;
  readonly seen: Remembered;
  readonly run: RunPlan;
  readonly secrets: readonly Secret[];
}

async function wantedOf(ctx: UpkeepContext, look: DueLook): Promise<Wanted | undefined> {
  const { workspaceId, environmentId, currentDeploymentId: deploymentId, seen } = look;
  const releaseId: ReleaseId = look.currentReleaseId;
  const release = await readRelease(ctx.db, ctx.sealer, workspaceId, releaseId);
  const { run } = release;
  const secrets = secretsOf(release);
  const places = await placesOf(ctx.db, workspaceId, environmentId);
  const place = places.find(({ serverId }) => serverId === look.serverId);
  if (!place) return undefined;
  return { workspaceId, environmentId, deploymentId, place, seen, run, secrets };
}

async function inspectAll(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{ containers: Map<string, ContainerState>; listed: ListedContainer[] }> {
  const calls = [listContainers({ slipway: 'app' }), ...names.map(inspectContainer)];
  const [list, ...replies] = await ask(remote, calls, { signal });
  const states = replies.flatMap((reply) => readContainer(reply) ?? []);
  const containers = new Map(states.map((state) => [state.name, state]));
  return { containers, listed: list ? readContainers(list) : [] };
}

/** Of releases that are not live any more: something was cut off before it could clear up. */
function leftOvers({ environmentId, deploymentId }: Wanted, listed: readonly ListedContainer[]): string[] {
  return listed
    .filter(({ labels }) => labels['slipway.environment'] === environmentId)
    .filter((each) => deploymentOf(each) !== deploymentId)
    .map(({ name }) => name);
}

async function servicesAmiss(
  ctx: UpkeepContext,
  remote: Remote,
  { workspaceId, environmentId, place }: Wanted,
  signal: AbortSignal,
): Promise<string[]> {
  if (!(await hasServices(ctx.db, workspaceId, environmentId))) return [];
  // It only looks, so any fence will do; this one refuses nobody.
  const site = { place, remote, signal, fence: { scope: 'look', epoch: 0 } };
  const { services, unwanted } = await lookAtServices(ctx, site);
  const amiss = services.filter(
    ({ isAsWanted, isHealthy, container }) => !isAsWanted || !isHealthy || container?.status !== 'running',
  );
  return [...amiss.map(({ service }) => `service ${service.name}`), ...unwanted.map(({ name }) => name)];
}

/** Gone after a server was rebuilt, or changed by hand. Asked only where some should be there. */
async function certificatesAmiss(
  ctx: UpkeepContext,
  remote: Remote,
  wanted: readonly Wanted[],
  signal: AbortSignal,
): Promise<ReadonlyMap<EnvironmentId, string[]>> {
  const listMissing = async (seen: readonly SeenCertificate[]) => {
    const all = new Map<EnvironmentId, string[]>();
    for (const { workspaceId, environmentId } of wanted) {
      const ids = await missingCertificates(ctx.db, workspaceId, environmentId, seen);
      if (ids.length > 0)
        all.set(
          environmentId,
          ids.map((id) => `certificate ${id}`),
        );
    }
    return all;
  };
  const all = await listMissing([]);
  return all.size === 0 ? all : listMissing(await readCertificates({ remote, signal }));
}

async function judge(
  ctx: UpkeepContext,
  remote: Remote,
  wanted: Wanted,
  all: ReadonlyMap<string, ContainerState>,
  proxy: SeenProxy,
  foundWrong: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { environmentId, deploymentId, run } = wanted;
  const names = expectedContainers(run, deploymentId);
  const containers = new Map([...all].filter(([name]) => names.includes(name)));
  const front = proxy.fronts.find(({ id }) => id === environmentId);
  const seen = { containers, front, isProxyRunning: proxy.isRunning, foundWrong };
  const finding = compare(run, deploymentId, seen, wanted.seen);
  const problem =
    finding.kind === 'crashed' ? await explain(remote, wanted, finding.container, signal) : null;
  await note(ctx, wanted, finding, problem, remember(containers));
}

async function explain(
  remote: Remote,
  { run, secrets }: Wanted,
  container: ContainerState,
  signal: AbortSignal,
): Promise<OperationFault> {
  const [logs] = await ask(remote, [containerLogs(container.name, 30)], { signal });
  const lines = logs?.status === 200 ? readLogs(logs.bytes).map(({ line }) => line) : [];
  return crashFault(container, lines, secrets, run.memoryMb);
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
    if (isStale || (await hasUnfinishedInQueue(tx, environmentId))) return;
    await setSeen(tx, workspaceId, environmentId, seen);
    const news = (to: string) =>
      tellProject(tx, workspaceId, projectId, { reason: 'environment', environmentId, status: to });
    const health = (to: 'degraded' | 'running') =>
      noticeHealth(tx, workspaceId, environment, { status: to, problem }, now);
    if (finding.kind === 'crashed') {
      await health('degraded');
      await setStatus(tx, workspaceId, environmentId, 'degraded', problem, now);
      await news('degraded');
    } else if (finding.kind === 'missing') {
      await enqueueUpkeep(tx, ctx, { workspaceId, environment, kind: startKind });
    } else if (status !== 'running') {
      await health('running');
      await setStatus(tx, workspaceId, environmentId, 'running', null, now);
      await news('running');
    }
  });
}
