/**
 * The request for a deployment, in the caller's transaction. Those that still wait in the environment's queue are overtaken
 * by it: what counts is the newest. One that is at work goes on, and this one waits for its end.
 */
import type { DeploymentEvent } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import { type DeploymentId, newId, type WorkspaceId } from '../../ids.ts';
import { cancelIn, enqueueOperation, lockQueued } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, lockEnvironment, setWanted } from '../environments/environment-state.ts';
import { homeOf } from '../environments/placement/cluster-home.ts';
import { ensurePlacement } from '../environments/placement/placements.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { runsByRelease } from '../releases/stored-releases.ts';
import { holdsData } from '../services/read-services.ts';
import {
  type DeploymentQueue,
  type DeploymentRequest,
  deployKind,
  type WantedCommit,
} from './deployments.ts';
import * as queries from './queries.ts';

export async function requestDeployment(
  tx: Queryable,
  ctx: DeploymentQueue,
  request: DeploymentRequest,
): Promise<DeploymentId> {
  const { workspaceId, environmentId, trigger, requestedBy } = request;
  const environment = await lockEnvironment(tx, workspaceId, environmentId);
  const { projectId, branch, currentDeploymentId } = environment;
  if (environment.serverId === null) throw noServer();
  const now = ctx.clock.now();
  const hasData = await keepsData(tx, workspaceId, environment);
  const placed = { id: environmentId, serverId: environment.serverId, hasData };
  const serverId = await homeOf(tx, workspaceId, placed, now);
  // One that waits goes to the new server by itself, and brings what is newer along.
  const [waiting] = (await queries.listQueued(tx, workspaceId, environmentId)).slice(-1);
  if (trigger === 'move' && waiting) return waiting.id;
  await setWanted(tx, workspaceId, environmentId, 'running', now);
  await ensurePlacement(tx, workspaceId, environmentId, serverId, now);
  const id = newId<DeploymentId>();
  const wanted = request.wanted ?? whatMoves(request, currentDeploymentId) ?? { branch };
  const rollbackOf = 'release' in wanted ? wanted.release : null;
  const { uploadId = null } = request;
  const of = { wanted, rollbackOf, uploadId, requestedBy: requestedBy ?? null };
  const row = { id, environmentId, trigger, serverId, ...of };
  await overtake(tx, ctx, request, id);
  await queries.insertDeployment(tx, workspaceId, row, now);
  const operationId = await enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: deployKind,
    input: { deploymentId: id, environmentId },
    serverId,
    subject: { type: 'deployment', id },
    queueKey: environmentId,
    ...(requestedBy !== undefined && { requestedBy }),
  });
  await queries.setOperation(tx, workspaceId, id, operationId);
  await appendEvents<DeploymentEvent>(tx, { workspaceId, feedId: id }, [
    { kind: 'status', data: { status: 'queued' } },
  ]);
  const news = { reason: 'deployment', environmentId, deploymentId: id, status: 'queued' } as const;
  await publishProjectEvent(tx, workspaceId, projectId, news);
  return id;
}

/** Of services or volumes, where it stands. */
async function keepsData(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, serverId, currentReleaseId }: EnvironmentState,
): Promise<boolean> {
  const data = await holdsData(tx, workspaceId, id);
  if (data.some((each) => each.serverId === serverId)) return true;
  if (currentReleaseId === null) return false;
  const runs = await runsByRelease(tx, workspaceId, [currentReleaseId]);
  return (runs.get(currentReleaseId)?.volumes.length ?? 0) > 0;
}

/** A move changes the server and nothing else: the release that runs goes along, and is built there. */
function whatMoves({ trigger }: DeploymentRequest, current: DeploymentId | null): WantedCommit | undefined {
  return trigger === 'move' && current !== null ? { release: current, variables: 'now' } : undefined;
}

async function overtake(
  tx: Queryable,
  ctx: DeploymentQueue,
  { workspaceId, environmentId }: DeploymentRequest,
  by: DeploymentId,
): Promise<void> {
  for (const { id, operationId } of await queries.listQueued(tx, workspaceId, environmentId)) {
    if (!(await lockQueued(tx, workspaceId, operationId))) continue;
    await queries.setSupersededBy(tx, workspaceId, id, by);
    await cancelIn(tx, ctx.kinds, workspaceId, operationId);
  }
}

export function noServer(): Fault {
  return new Fault('server_not_linked', 'The environment stands on no server yet.', {
    hint: 'Link one with PATCH /environments/:id/server.',
  });
}
