/** A push becomes a deployment, in the transaction that decided it. */
import type { DeploymentQueue } from '../deployments/deployments.ts';
import { requestDeployment } from '../deployments/request-deployment.ts';
import type { TakePush } from './pushes.ts';

export function deployPushed(ctx: DeploymentQueue): TakePush {
  return async (tx, workspaceId, environmentId, { sha, branch }) => {
    const wanted = { sha, branch };
    await requestDeployment(tx, ctx, { workspaceId, environmentId, trigger: 'push', wanted });
  };
}
