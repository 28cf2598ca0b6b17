/** The SQL of restores and imports, and of the data that they have replaced. */
import type {
  BackupId,
  BackupReplacedId,
  BackupRestoreId,
  EnvironmentId,
  OperationId,
  ServerId,
  ServiceId,
  WorkspaceId,
} from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { type Due, fragment, sql, takeDue } from '../../../store/sql.ts';

export interface RestoreRow {
  readonly id: BackupRestoreId;
  readonly environmentId: EnvironmentId;
  readonly source: 'backup' | 'upload';
  readonly backupId: BackupId | null;
  readonly serviceId: ServiceId | null;
  readonly serverId: ServerId | null;
  readonly uploadBytes: number | null;
  readonly status: 'uploading' | 'queued' | 'running' | 'succeeded' | 'failed';
}

export type NewRestore = Omit<RestoreRow, 'uploadBytes'>;

export function insertRestore(tx: Queryable, workspaceId: WorkspaceId, row: NewRestore, now: Date) {
  return tx.run(sql`
    insert into backup_restores (workspace_id, id, environment_id, source, backup_id, service_id, server_id, status,
      heartbeat_at, created_at)
    values (${workspaceId}, ${row.id}, ${row.environmentId}, ${row.source}, ${row.backupId}, ${row.serviceId},
      ${row.serverId}, ${row.status}, ${now}, ${now})`);
}

export function findRestore(db: Queryable, workspaceId: WorkspaceId, id: BackupRestoreId) {
  return db.one<RestoreRow>(sql`
    select id, environment_id as "environmentId", source, backup_id as "backupId", service_id as "serviceId",
      server_id as "serverId", upload_bytes::float8 as "uploadBytes", status
    from backup_restores where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setRestoreOperation(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupRestoreId,
  operationId: OperationId,
): Promise<number> {
  return tx.run(sql`
    update backup_restores set operation_id = ${operationId} where workspace_id = ${workspaceId} and id = ${id}`);
}

/** False where it was abandoned meanwhile. */
export async function setUploaded(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupRestoreId,
  bytes: number,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update backup_restores set status = 'queued', upload_bytes = ${bytes}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'uploading'`);
  return changed > 0;
}

export function setHeartbeat(tx: Queryable, workspaceId: WorkspaceId, id: BackupRestoreId, now: Date) {
  return tx.run(sql`
    update backup_restores set heartbeat_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and status = 'uploading'`);
}

export function setRestoreRunning(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupRestoreId,
): Promise<number> {
  return tx.run(sql`
    update backup_restores set status = 'running'
    where workspace_id = ${workspaceId} and id = ${id} and finished_at is null`);
}

export function setRestoreEnded(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupRestoreId,
  status: 'succeeded' | 'failed',
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update backup_restores set status = ${status}, finished_at = ${now},
      cleanup_at = case when source = 'upload' and ${status} = 'failed' then ${now}::timestamptz end
    where workspace_id = ${workspaceId} and id = ${id} and finished_at is null`);
}

export async function isRestoring(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<boolean> {
  const row = await db.one(sql`
    select 1 from backup_restores
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and finished_at is null
      and status = 'running' limit 1`);
  return row !== undefined;
}

/** Of these, the ones that are being restored. */
export async function listInUse(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly BackupId[],
): Promise<ReadonlySet<BackupId>> {
  const rows = await db.rows<{ id: BackupId }>(sql`
    select distinct backup_id as id from backup_restores
    where workspace_id = ${workspaceId} and backup_id = any(${ids}::uuid[]) and finished_at is null`);
  return new Set(rows.map(({ id }) => id));
}

export interface AbandonedUpload {
  readonly workspaceId: WorkspaceId;
  readonly id: BackupRestoreId;
  readonly serverId: ServerId | null;
}

const uploadKey = fragment`workspace_id as "workspaceId", id, server_id as "serverId"`;

/** Uploads without a heartbeat since `due.now`. */
export function takeAbandoned(db: Queryable, due: Due): Promise<AbandonedUpload[]> {
  const where = fragment`status = 'uploading'`;
  return db.rows<AbandonedUpload>(
    takeDue('backup_restores', 'heartbeat_at', due, { where, returning: uploadKey }),
  );
}

/** Uploads whose import failed. */
export function takeFailedUploads(db: Queryable, due: Due): Promise<AbandonedUpload[]> {
  return db.rows<AbandonedUpload>(takeDue('backup_restores', 'cleanup_at', due, { returning: uploadKey }));
}

/** Nothing of it is on a server any more. One that never arrived is deleted. */
export async function setUploadRemoved(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupRestoreId,
): Promise<void> {
  await tx.run(sql`
    delete from backup_restores where workspace_id = ${workspaceId} and id = ${id} and status = 'uploading'`);
  await tx.run(sql`
    update backup_restores set cleanup_at = null where workspace_id = ${workspaceId} and id = ${id}`);
}

/** The result of old ones is in their operations, as long as these are kept. */
export function pruneRestores(db: Queryable, before: Date): Promise<number> {
  return db.run(sql`delete from backup_restores where finished_at < ${before} and cleanup_at is null`);
}

export interface ReplacedRow {
  readonly id: BackupReplacedId;
  readonly environmentId: EnvironmentId;
  readonly serverId: ServerId;
  readonly restoreId: BackupRestoreId;
  readonly position: number;
  readonly serviceId: ServiceId | null;
  readonly volumeName: string | null;
  readonly copyName: string;
  readonly discardAt: Date;
}

const replacedColumns = fragment`id, environment_id as "environmentId", server_id as "serverId",
  restore_id as "restoreId", position, service_id as "serviceId", volume_name as "volumeName", copy_name as "copyName",
  discard_at as "discardAt"`;

export function insertReplaced(tx: Queryable, workspaceId: WorkspaceId, row: ReplacedRow, now: Date) {
  return tx.run(sql`
    insert into backup_replaced (workspace_id, id, environment_id, server_id, restore_id, position, service_id,
      volume_name, copy_name, discard_at, created_at)
    values (${workspaceId}, ${row.id}, ${row.environmentId}, ${row.serverId}, ${row.restoreId}, ${row.position},
      ${row.serviceId}, ${row.volumeName}, ${row.copyName}, ${row.discardAt}, ${now})
    on conflict (workspace_id, restore_id, position) do update set discard_at = excluded.discard_at`);
}

/** What was replaced is live again. */
export function deleteReplacedBy(tx: Queryable, workspaceId: WorkspaceId, restoreId: BackupRestoreId) {
  return tx.run(sql`
    delete from backup_replaced where workspace_id = ${workspaceId} and restore_id = ${restoreId}`);
}

export function findReplaced(db: Queryable, workspaceId: WorkspaceId, id: BackupReplacedId) {
  return db.one<ReplacedRow>(sql`
    select ${replacedColumns} from backup_replaced where workspace_id = ${workspaceId} and id = ${id}`);
}

export function deleteReplaced(tx: Queryable, workspaceId: WorkspaceId, id: BackupReplacedId) {
  return tx.run(sql`delete from backup_replaced where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface DueReplaced extends ReplacedRow {
  readonly workspaceId: WorkspaceId;
}

export function takeDueReplaced(db: Queryable, due: Due): Promise<DueReplaced[]> {
  const returning = fragment`workspace_id as "workspaceId", ${replacedColumns}`;
  return db.rows<DueReplaced>(takeDue('backup_replaced', 'discard_at', due, { returning }));
}
