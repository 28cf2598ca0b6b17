/** The SQL of backups, always by workspace. */
import type {
  AccountId,
  BackupDestinationId,
  BackupId,
  EnvironmentId,
  OperationId,
  ServiceId,
  WorkspaceId,
} from '../../ids.ts';
import type { PrunedOperation } from '../../operations/definition.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Sight } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { fragment, sql } from '../../store/sql.ts';
import type { BackupStatus, BackupTrigger, UnfinishedStatus } from './backups.ts';

export interface NewBackup {
  readonly id: BackupId;
  readonly environmentId: EnvironmentId;
  readonly environmentName: string;
  readonly serviceId: ServiceId | null;
  readonly trigger: BackupTrigger;
  readonly verify: boolean;
  readonly destinationId: BackupDestinationId | null;
  readonly operationId: OperationId | null;
  readonly requestedBy: AccountId | null;
}

export interface BackupRow extends NewBackup {
  readonly status: BackupStatus;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly verifiedAt: Date | null;
  readonly fault: OperationFault | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

const columns = fragment`id, environment_id as "environmentId", environment_name as "environmentName",
  service_id as "serviceId", trigger, status, verify, destination_id as "destinationId", operation_id as "operationId",
  requested_by as "requestedBy", size_bytes::float8 as "sizeBytes", sha256, verified_at as "verifiedAt", fault,
  created_at as "createdAt", finished_at as "finishedAt"`;

export function insertBackup(tx: Queryable, workspaceId: WorkspaceId, row: NewBackup, now: Date) {
  return tx.run(sql`
    insert into backups (workspace_id, id, environment_id, environment_name, service_id, trigger, status, verify,
      destination_id, operation_id, requested_by, created_at)
    values (${workspaceId}, ${row.id}, ${row.environmentId}, ${row.environmentName}, ${row.serviceId}, ${row.trigger},
      'queued', ${row.verify}, ${row.destinationId}, ${row.operationId}, ${row.requestedBy}, ${now})`);
}

export function setBackupOperation(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  operationId: OperationId,
) {
  return tx.run(sql`
    update backups set operation_id = ${operationId} where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Of backups that outlive their operations. */
export function clearOperations(tx: Queryable, gone: readonly PrunedOperation[]): Promise<number> {
  return tx.run(sql`
    update backups b set operation_id = null
    from unnest(${gone.map((each) => each.workspaceId)}::uuid[], ${gone.map((each) => each.id)}::uuid[])
      as gone (workspace_id, id)
    where b.workspace_id = gone.workspace_id and b.operation_id = gone.id`);
}

/** Also one that is being deleted: for those who work on it. */
export function findBackup(db: Queryable, workspaceId: WorkspaceId, id: BackupId) {
  return db.one<BackupRow>(
    sql`select ${columns} from backups where workspace_id = ${workspaceId} and id = ${id}`,
  );
}

export function findVisible(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: BackupId,
) {
  return db.one<BackupRow>(sql`
    select ${columns} from backups
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and id = ${id} and delete_at is null`);
}

export function lockVisible(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: BackupId,
) {
  return tx.one<BackupRow>(sql`
    select ${columns} from backups
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and id = ${id} and delete_at is null
    for update`);
}

/** Of one environment, or of all with null. */
/** Of one environment, or of all that somebody sees; those of an environment that is gone belong to the workspace. */
export interface BackupsOf extends Sight {
  readonly environmentId: EnvironmentId | null;
}

export function listBackupRows(
  db: Queryable,
  { workspaceId, projects, environmentId }: BackupsOf,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<BackupRow>(sql`
    select ${columns} from backups
    where workspace_id = ${workspaceId} and delete_at is null
      and (${environmentId}::uuid is null or environment_id = ${environmentId})
      and (${projects}::uuid[] is null or environment_id = any(array(
        select e.id from environments e
        where e.workspace_id = ${workspaceId} and e.project_id = any(${projects}::uuid[]))))
      and id < ${page.before}::uuid
    order by id desc limit ${page.limit}`);
}

/** What a retention or a deletion decides over, the newest first. */
export function listFinished(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return db.rows<BackupRow>(sql`
    select ${columns} from backups
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and delete_at is null
      and finished_at is not null
    order by id desc`);
}

export async function hasBackups(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  const row = await db.one(sql`
    select 1 from backups
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and delete_at is null limit 1`);
  return row !== undefined;
}

export async function usedStorage(
  db: Queryable,
  { workspaceId, projects, environmentId }: BackupsOf,
): Promise<{ readonly usedBytes: number; readonly count: number }> {
  const row = await db.one<{ usedBytes: number; count: number }>(sql`
    select coalesce(sum(p.size_bytes), 0)::float8 as "usedBytes", count(distinct b.id)::int as count
    from backups b left join backup_parts p on p.workspace_id = b.workspace_id and p.backup_id = b.id
    where b.workspace_id = ${workspaceId} and b.delete_at is null
      and (${environmentId}::uuid is null or b.environment_id = ${environmentId})
      and (${projects}::uuid[] is null or b.environment_id = any(array(
        select e.id from environments e
        where e.workspace_id = ${workspaceId} and e.project_id = any(${projects}::uuid[]))))
      and (b.finished_at is null or b.status = 'succeeded')`);
  return row ?? { usedBytes: 0, count: 0 };
}

export function listUnfinishedBackups(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return db.rows<BackupRow>(sql`
    select ${columns} from backups
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and finished_at is null`);
}

/** The one that a restore or an import made, or is making, before anything else. */
export function findSafetyBackup(db: Queryable, workspaceId: WorkspaceId, operationId: OperationId) {
  return db.one<BackupRow>(sql`
    select ${columns} from backups
    where workspace_id = ${workspaceId} and operation_id = ${operationId} and trigger in ('pre_restore', 'pre_import')
    order by id desc limit 1`);
}

/** Touches no row where it has ended already. */
export function setBackupStatus(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  status: UnfinishedStatus,
) {
  return tx.run(sql`
    update backups set status = ${status}
    where workspace_id = ${workspaceId} and id = ${id} and finished_at is null and status <> ${status}`);
}

export function setBackupTotals(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  { sizeBytes, sha256 }: { readonly sizeBytes: number; readonly sha256: string },
): Promise<number> {
  return tx.run(sql`
    update backups set size_bytes = ${sizeBytes}, sha256 = ${sha256}
    where workspace_id = ${workspaceId} and id = ${id} and finished_at is null`);
}

export function setBackupSucceeded(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  verifiedAt: Date | null,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update backups set status = 'succeeded', verified_at = ${verifiedAt}, fault = null, finished_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and finished_at is null`);
}

export function setBackupFailed(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  fault: OperationFault,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update backups set status = 'failed', fault = ${JSON.stringify(fault)}::jsonb, finished_at = ${now},
      cleanup_at = coalesce(cleanup_at, case when ${fault.code === 'undo_failed'} then ${now}::timestamptz end),
      verified_at = null
    where workspace_id = ${workspaceId} and id = ${id} and finished_at is null`);
}

/** How the one before it ended, safety backups left out. */
export function findPrevious(
  db: Queryable,
  workspaceId: WorkspaceId,
  { id, environmentId, serviceId }: Pick<BackupRow, 'id' | 'environmentId' | 'serviceId'>,
) {
  return db.one<{ readonly id: BackupId; readonly status: BackupStatus }>(sql`
    select id, status from backups
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and id < ${id}
      and service_id is not distinct from ${serviceId} and finished_at is not null
      and trigger in ('manual', 'schedule') and coalesce(fault->>'code', '') <> 'cancelled'
    order by id desc limit 1`);
}
