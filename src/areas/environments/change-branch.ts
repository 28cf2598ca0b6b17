/**
 * Another branch for an environment. What runs stays; with auto-deploy on, the newest commit of the branch comes with
 * the next look at the repository.
 */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import { branchHead } from '../projects/branch-head.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { setBranch } from './change-environment.ts';
import type { EnvironmentsContext } from './context.ts';
import { lockEnvironment } from './environment-state.ts';
import { readEnvironment } from './read-environments.ts';

export async function changeBranch(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  branch: string,
) {
  const { projectId } = await readEnvironment(ctx.db, ctx.hooks, workspaceId, id);
  await branchHead(ctx, workspaceId, projectId, branch);
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const isOther = before.branch !== branch;
    if (isOther) await setBranch(tx, workspaceId, id, branch, ctx.clock.now());
    const shown = await readEnvironment(tx, ctx.hooks, workspaceId, id);
    if (isOther)
      await publishProjectEvent(tx, workspaceId, projectId, { reason: 'branch', environmentId: id });
    return shown;
  });
}
