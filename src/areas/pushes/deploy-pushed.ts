/** A push becomes a deployment, in the transaction that decided it. */
import type { DeploymentsContext } from '../deployments/deployments.ts';
import { requestDeployment } from '../deployments/request-deployment.ts';
import type { TakePush } from './pushes.ts';

export function deployPushed(ctx: DeploymentsContext): TakePush {
  return async (tx, workspaceId, environmentId, { sha, branch }) => {
    const wanted = { sha, branch };
    await requestDeployment(tx, ctx, { workspaceId, environmentId, trigger: 'push', wanted });
  };
}
