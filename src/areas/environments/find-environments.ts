/** Environments as they are stored: one, those of projects, and pages of them, for whoever shows them. */
import type { EnvironmentId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { notFound } from './environments.ts';
import * as queries from './queries.ts';

export type StoredEnvironment = queries.EnvironmentRow;

export async function findEnvironment(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<StoredEnvironment> {
  const row = await queries.findEnvironment(db, workspaceId, id);
  if (!row) throw notFound();
  return row;
}

export function findEnvironments(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId | null,
  page: { readonly before: string; readonly limit: number },
): Promise<StoredEnvironment[]> {
  return queries.listEnvironments(db, workspaceId, projectId, page);
}

export function environmentsOfProjects(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectIds: readonly ProjectId[],
): Promise<StoredEnvironment[]> {
  return queries.listOfProjects(db, workspaceId, projectIds);
}
