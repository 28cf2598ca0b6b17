/** What users ask of clusters: each is decided in one transaction, and done by the operation that it stores. */
import { Fault } from '../../fault.ts';
import { type ClusterId, newId, type ServerId, type WorkspaceId } from '../../ids.ts';
import { hasUnfinishedInQueue } from '../../operations/operations.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { readHeldServer } from '../servers/read-server.ts';
import { serverInCluster } from '../servers/remove.ts';
import { isNetwork } from './check-members.ts';
import {
  type Availability,
  availabilityKind,
  type ClustersContext,
  joinKind,
  leaveKind,
  publishClusterUpdate,
} from './clusters.ts';
import { hasEnvironments } from './join.ts';
import * as queries from './queries.ts';
import { readCluster, type ShownCluster } from './read-clusters.ts';
import { type ClusterRequest, enqueueOnCluster, lockIdle } from './start-operation.ts';

export interface NewCluster {
  readonly name: string;
  readonly serverIds: readonly ServerId[];
  readonly network?: string;
}

export async function createCluster(
  ctx: ClustersContext,
  request: Omit<ClusterRequest, 'clusterId'>,
  { name, serverIds, network }: NewCluster,
  saveResponse: SaveResponse,
): Promise<Answer<ShownCluster>> {
  if (network !== undefined && !isNetwork(network))
    throw new Fault('invalid_input', 'The network is not one of IPv4.', {
      errors: [
        { path: 'network', message: 'must be an IPv4 network with all its bits, such as `10.0.0.0/16`' },
      ],
    });
  const clusterId = newId<ClusterId>();
  const { workspaceId } = request;
  return ctx.db.transaction(async (tx) => {
    const cluster = { id: clusterId, name, network: network ?? null };
    if (!(await queries.insertCluster(tx, workspaceId, cluster, ctx.clock.now()))) throw nameTaken(name);
    await addMembers(tx, ctx, workspaceId, clusterId, serverIds);
    await enqueueOnCluster(tx, ctx, { ...request, clusterId }, joinKind, { serverIds });
    const body = await readCluster(tx, workspaceId, clusterId);
    const answer = await saveResponse(tx, { status: 202, location: `/api/v1/clusters/${clusterId}`, body });
    await publishClusterUpdate(tx, workspaceId, clusterId, 'created');
    return answer;
  });
}

export function addServers(
  ctx: ClustersContext,
  request: ClusterRequest,
  serverIds: readonly ServerId[],
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const { workspaceId, clusterId } = request;
  return ctx.db.transaction(async (tx) => {
    await lockIdle(tx, request);
    await addMembers(tx, ctx, workspaceId, clusterId, serverIds);
    const operationId = await enqueueOnCluster(tx, ctx, request, joinKind, { serverIds });
    const answer = await answerStarted(tx, workspaceId, operationId, saveResponse);
    await publishClusterUpdate(tx, workspaceId, clusterId, 'joining');
    return answer;
  });
}

/** In the order of the ids, so that of two who take the same servers the second waits for the first. */
async function addMembers(
  tx: Queryable,
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  clusterId: ClusterId,
  serverIds: readonly ServerId[],
): Promise<void> {
  for (const serverId of [...serverIds].sort()) {
    const path = `serverIds/${serverIds.indexOf(serverId)}`;
    const server = await readLocked(tx, workspaceId, serverId, path);
    const { name } = server;
    if (server.clusterId !== null) throw serverInCluster(name, server.clusterId);
    if (server.status !== 'ready' || server.provisionedAt === null) throw notReady(name, path);
    if ((await ctx.environmentsOn(tx, workspaceId, serverId)).length > 0) throw hasEnvironments(name);
    const key = { workspaceId, id: clusterId };
    if (!(await queries.insertMember(tx, key, serverId, ctx.clock.now())))
      throw serverInCluster(name, clusterId);
  }
}

function readLocked(tx: Queryable, workspaceId: WorkspaceId, serverId: ServerId, path: string) {
  return readHeldServer(tx, workspaceId, serverId, 'alone').catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
    throw new Fault('not_found', 'No such server.', {
      errors: [{ path, message: 'is none of your servers' }],
    });
  });
}

function notReady(name: string, path: string): Fault {
  return new Fault('server_not_ready', `${name} is not ready.`, {
    hint: 'GET /servers/:id says why. A server joins once it is provisioned and answers.',
    errors: [{ path, message: 'must be a server whose status is `ready`' }],
  });
}

export function removeServer(
  ctx: ClustersContext,
  request: ClusterRequest,
  serverId: ServerId,
  lost: boolean,
): Promise<StartedOperation> {
  return ctx.db.transaction(async (tx) => {
    const { members } = await lockIdle(tx, request);
    requireMember(members, serverId);
    if (members.length === 1)
      throw new Fault('in_use', 'It is the last server of the cluster.', {
        hint: 'Delete the cluster instead, with DELETE /clusters/:id.',
      });
    await leaveHomes(tx, ctx, request, { from: serverId, lost });
    return startLeaving(tx, ctx, request, [serverId], { lost, all: false });
  });
}

/** What is built there is built elsewhere from now on; what is being deployed at this moment is waited for. */
async function leaveHomes(
  tx: Queryable,
  ctx: ClustersContext,
  { workspaceId, clusterId }: ClusterRequest,
  { from, lost }: { readonly from: ServerId; readonly lost: boolean },
): Promise<void> {
  const environments = await ctx.environmentsOn(tx, workspaceId, from);
  for (const { id, name, project } of environments)
    if (await hasUnfinishedInQueue(tx, id))
      throw new Fault('in_use', `${project}/${name} is being worked on from this server.`, {
        hint: 'Wait for its deployment to end, or cancel it.',
      });
  const environmentIds = environments.map(({ id }) => id);
  await ctx.leaveHome(tx, workspaceId, { environmentIds, from, clusterId, lost }, ctx.clock.now());
}

/** One that is lost is only taken apart: what stands on it stands on its home alone then, and is put back there. */
async function refuseInUse(
  tx: Queryable,
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  serverIds: readonly ServerId[],
): Promise<void> {
  const found = [];
  for (const serverId of serverIds) found.push(...(await ctx.environmentsOn(tx, workspaceId, serverId)));
  if (found.length === 0) return;
  const names = found.slice(0, 5).map(({ name, project }) => `${project}/${name}`);
  const more = found.length > names.length ? ` and ${found.length - names.length} more` : '';
  throw new Fault('in_use', `On the cluster stand: ${names.join(', ')}${more}.`, {
    hint: 'Move them to a server with PATCH /environments/:id/server, or delete them, first.',
  });
}

/** At once where it has no server; else its servers leave first. */
export function deleteCluster(
  ctx: ClustersContext,
  request: ClusterRequest,
  lost: boolean,
): Promise<StartedOperation | { readonly status: 204; readonly body: null }> {
  const { workspaceId, clusterId } = request;
  return ctx.db.transaction(async (tx) => {
    const { members } = await lockIdle(tx, request);
    const serverIds = members.map((each) => each.serverId);
    if (!lost) await refuseInUse(tx, ctx, workspaceId, serverIds);
    if (serverIds.length > 0) return startLeaving(tx, ctx, request, serverIds, { lost, all: true });
    await queries.deleteCluster(tx, { workspaceId, id: clusterId });
    await publishClusterUpdate(tx, workspaceId, clusterId, 'deleted');
    return { status: 204, body: null } as const;
  });
}

async function startLeaving(
  tx: Queryable,
  ctx: ClustersContext,
  request: ClusterRequest,
  serverIds: readonly ServerId[],
  how: { readonly lost: boolean; readonly all: boolean },
): Promise<StartedOperation> {
  const { workspaceId, clusterId } = request;
  await queries.setMemberStates(tx, { workspaceId, id: clusterId }, serverIds, 'leaving');
  const operationId = await enqueueOnCluster(tx, ctx, request, leaveKind, { serverIds, ...how });
  const answer = await answerStarted(tx, workspaceId, operationId, async (_tx, each) => each);
  await publishClusterUpdate(tx, workspaceId, clusterId, 'leaving');
  return answer;
}

export function changeAvailability(
  ctx: ClustersContext,
  request: ClusterRequest,
  serverId: ServerId,
  availability: Availability,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const { workspaceId, clusterId } = request;
  return ctx.db.transaction(async (tx) => {
    const { members } = await lockIdle(tx, request);
    const { availability: before } = requireMember(members, serverId);
    const input = { serverIds: [serverId], serverId, availability, before };
    const operationId = await enqueueOnCluster(tx, ctx, request, availabilityKind, input);
    const answer = await answerStarted(tx, workspaceId, operationId, saveResponse);
    await publishClusterUpdate(tx, workspaceId, clusterId, availability);
    return answer;
  });
}

function requireMember(members: readonly queries.MemberRow[], serverId: ServerId): queries.MemberRow {
  const found = members.find((each) => each.serverId === serverId);
  if (!found)
    throw new Fault('not_found', 'The cluster has no such server.', {
      hint: 'GET /clusters/:id lists its members.',
    });
  return found;
}

export function renameCluster(
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  id: ClusterId,
  name: string,
): Promise<ShownCluster> {
  return ctx.db.transaction(async (tx) => {
    await readCluster(tx, workspaceId, id);
    if (!(await queries.renameCluster(tx, { workspaceId, id }, name, ctx.clock.now()))) throw nameTaken(name);
    const shown = await readCluster(tx, workspaceId, id);
    await publishClusterUpdate(tx, workspaceId, id, 'changed');
    return shown;
  });
}

function nameTaken(name: string): Fault {
  const message = 'is the name of another cluster of this workspace';
  return new Fault('name_taken', `A cluster named «${name}» exists already.`, {
    errors: [{ path: 'name', message }],
  });
}
