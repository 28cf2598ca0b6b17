/**
 * Where environments stand: a port of the server's proxy and a network there, each environment's own for as long as
 * it stands on that server. The lowest free ones, so that a firewall's rule need not cover more than is used. On a cluster they
 * are the same on every member.
 */
import { appPorts } from '../../../app-ports.ts';
import { clusterNetworks, type Placement } from '../../../engine/placement.ts';
import { Fault } from '../../../fault.ts';
import type { EnvironmentId, ServerId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { readServer } from '../../servers/read-server.ts';
import * as queries from './placement-queries.ts';

const networks = { first: 0, last: 2_047 } as const;

/** The place that it has there, or a new one. */
export async function ensurePlacement(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serverId: ServerId,
  now: Date,
): Promise<Placement> {
  const { clusterId, serverIds } = await queries.listPeers(tx, workspaceId, serverId);
  // Before the look: of two who ask for the same place at once, the second finds what the first has made.
  await queries.lockPlacementsOn(tx, clusterId ?? serverId);
  const known = await queries.findPlacement(tx, workspaceId, environmentId, serverIds);
  if (known) return known;
  const those = clusterId === null ? networks : clusterNetworks;
  const { port, network } = await queries.findFree(tx, serverIds, appPorts, those);
  if (port === null || network === null) throw serverFull();
  const place = { workspaceId, environmentId, serverId, clusterId, port, network };
  await queries.insertPlacement(tx, place, now);
  return place;
}

/** One, or two while it moves; the one that it has stood on longest comes first. */
export function placementsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<Placement[]> {
  return placementsOfAll(db, workspaceId, [environmentId]);
}

/** Of several environments at once, in the same order. */
export function placementsOfAll(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
): Promise<Placement[]> {
  return queries.listPlacements(db, workspaceId, environmentIds);
}

/** Where visitors of who stands on this server are to be led: on a cluster every member answers. */
export async function hostsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  serverId: ServerId,
): Promise<string[]> {
  const { serverIds } = await queries.listPeers(db, workspaceId, serverId);
  const hosts: string[] = [];
  for (const id of serverIds) hosts.push((await readServer(db, workspaceId, id)).host);
  return hosts;
}

/** Once nothing of the environment is left on that server. */
export async function removePlacement(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serverId: ServerId,
): Promise<void> {
  await queries.deletePlacement(tx, workspaceId, environmentId, serverId);
}

function serverFull(): Fault {
  return new Fault('server_full', 'The server has no address left for another environment.', {
    hint: 'Delete environments that are not needed there, or choose another server.',
  });
}
