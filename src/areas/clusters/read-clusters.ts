/** Clusters as shown: with their members, and what their managers can still stand. */
import { majorityOf, managersWanted, quorumInWords } from '../../engine/swarm/managers.ts';
import type { ClusterId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { shownFault } from '../../wire.ts';
import { clusterNotFound } from './clusters.ts';
import * as queries from './queries.ts';

export type ShownCluster = ReturnType<typeof toCluster>;

export async function readCluster(db: Queryable, workspaceId: WorkspaceId, id: ClusterId) {
  const row = await queries.findCluster(db, { workspaceId, id });
  if (!row) throw clusterNotFound();
  return toCluster(row, await queries.listMembers(db, workspaceId, [id]));
}

export async function listClusters(db: Queryable, workspaceId: WorkspaceId, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listClusterRows(db, workspaceId, { before, limit: limit + 1 });
  const ids = rows.map(({ id }) => id);
  const members = ids.length === 0 ? [] : await queries.listMembers(db, workspaceId, ids);
  const byCluster = Map.groupBy(members, ({ clusterId }) => clusterId);
  return page.answer(rows, (row) => toCluster(row, byCluster.get(row.id) ?? []));
}

export type ClusterMember = queries.MemberRow;

/** Those who work on it need more of its members than is shown. */
export function readMembers(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: ClusterId,
): Promise<ClusterMember[]> {
  return queries.listMembers(db, workspaceId, [id]);
}

/** For who puts something on it: until the transaction ends nobody takes it apart. Undefined where there is none. */
export function holdCluster(tx: Queryable, workspaceId: WorkspaceId, id: ClusterId) {
  return queries.lockCluster(tx, { workspaceId, id });
}

function toCluster(row: queries.ClusterRow, members: readonly queries.MemberRow[]) {
  const { id, name, network, status, operationId } = row;
  const managers = members.filter(({ role }) => role === 'manager');
  const isKnown = status !== 'no_quorum' && status !== 'unreachable';
  const reachable = isKnown ? managers.filter(({ state }) => state !== 'down').length : 0;
  return {
    id,
    name,
    network,
    status,
    problem: shownFault(row.problem),
    operationId,
    managers: {
      wanted: managersWanted(members.length),
      present: managers.length,
      reachable,
      needed: managers.length === 0 ? 1 : majorityOf(managers.length),
      inWords: isKnown
        ? quorumInWords(managers.length, reachable)
        : (row.problem?.message ?? 'No manager answers.'),
    },
    overlayEncryption: encryptionOf(members),
    members: members.map((member) => ({
      serverId: member.serverId,
      name: member.name,
      state: member.state,
      role: member.role,
      isLeader: member.isLeader,
      availability: member.availability,
      address: member.address,
      downSince: member.downSince?.toISOString() ?? null,
    })),
    checkedAt: row.checkedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** A network is encrypted between all of its members, or not. */
function encryptionOf(members: readonly queries.MemberRow[]): 'available' | 'unavailable' | 'unknown' {
  if (members.length === 0 || members.some(({ canEncrypt }) => canEncrypt === null)) return 'unknown';
  return members.every(({ canEncrypt }) => canEncrypt === true) ? 'available' : 'unavailable';
}
