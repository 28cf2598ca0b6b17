/** The SQL of backups that are to go. Their objects go first, then their rows. */
import type { BackupId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { PrunedOperation } from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

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

export function deleteBackup(tx: Queryable, workspaceId: WorkspaceId, id: BackupId): Promise<number> {
  return tx.run(sql`
    delete from backups where workspace_id = ${workspaceId} and id = ${id} and delete_at is not null`);
}

/** Its objects could not be taken away now. */
export function setToClear(tx: Queryable, workspaceId: WorkspaceId, id: BackupId, at: Date): Promise<number> {
  return tx.run(sql`
    update backups set clear_at = ${at} where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setCleared(tx: Queryable, workspaceId: WorkspaceId, id: BackupId): Promise<number> {
  return tx.run(sql`
    update backups set clear_at = null where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface DueDeletion {
  readonly workspaceId: WorkspaceId;
  readonly id: BackupId;
}

/** Finished ones that are to go; put off until `again`, in case that fails. */
export function takeDueDeletions(
  db: Queryable,
  now: Date,
  again: Date,
  limit: number,
): Promise<DueDeletion[]> {
  return db.rows<DueDeletion>(sql`
    with due as (
      select workspace_id, id from backups where finished_at is not null and delete_at <= ${now}
      order by delete_at limit ${limit} for update skip locked
    )
    update backups b set delete_at = ${again}
    from due where b.workspace_id = due.workspace_id and b.id = due.id
    returning b.workspace_id as "workspaceId", b.id`);
}

/** Those that failed and may have left something. */
export function takeDueClearings(
  db: Queryable,
  now: Date,
  again: Date,
  limit: number,
): Promise<DueDeletion[]> {
  return db.rows<DueDeletion>(sql`
    with due as (
      select workspace_id, id from backups where clear_at <= ${now}
      order by clear_at limit ${limit} for update skip locked
    )
    update backups b set clear_at = ${again}
    from due where b.workspace_id = due.workspace_id and b.id = due.id
    returning b.workspace_id as "workspaceId", b.id`);
}

/** Places that no backup lies at and that nobody wants backups to go to: their secrets are not kept. */
export function deleteUnusedDestinations(db: Queryable, before: Date): Promise<number> {
  return db.run(sql`
    delete from backup_destinations d
    where d.created_at < ${before}
      and not exists (select 1 from backups b where b.workspace_id = d.workspace_id and b.destination_id = d.id)
      and not exists (select 1 from backup_configs c where c.workspace_id = d.workspace_id and c.destination_id = d.id)`);
}

/** Of backups that outlive their operations: they name none then. */
export function forgetOperations(tx: Queryable, gone: readonly PrunedOperation[]): Promise<number> {
  return tx.run(sql`
    update backups b set operation_id = null
    from unnest(${gone.map((each) => each.workspaceId)}::uuid[], ${gone.map((each) => each.id)}::uuid[])
      as gone (workspace_id, id)
    where b.workspace_id = gone.workspace_id and b.operation_id = gone.id`);
}
