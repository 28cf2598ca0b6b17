/** The SQL of services, always by workspace. */
import type { ServiceKind } from '../../analysis/result.ts';
import type { EnvironmentId, ServerId, ServiceId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { ServiceProblem, ServiceStatus } from './services.ts';

export interface ServiceRow {
  readonly id: ServiceId;
  readonly environmentId: EnvironmentId;
  readonly kind: ServiceKind;
  readonly name: string;
  readonly version: string;
  readonly dataVersion: string | null;
  readonly slot: number;
  readonly memoryMb: number | null;
  readonly storage: string | null;
  readonly credentialsSealed: Buffer | null;
  readonly serverId: ServerId | null;
  readonly status: ServiceStatus;
  readonly problem: ServiceProblem | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly removedAt: Date | null;
}

export function listServices(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
) {
  return db.rows<ServiceRow>(sql`
    select id, environment_id as "environmentId", kind, name, version, data_version as "dataVersion", slot,
      memory_mb as "memoryMb", storage, credentials_sealed as "credentialsSealed", server_id as "serverId", status, problem,
      created_at as "createdAt", updated_at as "updatedAt", removed_at as "removedAt" from services
    where workspace_id = ${workspaceId} and environment_id = any(${environmentIds}::uuid[]) order by id`);
}

export function lockServices(tx: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return tx.rows<ServiceRow>(sql`
    select id, environment_id as "environmentId", kind, name, version, data_version as "dataVersion", slot,
      memory_mb as "memoryMb", storage, credentials_sealed as "credentialsSealed", server_id as "serverId", status, problem,
      created_at as "createdAt", updated_at as "updatedAt", removed_at as "removedAt" from services
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} order by id for update`);
}

export type NewService = Pick<
  ServiceRow,
  'id' | 'kind' | 'name' | 'version' | 'slot' | 'memoryMb' | 'storage'
>;

export function insertService(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { id, kind, name, version, slot, memoryMb, storage }: NewService,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    insert into services (workspace_id, id, environment_id, kind, name, version, slot, memory_mb, storage, status,
      created_at, updated_at)
    values (${workspaceId}, ${id}, ${environmentId}, ${kind}, ${name}, ${version}, ${slot}, ${memoryMb}, ${storage},
      'pending', ${now}, ${now})`);
}

/** What is wanted of it, also of one that was removed: it is wanted again then. */
export function updateService(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, version, slot, memoryMb, storage }: Omit<NewService, 'kind' | 'name'>,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update services set version = ${version}, slot = ${slot}, memory_mb = ${memoryMb}, storage = ${storage},
      status = 'pending', problem = null, removed_at = null, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function removeService(tx: Queryable, workspaceId: WorkspaceId, id: ServiceId, now: Date) {
  return tx.run(sql`
    update services set status = 'removed', problem = null, removed_at = ${now}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and removed_at is null`);
}

/** Only of those that are not wanted: one that is wanted again meanwhile stays. */
export function forgetRemoved(tx: Queryable, workspaceId: WorkspaceId, ids: readonly ServiceId[]) {
  return tx.run(sql`
    delete from services
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and removed_at is not null`);
}

export function setCredentials(tx: Queryable, workspaceId: WorkspaceId, id: ServiceId, sealed: Buffer) {
  return tx.run(sql`
    update services set credentials_sealed = ${sealed}
    where workspace_id = ${workspaceId} and id = ${id} and credentials_sealed is null`);
}

/** Before the first byte is written there: whoever comes after a crash knows where its data is, and of which version. */
export function setStarting(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ServiceId,
  { serverId, version }: { readonly serverId: ServerId; readonly version: string },
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update services set server_id = ${serverId}, data_version = ${version}, status = 'starting', problem = null,
      updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and removed_at is null`);
}

export function setStatus(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly ServiceId[],
  status: ServiceStatus,
  problem: ServiceProblem | null,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update services set status = ${status}, problem = ${problem && JSON.stringify(problem)}::jsonb, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and removed_at is null
      and (status <> ${status} or problem is distinct from ${problem && JSON.stringify(problem)}::jsonb)`);
}

/** Those that were on their way when the work on them ended. */
export function failUnfinished(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  problem: ServiceProblem,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update services set status = 'failed', problem = ${JSON.stringify(problem)}::jsonb, updated_at = ${now}
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and removed_at is null
      and status in ('pending', 'starting')`);
}

/** Their volumes are gone: the next start begins with nothing, and may do so elsewhere. */
export function forgetData(tx: Queryable, workspaceId: WorkspaceId, ids: readonly ServiceId[], now: Date) {
  return tx.run(sql`
    update services set server_id = null, data_version = null, status = 'pending', updated_at = ${now}
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and removed_at is null`);
}

/** Of all that stood elsewhere. */
export function forgetPlaces(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  except: ServerId | null,
): Promise<number> {
  return tx.run(sql`
    update services set server_id = null, data_version = null, status = 'pending'
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and removed_at is null
      and server_id is distinct from ${except}`);
}
