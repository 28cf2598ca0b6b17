/** What an environment is at: read, locked and written by those who deploy, stop and reconcile it. */
import type { DeploymentId, EnvironmentId, ProjectId, ReleaseId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { fragment, sql } from '../../store/sql.ts';
import { type EnvironmentSettings, type EnvironmentStatus, environmentNotFound } from './environments.ts';

export interface EnvironmentState {
  readonly id: EnvironmentId;
  readonly projectId: ProjectId;
  readonly name: string;
  readonly slug: string;
  readonly branch: string;
  readonly serverId: ServerId | null;
  readonly autoDeploy: boolean;
  readonly watchPaths: readonly string[];
  readonly settings: EnvironmentSettings;
  readonly status: EnvironmentStatus;
  /** What the user wants; `status` is what is. */
  readonly wanted: 'running' | 'stopped';
  readonly problem: OperationFault | null;
  readonly currentDeploymentId: DeploymentId | null;
  readonly currentReleaseId: ReleaseId | null;
}

const stateColumns = fragment`
  id, project_id as "projectId", name, slug, branch, server_id as "serverId", auto_deploy as "autoDeploy",
  watch_paths as "watchPaths", settings, status, wanted, problem,
  current_deployment as "currentDeploymentId", current_release as "currentReleaseId"`;

/** As it is at this moment; undefined where it is not there, or no longer. */
export function readEnvironmentState(db: Queryable, workspaceId: WorkspaceId, id: EnvironmentId) {
  return db.one<EnvironmentState>(sql`
    select ${stateColumns}
    from environments where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Until the transaction ends, nobody else decides about this environment. Undefined where it is gone. */
export function tryLockEnvironment(tx: Queryable, workspaceId: WorkspaceId, id: EnvironmentId) {
  return tx.one<EnvironmentState>(sql`
    select ${stateColumns}
    from environments where workspace_id = ${workspaceId} and id = ${id} for update`);
}

/** For those whose answer would look the same for one that is not there: nothing, an empty list. */
export async function requireEnvironment(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<EnvironmentState> {
  const found = await readEnvironmentState(db, workspaceId, id);
  if (!found) throw environmentNotFound();
  return found;
}

export async function lockEnvironment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<EnvironmentState> {
  const row = await tryLockEnvironment(tx, workspaceId, id);
  if (!row) throw environmentNotFound();
  return row;
}

export function setStatus(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  status: EnvironmentStatus,
  problem: OperationFault | null,
  now: Date,
): Promise<number> {
  const problemText = problem === null ? null : JSON.stringify(problem);
  return tx.run(sql`
    update environments set status = ${status}, problem = ${problemText}::jsonb, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setCurrent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  current: { readonly deploymentId: DeploymentId; readonly releaseId: ReleaseId } | null,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update environments set current_deployment = ${current?.deploymentId ?? null},
      current_release = ${current?.releaseId ?? null}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setWanted(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  wanted: 'running' | 'stopped',
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update environments set wanted = ${wanted}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface EnvironmentChange {
  readonly name: string;
  readonly settings: EnvironmentSettings;
  readonly watchPaths: readonly string[];
}

export function setDetails(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  { name, settings, watchPaths }: EnvironmentChange,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update environments set name = ${name}, settings = ${JSON.stringify(settings)}::jsonb,
      watch_paths = ${JSON.stringify(watchPaths)}::jsonb, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Nothing of the new branch was decided on yet. */
export function setBranch(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  branch: string,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update environments set branch = ${branch}, decided_sha = null, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setServer(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  serverId: ServerId | null,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update environments set server_id = ${serverId}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setAutoDeploy(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  { enabled, watchPaths }: { enabled: boolean; watchPaths: readonly string[] },
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update environments set auto_deploy = ${enabled}, watch_paths = ${JSON.stringify(watchPaths)}::jsonb,
      updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function deleteEnvironment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<number> {
  return tx.run(sql`delete from environments where workspace_id = ${workspaceId} and id = ${id}`);
}
