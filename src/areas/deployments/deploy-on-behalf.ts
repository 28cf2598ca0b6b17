/** Deployments that nobody asked for by name: of a push, and of a project that is finalised. */
import type { DeployFirst, TakePush } from '../pushes/pushes.ts';
import type { DeploymentsContext } from './deployments.ts';
import { readDeployment } from './read-deployments.ts';
import { requestDeployment } from './request-deployment.ts';

export function takePush(ctx: DeploymentsContext): TakePush {
  return async (tx, workspaceId, environmentId, { sha, branch }) => {
    const wanted = { sha, branch };
    await requestDeployment(tx, ctx, { workspaceId, environmentId, trigger: 'push', wanted });
  };
}

export async function deployFirst(
  tx: Parameters<DeployFirst>[0],
  ctx: DeploymentsContext,
  wish: Parameters<DeployFirst>[1],
): ReturnType<DeployFirst> {
  const { workspaceId, environmentId } = wish;
  const id = await requestDeployment(tx, ctx, { ...wish, trigger: 'finalize' });
  return readDeployment(tx, workspaceId, environmentId, id);
}
