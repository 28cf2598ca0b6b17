/** Deletes a backup: it is hidden, its objects go, then its row. Where they cannot go now, it is as it was. */
import { Fault } from '../../fault.ts';
import type { BackupId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { type BackupsContext, backupNotFound, publishBackupUpdate } from './backups.ts';
import { removeObjects } from './destinations.ts';
import * as queries from './queries.ts';
import { listInUse } from './restore/restore-queries.ts';
import * as deletion from './retention/deletion-queries.ts';

const removeTimeoutMs = 25_000;

export async function deleteBackup(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: BackupId,
  force: boolean,
): Promise<void> {
  const backup = await ctx.db.transaction(async (tx) => {
    const row = await queries.lockVisible(tx, workspaceId, environmentId, id);
    if (!row) throw backupNotFound();
    if (row.finishedAt === null)
      throw new Fault('backup_unfinished', 'The backup is still being made.', {
        hint: 'Cancel its operation, or wait for its end.',
      });
    if ((await listInUse(tx, workspaceId, [id])).has(id))
      throw new Fault('in_use', 'The backup is being restored right now.');
    if (row.status === 'succeeded' && !force) await refuseLastGood(tx, workspaceId, row);
    await deletion.markDeleting(tx, workspaceId, [id], ctx.clock.now());
    return row;
  });
  try {
    await removeObjects(ctx, backup, { workspaceId, signal: AbortSignal.timeout(removeTimeoutMs) });
  } catch (error) {
    await deletion.unmarkDeleting(ctx.db, workspaceId, id);
    throw error;
  }
  await ctx.db.transaction(async (tx) => {
    await deletion.deleteMarked(tx, workspaceId, id);
    const { status } = backup;
    await publishBackupUpdate(tx, workspaceId, { backupId: id, environmentId, status, reason: 'deleted' });
  });
}

async function refuseLastGood(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, environmentId, serviceId }: queries.BackupRow,
): Promise<void> {
  const all = await queries.listFinished(tx, workspaceId, environmentId);
  const isOtherGood = (each: queries.BackupRow) =>
    each.id !== id && each.status === 'succeeded' && each.serviceId === serviceId;
  if (all.some(isOtherGood)) return;
  throw new Fault('backup_last_good', 'This is the last good backup.', {
    hint: 'Make another one first, or set `force=true`.',
    errors: [{ path: 'force', message: 'must be true, because no other good backup is left' }],
  });
}
