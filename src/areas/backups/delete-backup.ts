/** A backup is deleted: it is hidden, its objects go, then its row. Where they cannot go now, it is as it was. */
import { Fault } from '../../fault.ts';
import type { BackupId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import { type BackupsContext, notFound, tellBackup } from './backups.ts';
import * as deletion from './deletion-queries.ts';
import { removeObjects } from './make-parts.ts';
import * as queries from './queries.ts';
import { listInUse } from './restore-queries.ts';

const removeWithinMs = 25_000;

export async function deleteBackup(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: BackupId,
  force: boolean,
): Promise<void> {
  const backup = await ctx.db.transaction(async (tx) => {
    const row = await queries.lockShown(tx, workspaceId, environmentId, id);
    if (!row) throw notFound();
    if (row.finishedAt === null)
      throw new Fault('backup_unfinished', 'The backup is still being made.', {
        hint: 'Cancel its operation, or wait for its end.',
      });
    if ((await listInUse(tx, workspaceId, [id])).has(id))
      throw new Fault('in_use', 'The backup is being restored right now.');
    if (row.status === 'succeeded' && !force) {
      const all = await queries.listFinished(tx, workspaceId, environmentId);
      const others = all.filter(
        (each) => each.id !== id && each.status === 'succeeded' && each.serviceId === row.serviceId,
      );
      if (others.length === 0) throw lastGood();
    }
    await deletion.markDeleting(tx, workspaceId, [id], ctx.clock.now());
    return row;
  });
  try {
    await removeObjects(ctx, backup, { workspaceId, signal: AbortSignal.timeout(removeWithinMs) });
  } catch (error) {
    await deletion.unmarkDeleting(ctx.db, workspaceId, id);
    throw error;
  }
  await ctx.db.transaction(async (tx) => {
    await deletion.deleteBackup(tx, workspaceId, id);
    const { status } = backup;
    await tellBackup(tx, workspaceId, { backupId: id, environmentId, status, reason: 'deleted' });
  });
}

function lastGood(): Fault {
  return new Fault('backup_last_good', 'It is the last good backup there is.', {
    hint: 'Make another one first, or say `force=true`.',
    errors: [{ path: 'force', message: 'must be true, because no other good backup is left' }],
  });
}
