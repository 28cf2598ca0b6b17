/** Takes away what the retention of an environment allows to go: marked first, then its objects, then its row. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { StepContext } from '../../operations/definition.ts';
import type { BackupsContext } from './backups.ts';
import { configOf } from './config.ts';
import { deleteBackup, markDeleting } from './deletion-queries.ts';
import { removeObjects } from './make-parts.ts';
import * as queries from './queries.ts';
import { listInUse } from './restore-queries.ts';
import { expiredBackups } from './retention.ts';

export async function applyRetention(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  step: Pick<StepContext, 'signal' | 'log'>,
): Promise<void> {
  const now = ctx.clock.now();
  const gone = await ctx.db.transaction(async (tx) => {
    const rows = await queries.listFinished(tx, workspaceId, environmentId);
    const known = rows.map((row) => ({ ...row, isVerified: row.verifiedAt !== null }));
    const expired = new Set<string>(
      expiredBackups(known, await configOf(tx, workspaceId, environmentId), now),
    );
    const ids = rows.filter(({ id }) => expired.has(id)).map(({ id }) => id);
    const inUse = await listInUse(tx, workspaceId, ids);
    const free = ids.filter((id) => !inUse.has(id));
    await markDeleting(tx, workspaceId, free, now);
    return rows.filter(({ id }) => free.includes(id));
  });
  // What fails here is marked, and taken up by the schedule.
  for (const backup of gone) {
    await removeObjects(ctx, backup, { workspaceId, signal: step.signal });
    await deleteBackup(ctx.db, workspaceId, backup.id);
    step.log(`removed the backup of ${backup.createdAt.toISOString()}`);
  }
}
