/** Changes to a project. Another branch or folder is another thing to look at: the analysis begins again. */
import type { AccountId, ProjectId, WorkspaceId } from '../../ids.ts';
import { startAnalysis } from './analyse-project.ts';
import { nameTaken } from './create-project.ts';
import { notFound, type ProjectsContext, publishProjectEvent, type ShowProject } from './projects.ts';
import * as queries from './queries.ts';
import { readRootDirectory } from './repository-source.ts';

export interface ProjectWish {
  readonly name?: string;
  readonly branch?: string | null;
  readonly rootDirectory?: string;
}

export function updateProject<Shown>(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  accountId: AccountId,
  wish: ProjectWish,
  show: ShowProject<Shown>,
): Promise<Shown> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockProject(tx, workspaceId, id))) throw notFound();
    const row = await queries.findProject(tx, workspaceId, id);
    if (!row) throw notFound();
    const { name = row.name, branch = row.branch } = wish;
    const rootDirectory =
      wish.rootDirectory === undefined ? row.rootDirectory : readRootDirectory(wish.rootDirectory);
    if (name !== row.name && (await queries.isNameTaken(tx, workspaceId, name, id))) throw nameTaken(name);
    await queries.updateProject(tx, workspaceId, id, { name, branch, rootDirectory }, ctx.clock.now());
    const isOther = branch !== row.branch || rootDirectory !== row.rootDirectory;
    if (isOther) await startAnalysis(tx, ctx, workspaceId, id, accountId);
    const shown = await show(tx, workspaceId, id);
    await publishProjectEvent(tx, workspaceId, id, { reason: 'changed' });
    return shown;
  });
}
