/**
 * The look at what runs, every minute, server by server, by whichever instance comes first: what is gone is put back,
 * what crashes is told. Nobody due while something is at work on an environment: it knows better.
 */
import { isDeepStrictEqual } from 'node:util';
import type { InstanceState, Survey, TargetView } from '../../engine/engine.ts';
import type { Placement } from '../../engine/placement.ts';
import { type RunPlan, secretsOf } from '../../engine/release-spec.ts';
import { isServiceUp } from '../../engine/service-spec.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import { hasUnfinishedInQueue } from '../../operations/operations.ts';
import { enqueueRouting } from '../domains/domain-work.ts';
import { listMissingCertificates } from '../domains/installed-certificates.ts';
import { type DueReconcile, setSeen, takeDueReconciles } from '../environments/due-reconciles.ts';
import { lockEnvironment, setStatus } from '../environments/environment-state.ts';
import { noticeHealth } from '../environments/notice-health.ts';
import { openTargetReadOnly } from '../environments/placement/open-target.ts';
import { placementsOfAll } from '../environments/placement/placements.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { readRelease, runsByRelease } from '../releases/stored-releases.ts';
import { isServerUnavailable } from '../servers/connection/server-retry.ts';
import { inspectServices } from '../services/inspect-services.ts';
import { servicesOf } from '../services/read-services.ts';
import { crashFault } from './crash-fault.ts';
import {
  type Difference,
  desiredInstances,
  diffDesiredActual,
  type Observed,
  observedOf,
  webServers,
} from './diff-desired-actual.ts';
import { enqueueEnvironmentWork, type ReconcileContext, startKind } from './reconcile.ts';

const maxEnvironments = 120;
const timeoutMs = 30_000;

/** Takes some of what is due, and begins the look at each server. */
export async function beginLooks(ctx: ReconcileContext, stop?: AbortSignal): Promise<Promise<void>[]> {
  const due = await takeDueReconciles(ctx.db, ctx.clock.now(), maxEnvironments);
  const servers = Map.groupBy(due, ({ serverId }) => serverId);
  return [...servers.values()].map((due) => reconcileServer(ctx, due, stop));
}

/** All of them stand on one server, so one look shows them all. */
async function reconcileServer(
  ctx: ReconcileContext,
  due: readonly DueReconcile[],
  stop?: AbortSignal,
): Promise<void> {
  const late = AbortSignal.timeout(timeoutMs);
  const signal = stop ? AbortSignal.any([late, stop]) : late;
  try {
    const wanted = await desiredOf(ctx, due);
    const [first] = wanted;
    if (!first) return;
    const target = await openTargetReadOnly(ctx.servers, first.place, signal);
    const names = wanted.flatMap((each) => desiredInstances(each.run, each.deploymentId));
    await target.startLost();
    const survey = await target.survey(names);
    const uneven = await unevenNow(ctx, first.place, survey);
    const ids = wanted.map(({ environmentId }) => environmentId);
    const services = await servicesOf(ctx.db, first.workspaceId, ids);
    // Gone after a server was rebuilt, or changed by hand.
    const certificates = await listMissingCertificates(ctx.db, target, ids);
    await allOf(
      wanted.map(async (each) => {
        const alsoWrong = [
          ...orphans(each, survey),
          ...unevenOf(each, uneven),
          ...(services.has(each.environmentId) ? await servicesDown(ctx, each, signal) : []),
          ...(certificates.get(each.environmentId) ?? []).map((id) => `certificate ${id}`),
        ];
        await judge(ctx, target, each, survey, alsoWrong);
      }),
    );
  } catch (error) {
    // A server that cannot be asked is told of by its own check; what runs there goes on, and is looked at later.
    if (!(error instanceof Fault) && !signal.aborted) throw error;
    const { serverId } = due[0] ?? {};
    if (!stop?.aborted) ctx.log.info({ err: error, serverId }, 'a look at what runs was broken off');
  }
}

/** What goes wrong with one is no reason to leave the others. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
}

interface Desired extends Omit<DueReconcile, 'currentDeploymentId'> {
  readonly deploymentId: DeploymentId;
  readonly place: Placement;
  readonly run: RunPlan;
}

/** Of all environments of one server, and so of one workspace, in as many queries as for one. */
async function desiredOf(ctx: ReconcileContext, due: readonly DueReconcile[]): Promise<Desired[]> {
  const workspaceId = due[0]?.workspaceId;
  if (workspaceId === undefined) return [];
  const ids = due.map(({ environmentId }) => environmentId);
  const releases = due.map(({ currentReleaseId }) => currentReleaseId);
  const [runs, places] = await Promise.all([
    runsByRelease(ctx.db, workspaceId, releases),
    placementsOfAll(ctx.db, workspaceId, ids),
  ]);
  return due.flatMap(({ currentDeploymentId: deploymentId, ...look }) => {
    const run = runs.get(look.currentReleaseId);
    const place = places.find(
      ({ environmentId, serverId }) => environmentId === look.environmentId && serverId === look.serverId,
    );
    return run && place ? [{ ...look, deploymentId, place, run }] : [];
  });
}

/** Of releases that are not live any more: something was cut off before it could clear up. */
function orphans({ environmentId, deploymentId }: Desired, { instances }: Survey): string[] {
  return instances
    .filter((each) => each.environmentId === environmentId && each.deploymentId !== deploymentId)
    .map(({ name }) => name);
}

/** Who drains or reboots the servers of a cluster one after the other makes it uneven, and is not crossed. */
async function unevenNow(
  ctx: ReconcileContext,
  { clusterId }: Placement,
  { uneven }: Survey,
): Promise<readonly string[]> {
  if (clusterId === null || uneven.length === 0) return [];
  return (await hasUnfinishedInQueue(ctx.db, clusterId)) ? [] : uneven;
}

function unevenOf({ run, deploymentId }: Desired, uneven: readonly string[]): string[] {
  if (run.spread === 'packed') return [];
  return desiredInstances(run, deploymentId).filter((name) => uneven.includes(name));
}

async function servicesDown(
  ctx: ReconcileContext,
  { place }: Desired,
  signal: AbortSignal,
): Promise<string[]> {
  const target = await openTargetReadOnly(ctx.servers, place, signal);
  const found = await inspectServices(ctx, target).catch((error: unknown) => {
    // On a cluster the others go on without the server that has the data; the look at the cluster tells of it.
    if (place.clusterId !== null && isServerUnavailable(error)) return undefined;
    throw error;
  });
  if (!found) return [];
  const { services, unwanted } = found;
  const amiss = services.filter((each) => !isServiceUp(each));
  return [...amiss.map(({ service }) => `service ${service.name}`), ...unwanted];
}

async function judge(
  ctx: ReconcileContext,
  target: TargetView,
  wanted: Desired,
  { states, fronts, isProxyRunning }: Survey,
  alsoWrong: readonly string[],
): Promise<void> {
  const { environmentId, deploymentId, place, run, status } = wanted;
  const names = desiredInstances(run, deploymentId);
  const containers = new Map([...states].filter(([name]) => names.includes(name)));
  const front = fronts.find(({ id }) => id === environmentId);
  const actual = { containers, front, isProxyRunning, alsoWrong };
  const finding = diffDesiredActual(run, deploymentId, actual, wanted.seen);
  const seen = observedOf(containers);
  // As most looks end: nothing to write down, and so nothing to lock.
  if (finding.kind === 'well' && status === 'running' && isDeepStrictEqual(seen, wanted.seen)) return;
  // Swarm has moved some, and whoever is at work on the environment may be long in coming to an end.
  if (finding.kind !== 'well' && place.clusterId !== null && front)
    await target.moveServers(environmentId, webServers(run, deploymentId, containers));
  const problem = finding.kind === 'crashed' ? await explain(ctx, target, wanted, finding.container) : null;
  await note(ctx, wanted, finding, problem, seen);
}

async function explain(
  ctx: ReconcileContext,
  target: TargetView,
  { workspaceId, currentReleaseId, run }: Desired,
  container: InstanceState,
): Promise<OperationFault> {
  const secrets = secretsOf(await readRelease(ctx.db, ctx.sealer, workspaceId, currentReleaseId));
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
      if (finding.isFrontAmiss) await enqueueRouting(tx, ctx, workspaceId, environment);
    } else if (finding.kind === 'missing') {
      await enqueueEnvironmentWork(tx, ctx, { workspaceId, environment, kind: startKind });
    } else if (status !== 'running') {
      await health('running');
      await setStatus(tx, workspaceId, environmentId, 'running', null, now);
      await news('running');
    }
  });
}
