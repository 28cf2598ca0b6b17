/** The SQL of places: where environments stand, with the port and the network that each has there. */
import type { EnvironmentId, ServerId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { sql } from '../../../store/sql.ts';

export interface PlaceRow {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly serverId: ServerId;
  readonly port: number;
  readonly network: number;
}

/** The one that it has stood on longest comes first. */
export function listPlacements(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
) {
  return db.rows<PlaceRow>(sql`
    select workspace_id as "workspaceId", environment_id as "environmentId", server_id as "serverId", port, network
    from environment_places
    where workspace_id = ${workspaceId} and environment_id = any(${environmentIds}::uuid[])
    order by created_at, server_id`);
}

export function findPlacement(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serverId: ServerId,
) {
  return db.one<PlaceRow>(sql`
    select workspace_id as "workspaceId", environment_id as "environmentId", server_id as "serverId", port, network
    from environment_places
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and server_id = ${serverId}`);
}

/** Until the transaction ends, nobody else gives away a port or a network of this server. */
export function lockPlacementsOn(tx: Queryable, serverId: ServerId): Promise<number> {
  return tx.run(sql`select pg_advisory_xact_lock(hashtextextended('environment_places ' || ${serverId}, 0))`);
}

export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Null where all are given away. */
export async function findFree(
  tx: Queryable,
  serverId: ServerId,
  ports: Range,
  networks: Range,
): Promise<{ port: number | null; network: number | null }> {
  const free = await tx.one<{ port: number | null; network: number | null }>(sql`
    with taken as (select port, network from environment_places where server_id = ${serverId})
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
