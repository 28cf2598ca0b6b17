/** The SQL of backups that are deleted: marked first, then their objects go, then their rows. */
import type { BackupId, EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { type Due, fragment, sql, takeDue } from '../../../store/sql.ts';

export function markDeleting(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly BackupId[],
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update backups set delete_at = ${now}
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and delete_at is null`);
}

export function unmarkDeleting(tx: Queryable, workspaceId: WorkspaceId, id: BackupId): Promise<number> {
  return tx.run(sql`
    update backups set delete_at = null where workspace_id = ${workspaceId} and id = ${id}`);
}

export function markAllDeleting(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update backups set delete_at = ${now}
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and delete_at is null`);
}

export function deleteMarked(tx: Queryable, workspaceId: WorkspaceId, id: BackupId): Promise<number> {
  return tx.run(sql`
    delete from backups where workspace_id = ${workspaceId} and id = ${id} and delete_at is not null`);
}

/** When its objects are to be removed, because they could not be now; null when they were. */
export function setCleanup(tx: Queryable, workspaceId: WorkspaceId, id: BackupId, at: Date | null) {
  return tx.run(sql`
    update backups set cleanup_at = ${at} where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface DueBackup {
  readonly workspaceId: WorkspaceId;
  readonly id: BackupId;
}

export function takeDueDeletions(db: Queryable, due: Due): Promise<DueBackup[]> {
  const where = fragment`finished_at is not null`;
  return db.rows<DueBackup>(takeDue('backups', 'delete_at', due, { where }));
}

/** Those that failed and may have left something. */
export function takeDueCleanups(db: Queryable, due: Due): Promise<DueBackup[]> {
  return db.rows<DueBackup>(takeDue('backups', 'cleanup_at', due));
}

/** Destinations that no backup is stored at and no schedule stores to: their secrets are not kept. */
export function deleteUnusedDestinations(db: Queryable, before: Date): Promise<number> {
  return db.run(sql`
    delete from backup_destinations d
    where d.created_at < ${before}
      and not exists (select 1 from backups b where b.workspace_id = d.workspace_id and b.destination_id = d.id)
      and not exists (select 1 from backup_configs c where c.workspace_id = d.workspace_id and c.destination_id = d.id)`);
}
