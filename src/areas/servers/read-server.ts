/** One server, or the list of them, as shown. */
import type { ServerId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { shownFault } from '../../wire.ts';
import * as queries from './queries.ts';
import { serverNotFound } from './servers.ts';

export async function readServer(db: Queryable, workspaceId: WorkspaceId, id: ServerId) {
  const row = await queries.findServer(db, { workspaceId, id });
  if (!row) throw serverNotFound();
  return toServer(row);
}

/**
 * For who puts something on it: until the transaction ends nobody takes it away, or into a cluster. Who takes it into one
 * holds it alone.
 */
export async function readHeldServer(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ServerId,
  how: 'shared' | 'alone',
) {
  const hold = how === 'alone' ? queries.lockServer : queries.holdServer;
  await hold(tx, { workspaceId, id });
  return readServer(tx, workspaceId, id);
}

export async function listServers(db: Queryable, workspaceId: WorkspaceId, page: Page) {
  const rows = await queries.listServerRows(db, workspaceId, { before: page.before, limit: page.limit + 1 });
  return page.answer(rows, toServer);
}

function toServer(row: queries.ServerRow) {
  const { id, name, host, port, username, publicKey, status, problem, facts } = row;
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    id,
    name,
    host,
    port,
    username,
    publicKey,
    status,
    problem: shownFault(problem),
    facts,
    clusterId: row.clusterId,
    hostKeyFingerprint: row.hostKey,
    offeredHostKeyFingerprint: row.offeredHostKey,
    security: {
      state: row.securityState ?? ('unknown' as const),
      score: row.securityScore,
      checkedAt: time(row.securityCheckedAt),
    },
    provisionedAt: time(row.provisionedAt),
    lastSeenAt: time(row.lastSeenAt),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
