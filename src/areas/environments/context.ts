/** What environments are worked on with. What they need of areas above them is handed in. */
import type { Mirrors } from '../../adapters/git/mirrors.ts';
import type { Clock } from '../../clock.ts';
import type { AccountId, DeploymentId, EnvironmentId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { ShownFault } from '../../wire.ts';
import type { GitProvidersContext } from '../git-providers/git-providers.ts';
import type { EnvironmentHooks } from './hooks.ts';
import type { TargetAccess } from './placement/open-target.ts';

export interface EnvironmentsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly mirrors: () => Promise<Mirrors>;
  readonly providers: GitProvidersContext;
  readonly servers: TargetAccess;
  readonly hooks: EnvironmentHooks;
  /** In the transaction that gives the reason for it. */
  readonly deploy: (tx: Queryable, request: EnvironmentDeployment) => Promise<DeploymentId>;
  /** So that pushes to the project's repository are heard of. */
  readonly ensureWebhook: (workspaceId: WorkspaceId, projectId: ProjectId) => Promise<ProjectWebhook>;
}

export interface EnvironmentDeployment {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly trigger: 'finalize' | 'move';
  readonly requestedBy: AccountId;
}

export interface ProjectWebhook {
  /** At the provider, by us. */
  readonly installed: boolean;
  readonly url: string;
  readonly problem: ShownFault | null;
}
