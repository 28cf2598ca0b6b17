/** Projects as they are stored: one, or a page of them, for whoever shows them; and their beginning. */
import type { GitProviderId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Sight } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { projectNotFound } from './projects.ts';
import * as queries from './queries.ts';

export type StoredProject = queries.ProjectRow;

export async function findProject(db: Queryable, workspaceId: WorkspaceId, id: ProjectId) {
  const row = await queries.findProject(db, workspaceId, id);
  if (!row) throw projectNotFound();
  return row;
}

/** Without the results of their analyses. */
export function findProjects(
  db: Queryable,
  { workspaceId, projects }: Sight,
  page: { readonly before: string; readonly limit: number },
): Promise<StoredProject[]> {
  return queries.listProjects(db, workspaceId, projects, page);
}

/** It has an environment from now on. */
export async function activateProject(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
  now: Date,
): Promise<void> {
  await queries.setActive(tx, workspaceId, id, now);
}

/**
 * Those that are read with a Git account, held until the transaction ends: for those who want to disconnect it. They come before the
 * account, since an analysis also holds its project first, and then the account by its key.
 */
export function projectsUsing(
  tx: Queryable,
  workspaceId: WorkspaceId,
  providerId: GitProviderId,
): Promise<{ id: ProjectId; name: string }[]> {
  return queries.lockUsing(tx, workspaceId, providerId);
}
