/** The SQL of places: where environments stand, with the port and the network that each has there. */
import type { ClusterId, EnvironmentId, ServerId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { fragment, sql } from '../../../store/sql.ts';

export interface PlaceRow {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly serverId: ServerId;
  /** Of the server; who stands on a member stands on its cluster. */
  readonly clusterId: ClusterId | null;
  readonly port: number;
  readonly network: number;
}

const placeColumns = fragment`
  workspace_id as "workspaceId", environment_id as "environmentId", server_id as "serverId", port, network,
  (select cluster_id from cluster_members m
    where m.workspace_id = environment_places.workspace_id and m.server_id = environment_places.server_id)
    as "clusterId"`;

/** The one that it has stood on longest comes first. */
export function listPlacements(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
) {
  return db.rows<PlaceRow>(sql`
    select ${placeColumns}
    from environment_places
    where workspace_id = ${workspaceId} and environment_id = any(${environmentIds}::uuid[])
    order by created_at, server_id`);
}

/** On one of these servers. */
export function findPlacement(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serverIds: readonly ServerId[],
) {
  return db.one<PlaceRow>(sql`
    select ${placeColumns}
    from environment_places
    where workspace_id = ${workspaceId} and environment_id = ${environmentId}
      and server_id = any(${serverIds}::uuid[])`);
}

/** The other members of its cluster, and itself; alone where it is in none. */
export async function listPeers(db: Queryable, workspaceId: WorkspaceId, serverId: ServerId) {
  const members = await db.rows<{ clusterId: ClusterId; serverId: ServerId }>(sql`
    select peer.cluster_id as "clusterId", peer.server_id as "serverId"
    from cluster_members own join cluster_members peer
      on peer.workspace_id = own.workspace_id and peer.cluster_id = own.cluster_id
    where own.workspace_id = ${workspaceId} and own.server_id = ${serverId}`);
  const [first] = members;
  if (!first) return { clusterId: null, serverIds: [serverId] };
  return { clusterId: first.clusterId, serverIds: members.map((each) => each.serverId) };
}

/** Until the transaction ends, nobody else gives away a port or a network of this server, or of this cluster. */
export function lockPlacementsOn(tx: Queryable, where: ServerId | ClusterId): Promise<number> {
  return tx.run(sql`select pg_advisory_xact_lock(hashtextextended('environment_places ' || ${where}, 0))`);
}

export interface Range {
  readonly first: number;
  readonly last: number;
}

/** On none of these servers; null where all are given away. */
export async function findFree(
  tx: Queryable,
  serverIds: readonly ServerId[],
  ports: Range,
  networks: Range,
): Promise<{ port: number | null; network: number | null }> {
  const free = await tx.one<{ port: number | null; network: number | null }>(sql`
    with taken as (select port, network from environment_places where server_id = any(${serverIds}::uuid[]))
    select
      (select min(each) from generate_series(${ports.first}::int, ${ports.last}::int) as each
        where each not in (select port from taken)) as port,
      (select min(each) from generate_series(${networks.first}::int, ${networks.last}::int) as each
        where each not in (select network from taken)) as network`);
  return free ?? { port: null, network: null };
}

export function insertPlacement(
  tx: Queryable,
  { workspaceId, environmentId, serverId, port, network }: PlaceRow,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    insert into environment_places (workspace_id, environment_id, server_id, port, network, created_at)
    values (${workspaceId}, ${environmentId}, ${serverId}, ${port}, ${network}, ${now})`);
}

export function countHomes(db: Queryable, workspaceId: WorkspaceId, serverIds: readonly ServerId[]) {
  return db.rows<{ serverId: ServerId; count: number }>(sql`
    select server_id as "serverId", count(*)::int as count from environments
    where workspace_id = ${workspaceId} and server_id = any(${serverIds}::uuid[])
    group by server_id`);
}

/** It keeps its port and its network. */
export function setHome(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { from, to }: { readonly from: ServerId; readonly to: ServerId },
): Promise<number> {
  return tx.run(sql`
    update environment_places set server_id = ${to}
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and server_id = ${from}`);
}

export function deletePlacement(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serverId: ServerId,
): Promise<number> {
  return tx.run(sql`
    delete from environment_places
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and server_id = ${serverId}`);
}
