/** Environments as shown. */
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

export type ShownEnvironment = ReturnType<typeof shown>;

export async function environmentsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectIds: readonly ProjectId[],
): Promise<ReadonlyMap<ProjectId, ShownEnvironment[]>> {
  const byProject = new Map<ProjectId, ShownEnvironment[]>();
  if (projectIds.length === 0) return byProject;
  for (const row of await queries.listOfProjects(db, workspaceId, projectIds)) {
    byProject.set(row.projectId, [...(byProject.get(row.projectId) ?? []), shown(row)]);
  }
  return byProject;
}

function shown(row: queries.EnvironmentRow) {
  const { id, projectId, name, slug, branch, serverId, autoDeploy, watchPaths, settings, services, status } =
    row;
  return {
    ...{ id, projectId, name, slug, branch, serverId, autoDeploy, settings, status },
    watchPaths: [...watchPaths],
    services: [...services],
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
