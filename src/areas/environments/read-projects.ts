/** Projects as shown: with their environments. */
import type { AnalysisResult } from '../../analysis/result.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Sight } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { findProject, findProjects, type StoredProject } from '../projects/find-projects.ts';
import type { EnvironmentHooks } from './hooks.ts';
import { environmentsOf, type ShownEnvironment } from './read-environments.ts';

export type ShownProject = ReturnType<typeof shown>;

export async function readProject(
  db: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  id: ProjectId,
) {
  const row = await findProject(db, workspaceId, id);
  const environments = await environmentsOf(db, hooks, workspaceId, [id]);
  return shown(row, row.analysisResult, environments.get(id) ?? []);
}

export async function listProjects(db: Queryable, hooks: EnvironmentHooks, sight: Sight, page: Page) {
  const rows = await findProjects(db, sight, { before: page.before, limit: page.limit + 1 });
  const environments = await environmentsOf(
    db,
    hooks,
    sight.workspaceId,
    rows.map(({ id }) => id),
  );
  return page.answer(rows, (row) => shown(row, undefined, environments.get(row.id) ?? []));
}

function shown(
  row: StoredProject,
  result: AnalysisResult | null | undefined,
  environments: readonly ShownEnvironment[],
) {
  const { id, name, slug, branch, status, analysisStatus, analysisCommit, analysisFault } = row;
  return {
    id,
    name,
    slug,
    branch,
    status,
    repository: {
      providerId: row.providerId,
      kind: row.repositoryKind,
      fullName: row.fullName,
      cloneUrl: row.cloneUrl,
      webUrl: row.webUrl,
      deployKey: row.deployPublicKey,
    },
    rootDirectory: row.rootDirectory === '' ? '.' : row.rootDirectory,
    analysis: {
      status: analysisStatus,
      operationId: row.analysisOperation,
      commit: analysisCommit,
      ...(result !== undefined && { result }),
      fault: analysisFault,
    },
    environments: [...environments],
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
