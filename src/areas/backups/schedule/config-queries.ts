/** The SQL of schedules and destinations. */
import type { BackupDestinationId, EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { fragment, sql } from '../../../store/sql.ts';

export interface ConfigRow {
  readonly environmentId: EnvironmentId;
  readonly enabled: boolean;
  readonly cron: string;
  readonly timezone: string;
  readonly keepLast: number;
  readonly keepDays: number;
  readonly verify: boolean;
  readonly destinationId: BackupDestinationId | null;
  readonly nextRunAt: Date | null;
  readonly lastRunAt: Date | null;
}

const columns = fragment`environment_id as "environmentId", enabled, cron, timezone, keep_last as "keepLast",
  keep_days as "keepDays", verify, destination_id as "destinationId", next_run_at as "nextRunAt",
  last_run_at as "lastRunAt"`;

export function findBackupConfig(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return db.one<ConfigRow>(sql`
    select ${columns} from backup_configs where workspace_id = ${workspaceId} and environment_id = ${environmentId}`);
}

export function saveBackupConfig(
  tx: Queryable,
  workspaceId: WorkspaceId,
  row: Omit<ConfigRow, 'lastRunAt'>,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    insert into backup_configs as c (workspace_id, environment_id, enabled, cron, timezone, keep_last, keep_days,
      verify, destination_id, next_run_at, updated_at)
    values (${workspaceId}, ${row.environmentId}, ${row.enabled}, ${row.cron}, ${row.timezone}, ${row.keepLast},
      ${row.keepDays}, ${row.verify}, ${row.destinationId}, ${row.nextRunAt}, ${now})
    on conflict (workspace_id, environment_id) do update set
      enabled = excluded.enabled, cron = excluded.cron, timezone = excluded.timezone, keep_last = excluded.keep_last,
      keep_days = excluded.keep_days, verify = excluded.verify, destination_id = excluded.destination_id,
      next_run_at = excluded.next_run_at, updated_at = excluded.updated_at`);
}

export interface DueConfig extends ConfigRow {
  readonly workspaceId: WorkspaceId;
  readonly nextRunAt: Date;
}

/** One that is due, of the environment that has waited longest. */
export function findDueConfig(db: Queryable, now: Date) {
  return db.one<{ readonly workspaceId: WorkspaceId; readonly environmentId: EnvironmentId }>(sql`
    select workspace_id as "workspaceId", environment_id as "environmentId"
    from backup_configs where next_run_at <= ${now} order by next_run_at limit 1`);
}

/** Under the lock of its environment, as in every change. Undefined where another instance was faster. */
export function lockDueConfig(
  tx: Queryable,
  { workspaceId, environmentId }: Pick<DueConfig, 'workspaceId' | 'environmentId'>,
  now: Date,
) {
  return tx.one<DueConfig>(sql`
    select workspace_id as "workspaceId", ${columns} from backup_configs
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and next_run_at <= ${now}
    for update`);
}

export function setNextRun(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { nextRunAt, ranAt }: { readonly nextRunAt: Date | null; readonly ranAt: Date | null },
): Promise<number> {
  return tx.run(sql`
    update backup_configs set next_run_at = ${nextRunAt}, last_run_at = coalesce(${ranAt}::timestamptz, last_run_at)
    where workspace_id = ${workspaceId} and environment_id = ${environmentId}`);
}

export interface DestinationRow {
  readonly id: BackupDestinationId;
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly credentialsSealed: Buffer;
}

export function listDestinations(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly BackupDestinationId[],
): Promise<DestinationRow[]> {
  return db.rows<DestinationRow>(sql`
    select id, endpoint, region, bucket, prefix, access_key_id as "accessKeyId",
      credentials_sealed as "credentialsSealed"
    from backup_destinations where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`);
}

export function insertDestination(tx: Queryable, workspaceId: WorkspaceId, row: DestinationRow, now: Date) {
  return tx.run(sql`
    insert into backup_destinations (workspace_id, id, type, endpoint, region, bucket, prefix, access_key_id,
      credentials_sealed, created_at)
    values (${workspaceId}, ${row.id}, 's3', ${row.endpoint}, ${row.region}, ${row.bucket}, ${row.prefix},
      ${row.accessKeyId}, ${row.credentialsSealed}, ${now})`);
}
