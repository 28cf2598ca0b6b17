/**
 * Another branch for an environment. What runs stays; with auto-deploy on, the newest commit of the branch comes with
 * the next look at the repository.
 */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import { setBranch } from '../environments/change-environment.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import { branchHead } from '../projects/branch-head.ts';
import { tellProject } from '../projects/projects.ts';
import type { AssemblyContext } from './assembly.ts';
import { readEnvironment } from './read-environments.ts';

export async function changeBranch(
  ctx: AssemblyContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  branch: string,
) {
  const { projectId } = await readEnvironment(ctx.db, workspaceId, id);
  await branchHead(ctx, workspaceId, projectId, branch);
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const isOther = before.branch !== branch;
    if (isOther) await setBranch(tx, workspaceId, id, branch, ctx.clock.now());
    const shown = await readEnvironment(tx, workspaceId, id);
    if (isOther) await tellProject(tx, workspaceId, projectId, { reason: 'branch', environmentId: id });
    return shown;
  });
}
