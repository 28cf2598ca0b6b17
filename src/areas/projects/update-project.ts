/** Changes to a project. Another branch or folder is another thing to look at: the analysis begins again. */
import type { AccountId, ProjectId, WorkspaceId } from '../../ids.ts';
import { startAnalysis } from './analyse-project.ts';
import { projectNameTaken } from './create-project.ts';
import { type ProjectsContext, projectNotFound, publishProjectEvent, type ShowProject } from './projects.ts';
import * as queries from './queries.ts';
import { readRootDirectory } from './repository-source.ts';

export interface ProjectUpdate {
  readonly name?: string;
  readonly branch?: string | null;
  readonly rootDirectory?: string;
}

export function updateProject<Shown>(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  accountId: AccountId,
  wanted: ProjectUpdate,
  show: ShowProject<Shown>,
): Promise<Shown> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockProject(tx, workspaceId, id))) throw projectNotFound();
    const row = await queries.findProject(tx, workspaceId, id);
    if (!row) throw projectNotFound();
    const { name = row.name, branch = row.branch } = wanted;
    const rootDirectory =
      wanted.rootDirectory === undefined ? row.rootDirectory : readRootDirectory(wanted.rootDirectory);
    if (name !== row.name && (await queries.isNameTaken(tx, workspaceId, name, id)))
      throw projectNameTaken(name);
    await queries.updateProject(tx, workspaceId, id, { name, branch, rootDirectory }, ctx.clock.now());
    const isOther = branch !== row.branch || rootDirectory !== row.rootDirectory;
    if (isOther) await startAnalysis(tx, ctx, workspaceId, id, accountId);
    const shown = await show(tx, workspaceId, id);
    await publishProjectEvent(tx, workspaceId, id, { reason: 'changed' });
    return shown;
  });
}
