/**
 * Which member of a cluster is the home of an environment: it builds its images, runs what has to run once, and keeps its data. Any
 * of them can be it, and another is where it is lost; but not while it has data, which cannot follow.
 */
import { Fault } from '../../../fault.ts';
import type { ClusterId, EnvironmentId, ServerId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { type ClusterMember, holdCluster, readMembers } from '../../clusters/read-clusters.ts';
import { readServer } from '../../servers/read-server.ts';
import { type EnvironmentState, readEnvironmentState, setServer } from '../environment-state.ts';
import { dataOf, type EnvironmentHooks } from '../hooks.ts';
import { countHomes, setHome } from './placement-queries.ts';

/** The member with the fewest environments. Until the transaction ends, nobody takes the cluster apart. */
export async function chooseHome(
  tx: Queryable,
  workspaceId: WorkspaceId,
  clusterId: ClusterId,
  path: string,
): Promise<ServerId> {
  const cluster = await holdCluster(tx, workspaceId, clusterId);
  if (!cluster)
    throw new Fault('not_found', 'No such cluster.', {
      errors: [{ path, message: 'is none of your clusters' }],
    });
  const home = await fewest(tx, workspaceId, await fitMembers(tx, workspaceId, clusterId));
  if ((cluster.status === 'ready' || cluster.status === 'degraded') && home) return home;
  throw new Fault('server_not_ready', `The cluster ${cluster.name} is not ready.`, {
    hint: 'GET /clusters/:id says why.',
    errors: [{ path, message: 'must be a cluster whose status is `ready` or `degraded`' }],
  });
}

/** Of an environment whose home has gone, another one, where there is one; of all others, their own. */
export async function homeOf(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, serverId, hasData }: PlacedEnvironment,
  now: Date,
): Promise<ServerId> {
  if (hasData) return serverId;
  const { clusterId } = await readServer(tx, workspaceId, serverId);
  if (clusterId === null) return serverId;
  const fit = await fitMembers(tx, workspaceId, clusterId);
  if (fit.some((each) => each.serverId === serverId)) return serverId;
  const home = await fewest(tx, workspaceId, fit);
  if (!home) return serverId;
  await moveHome(tx, workspaceId, id, { from: serverId, to: home }, now);
  return home;
}

interface PlacedEnvironment extends Pick<EnvironmentState, 'id'> {
  readonly serverId: ServerId;
  readonly hasData: boolean;
}

/** Everything that has this member for a home, before it leaves its cluster. What has data there stays, unless the server is lost. */
export async function leaveHome(
  tx: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  { environmentIds, from, clusterId, lost }: LeftHome,
  now: Date,
): Promise<void> {
  for (const id of environmentIds) {
    const data = await dataAt(tx, hooks, workspaceId, id, from);
    if (data.length > 0 && !lost) throw hasDataThere(data);
    const fit = await fitMembers(tx, workspaceId, clusterId);
    const to = await fewest(
      tx,
      workspaceId,
      fit.filter(({ serverId }) => serverId !== from),
    );
    if (!to) continue;
    await moveHome(tx, workspaceId, id, { from, to }, now);
    if (data.length > 0) for (const hook of hooks) await hook.leaveData?.(tx, workspaceId, id, to);
  }
}

/** Of these environments those that have data on the server, with what it is. */
export async function dataOn(
  tx: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
  serverId: ServerId,
): Promise<ReadonlyMap<EnvironmentId, readonly string[]>> {
  const found = new Map<EnvironmentId, readonly string[]>();
  for (const id of environmentIds) {
    const paths = await dataAt(tx, hooks, workspaceId, id, serverId);
    if (paths.length > 0) found.set(id, paths);
  }
  return found;
}

async function dataAt(
  tx: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  serverId: ServerId,
): Promise<string[]> {
  const environment = await readEnvironmentState(tx, workspaceId, id);
  const held = environment ? await dataOf(tx, hooks, workspaceId, environment) : [];
  return held.filter((each) => each.serverId === serverId).map(({ path }) => path);
}

function hasDataThere(data: readonly string[]): Fault {
  return new Fault('in_use', `The server has data of environments: ${data.join(', ')}.`, {
    hint: 'Back it up, and move the environment with PATCH /environments/:id/server and `leaveData`, or delete it. If the server is gone for good, take it out with `lost=true`.',
    evidence: data.join('\n'),
  });
}

export interface LeftHome {
  readonly environmentIds: readonly EnvironmentId[];
  readonly from: ServerId;
  readonly clusterId: ClusterId;
  /** The server is gone for good, and its data with it. */
  readonly lost: boolean;
}

async function moveHome(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  move: { readonly from: ServerId; readonly to: ServerId },
  now: Date,
): Promise<void> {
  await setHome(tx, workspaceId, id, move);
  await setServer(tx, workspaceId, id, move.to, now);
}

async function fitMembers(tx: Queryable, workspaceId: WorkspaceId, clusterId: ClusterId) {
  const members = await readMembers(tx, workspaceId, clusterId);
  return members.filter(({ state, availability }) => state === 'ready' && availability === 'active');
}

async function fewest(
  tx: Queryable,
  workspaceId: WorkspaceId,
  members: readonly ClusterMember[],
): Promise<ServerId | undefined> {
  const ids = members.map(({ serverId }) => serverId);
  const homes = new Map(
    (await countHomes(tx, workspaceId, ids)).map(({ serverId, count }) => [serverId, count]),
  );
  return ids.toSorted((a, b) => (homes.get(a) ?? 0) - (homes.get(b) ?? 0))[0];
}
