/**
 * Projects: a repository that someone wants to run. Owns what the repository is, how it is read, what the analysis
 * said of it, and what the user made of that; refuses to read a repository with another workspace's account.
 */
import { createHash } from 'node:crypto';
import type { MirrorKey, MirrorSource, Mirrors } from '../../adapters/git/mirrors.ts';
import { type GitHostKind, gitCredentials } from '../../adapters/git-hosts/git-hosts.ts';
import type { Analyst } from '../../analysis/process/analyst.ts';
import type { Clock } from '../../clock.ts';
import type { ProjectUpdate, WorkspaceEvent } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId, EnvironmentId, GitProviderId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Secret } from '../../secret.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { accessTo, type GitProvidersContext } from '../git-providers/git-providers.ts';

/** A provider's repository, or one that is known by its address alone. */
export type RepositoryKind = GitHostKind | 'url';

/** What it takes to read a repository. */
export interface RepositoryAccess {
  readonly db: Database;
  readonly sealer: Sealer;
  /** Loaded with the first repository: a start has no use for it. */
  readonly mirrors: () => Promise<Mirrors>;
  readonly providers: GitProvidersContext;
}

/** What it takes to look into the files of a commit. */
export interface AnalysisAccess {
  readonly mirrors: () => Promise<Mirrors>;
  readonly analyst: Analyst;
}

export interface ProjectsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly mirrors: () => Promise<Mirrors>;
  readonly analyst: Analyst;
  readonly providers: GitProvidersContext;
  /** Plain http to repositories: only where private addresses are allowed too. */
  readonly allowHttp: boolean;
}

/** A project as it is shown: with what others know of it, so it is theirs to say. */
export type ShowProject<Shown> = (tx: Queryable, workspaceId: WorkspaceId, id: ProjectId) => Promise<Shown>;

export function projectNotFound(): Fault {
  return new Fault('not_found', 'No such project.');
}

export function deployKeyPlace(workspaceId: WorkspaceId, id: ProjectId) {
  return { workspaceId, table: 'projects', row: id, column: 'deploy_key_sealed' } as const;
}

export interface ProjectEvent {
  readonly reason: ProjectUpdate['reason'];
  readonly environmentId?: EnvironmentId;
  readonly deploymentId?: DeploymentId;
  readonly status?: string;
}

/** In the transaction that changed it, last. */
export function publishProjectEvent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  event: ProjectEvent,
) {
  const data = { projectId, ...event };
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'project_updated', data },
  ]);
}

/** One mirror for each repository of a workspace; what one may read another does not see. */
export function mirrorKeyOf(workspaceId: WorkspaceId, cloneUrl: string): MirrorKey {
  return createHash('sha256').update(`${workspaceId}\n${cloneUrl}`).digest('hex') as MirrorKey;
}

/** How git reads a repository: with the account's token, with the project's own key, or as anyone may. */
export async function sourceOf(
  ctx: RepositoryAccess,
  workspaceId: WorkspaceId,
  repository: {
    readonly cloneUrl: string;
    readonly providerId: GitProviderId | null;
    readonly deployKey?: Secret;
  },
): Promise<MirrorSource> {
  const { cloneUrl: url, providerId, deployKey } = repository;
  if (providerId !== null) {
    const credentials = gitCredentials(await accessTo(ctx.providers, workspaceId, providerId));
    return { url, credentials, owner: workspaceId };
  }
  return { url, owner: workspaceId, ...(deployKey && { credentials: { privateKey: deployKey } }) };
}
