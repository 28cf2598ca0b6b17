/**
 * Deployments: one request each to have a commit, or an older release, live in an environment. Owns their order (one at
 * work per environment, the newest of those that wait), their course and their end; refuses to change one that has
 * ended. What is built becomes a release; what runs is the releases' to know.
 */
import type { Mirrors } from '../../adapters/git/mirrors.ts';
import type { Uploads } from '../../adapters/git/uploads/uploads.ts';
import type { Analyst } from '../../analysis/process/analyst.ts';
import type { Clock } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, DeploymentId, EnvironmentId, UploadId, WorkspaceId } from '../../ids.ts';
import type { OperationKinds } from '../../operations/kinds.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database } from '../../store/database.ts';
import type { MasterKeys } from '../../store/master-keys.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { TargetAccess } from '../environments/placement/open-target.ts';
import type { GitProvidersContext } from '../git-providers/git-providers.ts';

export const deployKind = 'deployment';

export type DeploymentTrigger = 'manual' | 'push' | 'finalize' | 'rollback' | 'retry' | 'move';

export type DeploymentStatus =
  | 'queued'
  | 'preparing'
  | 'building'
  | 'starting'
  | 'switching'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'superseded';

/** What is to be live: the head of the environment's branch unless something else is named. */
export type WantedCommit =
  | { readonly branch: string }
  | { readonly sha: string; readonly branch: string | null }
  /** The release of an earlier deployment, with its own variables or with those of today. */
  | { readonly release: DeploymentId; readonly variables: 'then' | 'now' };

/** What it takes to ask for a deployment. */
export interface DeploymentQueue {
  readonly clock: Clock;
  readonly queue: OperationQueue;
  readonly kinds: OperationKinds;
}

export interface DeploymentsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly masterKeys: MasterKeys;
  readonly queue: OperationQueue;
  readonly kinds: OperationKinds;
  readonly mirrors: () => Promise<Mirrors>;
  readonly uploads: () => Promise<Uploads>;
  readonly analyst: Analyst;
  readonly providers: GitProvidersContext;
  readonly servers: TargetAccess;
}

export interface DeploymentRequest {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly trigger: DeploymentTrigger;
  readonly wanted?: WantedCommit;
  /** Where the wanted commit is one that was made of an upload. */
  readonly uploadId?: UploadId;
  readonly requestedBy?: AccountId;
}

export function deploymentNotFound(): Fault {
  return new Fault('not_found', 'No such deployment.');
}

export function isOver(status: DeploymentStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled' || status === 'superseded';
}
