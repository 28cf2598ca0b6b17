/**
 * Another branch for an environment. What runs stays; with auto-deploy on, the newest commit of the branch comes with
 * the next look at the repository.
 */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import { tellProject } from '../projects/projects.ts';
import { branchHead } from './branch-head.ts';
import { lockEnvironment } from './environment-state.ts';
import type { EnvironmentsContext } from './environments-context.ts';
import { readEnvironment } from './read-environments.ts';
import * as queries from './state-queries.ts';

export async function changeBranch(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  branch: string,
) {
  const { projectId } = await readEnvironment(ctx.db, workspaceId, id);
  await branchHead(ctx, workspaceId, projectId, branch);
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const isOther = before.branch !== branch;
    if (isOther) await queries.setBranch(tx, workspaceId, id, branch, ctx.clock.now());
    const shown = await readEnvironment(tx, workspaceId, id);
    if (isOther) await tellProject(tx, workspaceId, projectId, { reason: 'branch', environmentId: id });
    return shown;
  });
}
