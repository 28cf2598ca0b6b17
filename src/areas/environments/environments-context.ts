/** What the calls about environments need beside the database: the provider, and those who deploy. */
import type { AccountId, DeploymentId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { PushesContext } from '../pushes/pushes.ts';

/** Brings the environment to the server that it is linked to, in the transaction that linked it. */
export type RequestDeployment = (
  tx: Queryable,
  wish: {
    readonly workspaceId: WorkspaceId;
    readonly environmentId: EnvironmentId;
    readonly trigger: 'move';
    readonly requestedBy: AccountId;
  },
) => Promise<DeploymentId>;

export interface EnvironmentsContext extends PushesContext {
  readonly requestDeployment: RequestDeployment;
}
