/**
 * The look at what runs, every minute, server by server, by whichever instance comes first: what is gone is put back,
 * what crashes is told. Nobody looks while something is at work on an environment: it knows better.
 */
import { after, minute } from '../../clock.ts';
import type { InstanceState, SeenCertificate, Survey, Target } from '../../engine/engine.ts';
import type { Placement } from '../../engine/placement.ts';
import { type RunPlan, secretsOf } from '../../engine/release-spec.ts';
import { isServiceUp } from '../../engine/service-spec.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId, EnvironmentId, ReleaseId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import { hasUnfinishedInQueue } from '../../operations/operations.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Secret } from '../../secret.ts';
import { listMissingCertificates } from '../domains/installed-certificates.ts';
import { type DueLook, setSeen, takeDueLooks } from '../environments/due-looks.ts';
import { lockEnvironment, setStatus } from '../environments/environment-state.ts';
import { noticeHealth } from '../environments/notice-health.ts';
import { openTargetToLook } from '../environments/open-target.ts';
import { placesOf } from '../environments/places.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { inspectServices } from '../services/inspect-services.ts';
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
  await Promise.all([...servers.values()].map((looks) => lookAtServer(ctx, looks)));
}

/** All of them stand on one server, so one look shows them all. */
async function lookAtServer(ctx: UpkeepContext, looks: readonly DueLook[]): Promise<void> {
  const signal = AbortSignal.timeout(lookLimitMs);
  try {
    const wanted = (await Promise.all(looks.map((look) => wantedOf(ctx, look, signal)))).filter(
      (each) => each !== undefined,
    );
    const [first] = wanted;
    if (!first) return;
    const names = wanted.flatMap((each) => expectedContainers(each.run, each.deploymentId));
    const survey = await first.target.survey(names);
    const missing = await certificatesAmiss(ctx, first.target, wanted);
    const looked = await Promise.allSettled(
      wanted.map(async (each) => {
        const foundWrong = [
          ...leftOvers(each, survey),
          ...(await servicesAmiss(ctx, each)),
          ...(missing.get(each.environmentId) ?? []),
        ];
        await judge(ctx, each, survey, foundWrong);
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
  readonly target: Target;
  readonly seen: Remembered;
  readonly run: RunPlan;
  readonly secrets: readonly Secret[];
}

async function wantedOf(ctx: UpkeepContext, look: DueLook, signal: AbortSignal): Promise<Wanted | undefined> {
  const { workspaceId, environmentId, currentDeploymentId: deploymentId, seen } = look;
  const releaseId: ReleaseId = look.currentReleaseId;
  const release = await readRelease(ctx.db, ctx.sealer, workspaceId, releaseId);
  const { run } = release;
  const secrets = secretsOf(release);
  const places = await placesOf(ctx.db, workspaceId, environmentId);
  const place: Placement | undefined = places.find(({ serverId }) => serverId === look.serverId);
  if (!place) return undefined;
  const target = await openTargetToLook(ctx.servers, place, signal);
  return { workspaceId, environmentId, deploymentId, target, seen, run, secrets };
}

/** Of releases that are not live any more: something was cut off before it could clear up. */
function leftOvers({ environmentId, deploymentId }: Wanted, { instances }: Survey): string[] {
  return instances
    .filter((each) => each.environmentId === environmentId && each.deploymentId !== deploymentId)
    .map(({ name }) => name);
}

async function servicesAmiss(
  ctx: UpkeepContext,
  { workspaceId, environmentId, target }: Wanted,
): Promise<string[]> {
  if (!(await hasServices(ctx.db, workspaceId, environmentId))) return [];
  const { services, unwanted } = await inspectServices(ctx, target);
  const amiss = services.filter((each) => !isServiceUp(each));
  return [...amiss.map(({ service }) => `service ${service.name}`), ...unwanted];
}

/** Gone after a server was rebuilt, or changed by hand. Asked only where some should be there. */
async function certificatesAmiss(
  ctx: UpkeepContext,
  target: Target,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<EnvironmentId, string[]>> {
  const listMissing = async (seen: readonly SeenCertificate[]) => {
    const all = new Map<EnvironmentId, string[]>();
    for (const { workspaceId, environmentId } of wanted) {
      const ids = await listMissingCertificates(ctx.db, workspaceId, environmentId, seen);
      if (ids.length > 0)
        all.set(
          environmentId,
          ids.map((id) => `certificate ${id}`),
        );
    }
    return all;
  };
  const all = await listMissing([]);
  return all.size === 0 ? all : listMissing(await target.readCertificates());
}

async function judge(
  ctx: UpkeepContext,
  wanted: Wanted,
  { states, fronts, isProxyRunning }: Survey,
  foundWrong: readonly string[],
): Promise<void> {
  const { environmentId, deploymentId, run } = wanted;
  const names = expectedContainers(run, deploymentId);
  const containers = new Map([...states].filter(([name]) => names.includes(name)));
  const front = fronts.find(({ id }) => id === environmentId);
  const seen = { containers, front, isProxyRunning, foundWrong };
  const finding = compare(run, deploymentId, seen, wanted.seen);
  const problem = finding.kind === 'crashed' ? await explain(wanted, finding.container) : null;
  await note(ctx, wanted, finding, problem, remember(containers));
}

async function explain({ target, run, secrets }: Wanted, container: InstanceState): Promise<OperationFault> {
  const lines = await target.lastLines(container.name, 30);
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
      publishProjectEvent(tx, workspaceId, projectId, { reason: 'environment', environmentId, status: to });
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
