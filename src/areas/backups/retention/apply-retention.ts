/** Deletes what the retention of an environment allows to go: marked first, then its objects, then its row. */
import type { EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { StepContext } from '../../../operations/definition.ts';
import type { BackupsContext } from '../backups.ts';
import { backupConfigOf } from '../config.ts';
import { removeObjects } from '../destinations.ts';
import { listFinished } from '../queries.ts';
import { listInUse } from '../restore/restore-queries.ts';
import { deleteMarked, markDeleting } from './deletion-queries.ts';
import { expiredBackups } from './retention.ts';

export async function applyRetention(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  step: Pick<StepContext, 'signal' | 'log'>,
): Promise<void> {
  const now = ctx.clock.now();
  const expired = await ctx.db.transaction(async (tx) => {
    const rows = await listFinished(tx, workspaceId, environmentId);
    const retention = await backupConfigOf(tx, workspaceId, environmentId);
    const found = expiredBackups(rows, retention, now);
    const inUse = await listInUse(
      tx,
      workspaceId,
      found.map(({ id }) => id),
    );
    const free = found.filter(({ id }) => !inUse.has(id));
    await markDeleting(
      tx,
      workspaceId,
      free.map(({ id }) => id),
      now,
    );
    return free;
  });
  // What fails here is marked, and taken up by the schedule.
  for (const backup of expired) {
    await removeObjects(ctx, backup, { workspaceId, signal: step.signal });
    await deleteMarked(ctx.db, workspaceId, backup.id);
    step.log(`deleted the backup of ${backup.createdAt.toISOString()}`);
  }
}
