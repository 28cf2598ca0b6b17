/**
 * The look at what runs, every minute, server by server, by whichever instance comes first: what is gone is put back,
 * what crashes is told. Nobody due while something is at work on an environment: it knows better.
 */
import { after, minute } from '../../clock.ts';
import type { InstanceState, SeenCertificate, Survey, TargetView } from '../../engine/engine.ts';
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
import { type DueReconcile, setSeen, takeDueReconciles } from '../environments/due-reconciles.ts';
import { lockEnvironment, setStatus } from '../environments/environment-state.ts';
import { noticeHealth } from '../environments/notice-health.ts';
import { openTargetReadOnly } from '../environments/placement/open-target.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { inspectServices } from '../services/inspect-services.ts';
import { hasServices } from '../services/read-services.ts';
import { crashFault } from './crash-fault.ts';
import {
  type Difference,
  desiredInstances,
  diffDesiredActual,
  type Observed,
  observedOf,
} from './diff-desired-actual.ts';
import { enqueueEnvironmentWork, type ReconcileContext, startKind } from './reconcile.ts';

const maxEnvironments = 200;
const timeoutMs = 50_000;

export function reconcileSchedule(ctx: ReconcileContext): Schedule {
  return { name: 'reconcile', cron: '* * * * *', timezone: 'UTC', run: () => reconcileDue(ctx) };
}

export async function reconcileDue(ctx: ReconcileContext): Promise<void> {
  const now = ctx.clock.now();
  const due = await takeDueReconciles(ctx.db, now, after(now, minute - 5_000), maxEnvironments);
  const servers = Map.groupBy(due, ({ serverId }) => serverId);
  await Promise.all([...servers.values()].map((due) => reconcileServer(ctx, due)));
}

/** All of them stand on one server, so one look shows them all. */
async function reconcileServer(ctx: ReconcileContext, due: readonly DueReconcile[]): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const wanted = (await Promise.all(due.map((look) => desiredOf(ctx, look, signal)))).filter(
      (each) => each !== undefined,
    );
    const [first] = wanted;
    if (!first) return;
    const names = wanted.flatMap((each) => desiredInstances(each.run, each.deploymentId));
    const survey = await first.target.survey(names);
    const missing = await certificatesMissing(ctx, first.target, wanted);
    const looked = await Promise.allSettled(
      wanted.map(async (each) => {
        const alsoWrong = [
          ...orphans(each, survey),
          ...(await servicesDown(ctx, each)),
          ...(missing.get(each.environmentId) ?? []),
        ];
        await judge(ctx, each, survey, alsoWrong);
      }),
    );
    // What goes wrong with one is no reason to leave the others.
    for (const each of looked) if (each.status === 'rejected') throw each.reason;
  } catch (error) {
    // A server that cannot be asked is told of by its own check; what runs there goes on, and is looked at later.
    if (!(error instanceof Fault) && !signal.aborted) throw error;
  }
}

interface Desired {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly deploymentId: DeploymentId;
  readonly target: TargetView;
  readonly seen: Observed;
  readonly run: RunPlan;
  readonly secrets: readonly Secret[];
}

async function desiredOf(
  ctx: ReconcileContext,
  look: DueReconcile,
  signal: AbortSignal,
): Promise<Desired | undefined> {
  const { workspaceId, environmentId, currentDeploymentId: deploymentId, seen } = look;
  const releaseId: ReleaseId = look.currentReleaseId;
  const release = await readRelease(ctx.db, ctx.sealer, workspaceId, releaseId);
  const { run } = release;
  const secrets = secretsOf(release);
  const places = await placementsOf(ctx.db, workspaceId, environmentId);
  const place: Placement | undefined = places.find(({ serverId }) => serverId === look.serverId);
  if (!place) return undefined;
  const target = await openTargetReadOnly(ctx.servers, place, signal);
  return { workspaceId, environmentId, deploymentId, target, seen, run, secrets };
}

/** Of releases that are not live any more: something was cut off before it could clear up. */
function orphans({ environmentId, deploymentId }: Desired, { instances }: Survey): string[] {
  return instances
    .filter((each) => each.environmentId === environmentId && each.deploymentId !== deploymentId)
    .map(({ name }) => name);
}

async function servicesDown(
  ctx: ReconcileContext,
  { workspaceId, environmentId, target }: Desired,
): Promise<string[]> {
  if (!(await hasServices(ctx.db, workspaceId, environmentId))) return [];
  const { services, unwanted } = await inspectServices(ctx, target);
  const amiss = services.filter((each) => !isServiceUp(each));
  return [...amiss.map(({ service }) => `service ${service.name}`), ...unwanted];
}

/** Gone after a server was rebuilt, or changed by hand. Asked only where some should be there. */
async function certificatesMissing(
  ctx: ReconcileContext,
  target: TargetView,
  wanted: readonly Desired[],
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
  ctx: ReconcileContext,
  wanted: Desired,
  { states, fronts, isProxyRunning }: Survey,
  alsoWrong: readonly string[],
): Promise<void> {
  const { environmentId, deploymentId, run } = wanted;
  const names = desiredInstances(run, deploymentId);
  const containers = new Map([...states].filter(([name]) => names.includes(name)));
  const front = fronts.find(({ id }) => id === environmentId);
  const seen = { containers, front, isProxyRunning, alsoWrong };
  const finding = diffDesiredActual(run, deploymentId, seen, wanted.seen);
  const problem = finding.kind === 'crashed' ? await explain(wanted, finding.container) : null;
  await note(ctx, wanted, finding, problem, observedOf(containers));
}

async function explain({ target, run, secrets }: Desired, container: InstanceState): Promise<OperationFault> {
  const lines = await target.lastLines(container.name, 30);
  const isOutOfMemory = await target.wasOutOfMemory(container);
  return crashFault({ ...container, isOutOfMemory }, lines, secrets, run.memoryMb);
}

/** Under the environment's lock, and only where nothing is at work on it that would know better. */
async function note(
  ctx: ReconcileContext,
  { workspaceId, environmentId, deploymentId }: Desired,
  finding: Difference,
  problem: OperationFault | null,
  seen: Observed,
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
      await enqueueEnvironmentWork(tx, ctx, { workspaceId, environment, kind: startKind });
    } else if (status !== 'running') {
      await health('running');
      await setStatus(tx, workspaceId, environmentId, 'running', null, now);
      await news('running');
    }
  });
}
