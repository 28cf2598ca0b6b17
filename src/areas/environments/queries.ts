/** The SQL of environments, always by workspace. */
import type { DeploymentId, EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { EnvironmentSettings, EnvironmentStatus } from './environments.ts';

export interface EnvironmentRow {
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
  readonly problem: OperationFault | null;
  readonly currentDeploymentId: DeploymentId | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Of several projects at once: a list of projects is one query more, not fifty. */
export function listOfProjects(db: Queryable, workspaceId: WorkspaceId, projectIds: readonly ProjectId[]) {
  return db.rows<EnvironmentRow>(sql`
    select id, project_id as "projectId", name, slug, branch, server_id as "serverId", auto_deploy as "autoDeploy",
      watch_paths as "watchPaths", settings, status, problem, current_deployment as "currentDeploymentId",
      created_at as "createdAt", updated_at as "updatedAt"
    from environments where workspace_id = ${workspaceId} and project_id = any(${projectIds}::uuid[])
    order by id`);
}

export function findEnvironment(db: Queryable, workspaceId: WorkspaceId, id: EnvironmentId) {
  return db.one<EnvironmentRow>(sql`
    select id, project_id as "projectId", name, slug, branch, server_id as "serverId", auto_deploy as "autoDeploy",
      watch_paths as "watchPaths", settings, status, problem, current_deployment as "currentDeploymentId",
      created_at as "createdAt", updated_at as "updatedAt"
    from environments where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Of all projects, or of these. */
export function listEnvironments(
  db: Queryable,
  workspaceId: WorkspaceId,
  projects: readonly ProjectId[] | null,
  page: { before: string; limit: number },
) {
  return db.rows<EnvironmentRow>(sql`
    select id, project_id as "projectId", name, slug, branch, server_id as "serverId", auto_deploy as "autoDeploy",
      watch_paths as "watchPaths", settings, status, problem, current_deployment as "currentDeploymentId",
      created_at as "createdAt", updated_at as "updatedAt"
    from environments
    where workspace_id = ${workspaceId} and (${projects}::uuid[] is null or project_id = any(${projects}::uuid[]))
      and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}

export type NewEnvironment = Pick<
  EnvironmentRow,
  'id' | 'projectId' | 'name' | 'slug' | 'branch' | 'serverId' | 'settings'
>;

/** False where the project has an environment of that name already. */
export async function insertEnvironment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environment: NewEnvironment,
  now: Date,
): Promise<boolean> {
  const { id, projectId, name, slug, branch, serverId, settings } = environment;
  const made = await tx.run(sql`
    insert into environments (workspace_id, id, project_id, name, slug, branch, server_id, settings, status, created_at,
      updated_at)
    values (${workspaceId}, ${id}, ${projectId}, ${name}, ${slug}, ${branch}, ${serverId},
      ${JSON.stringify(settings)}::jsonb, 'idle', ${now}, ${now})
    on conflict do nothing`);
  return made === 1;
}

/** Linked to it, or with something of theirs still there. */
export function listOnServer(db: Queryable, workspaceId: WorkspaceId, serverId: ServerId) {
  return db.rows<{ id: EnvironmentId; name: string; project: string }>(sql`
    select e.id, e.name, p.name as project from environments e
    join projects p on p.workspace_id = e.workspace_id and p.id = e.project_id
    where e.workspace_id = ${workspaceId} and (e.server_id = ${serverId} or exists (
      select 1 from environment_places place
      where place.workspace_id = e.workspace_id and place.environment_id = e.id and place.server_id = ${serverId}))
    order by e.id limit 100`);
}
