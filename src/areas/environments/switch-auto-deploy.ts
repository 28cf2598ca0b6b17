/**
 * Deploying on push, on or off. Switching it on deploys nothing: the commit that is the newest now counts as decided
 * on. The webhook is made sure of; where the provider refuses one, polling goes on without it.
 */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import { branchHead } from '../projects/branch-head.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import type { EnvironmentsContext } from './context.ts';
import { lockEnvironment, setAutoDeploy } from './environment-state.ts';
import { setDecided } from './pushed-environments.ts';
import { readEnvironment } from './read-environments.ts';
import { checkWatchPaths } from './watch-paths.ts';

export interface AutoDeploy {
  readonly enabled: boolean;
  readonly watchPaths?: readonly string[];
}

export async function switchAutoDeploy(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  { enabled, watchPaths }: AutoDeploy,
) {
  if (watchPaths) checkWatchPaths(watchPaths);
  const { projectId, branch, autoDeploy } = await readEnvironment(ctx.db, ctx.hooks, workspaceId, id);
  // Asked again while it is on, a commit that came since is still to be decided on.
  const head = enabled && !autoDeploy ? await branchHead(ctx, workspaceId, projectId, branch) : undefined;
  const webhook = enabled ? await ctx.ensureWebhook(workspaceId, projectId) : null;
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const change = { enabled, watchPaths: watchPaths ?? before.watchPaths };
    await setAutoDeploy(tx, workspaceId, id, change, ctx.clock.now());
    if (head !== undefined && before.branch === branch && !before.autoDeploy)
      await setDecided(tx, workspaceId, id, head);
    const shown = await readEnvironment(tx, ctx.hooks, workspaceId, id);
    await publishProjectEvent(tx, workspaceId, projectId, { reason: 'auto_deploy', environmentId: id });
    return { ...shown, webhook };
  });
}
