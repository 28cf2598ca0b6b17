/**
 * Deploying on push, on or off. Switching it on deploys nothing: the commit that is the newest now counts as decided
 * on. The webhook is made sure of; where the provider refuses one, polling goes on without it.
 */
import { Fault } from '../../fault.ts';
import type { EnvironmentId, ProjectId, WorkspaceId } from '../../ids.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import { setAutoDeploy, setDecided } from '../environments/pushed-environments.ts';
import { checkWatchPaths } from '../environments/watch-paths.ts';
import { branchHead } from '../projects/branch-head.ts';
import { tellProject } from '../projects/projects.ts';
import { installHook, readHook } from '../pushes/install-hook.ts';
import type { PushesContext } from '../pushes/pushes.ts';
import type { AssemblyContext } from './assembly.ts';
import { readEnvironment } from './read-environments.ts';

export interface AutoDeployWish {
  readonly enabled: boolean;
  readonly watchPaths?: readonly string[];
}

export async function switchAutoDeploy(
  ctx: AssemblyContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  { enabled, watchPaths }: AutoDeployWish,
) {
  if (watchPaths) checkWatchPaths(watchPaths);
  const { projectId, branch, autoDeploy } = await readEnvironment(ctx.db, workspaceId, id);
  // Asked again while it is on, a commit that came since is still to be decided on.
  const head = enabled && !autoDeploy ? await branchHead(ctx, workspaceId, projectId, branch) : undefined;
  const webhook = enabled ? await ensureHook(ctx, workspaceId, projectId) : null;
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const change = { enabled, watchPaths: watchPaths ?? before.watchPaths };
    await setAutoDeploy(tx, workspaceId, id, change, ctx.clock.now());
    if (head !== undefined && before.branch === branch && !before.autoDeploy)
      await setDecided(tx, workspaceId, id, head);
    const shown = await readEnvironment(tx, workspaceId, id);
    await tellProject(tx, workspaceId, projectId, { reason: 'auto_deploy', environmentId: id });
    return { ...shown, webhook };
  });
}

/** One that works is left alone: another secret would break what the user has pasted in somewhere. */
export async function ensureHook(ctx: PushesContext, workspaceId: WorkspaceId, projectId: ProjectId) {
  const known = await readHook(ctx, workspaceId, projectId).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  });
  const isWell = known && (known.installed || known.lastHeardAt !== null || known.problem === null);
  const { installed, address, problem } = isWell ? known : await installHook(ctx, workspaceId, projectId);
  return { installed, url: address, problem };
}
