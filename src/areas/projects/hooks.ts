/** What other areas do when a project is removed. They know projects and register here; projects know none of them. */
import type { AccountId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';

export type ProjectHooks = readonly ProjectHook[];

export interface ProjectHook {
  /** Before anything is changed: refuses with a fault, and ends what is at work. */
  readonly beforeRemoval?: (
    workspaceId: WorkspaceId,
    id: ProjectId,
    removal: ProjectRemoval,
  ) => Promise<void>;
  /** In the transaction that stores the removal. */
  readonly removalStarted?: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    id: ProjectId,
    removal: ProjectRemoval,
  ) => Promise<void>;
  /** What was made for it at others, such as a webhook. */
  readonly disconnect?: (workspaceId: WorkspaceId, id: ProjectId) => Promise<void>;
  /** How many environments of it are still being removed. */
  readonly remaining?: (workspaceId: WorkspaceId, id: ProjectId) => Promise<number>;
}

export interface ProjectRemoval {
  readonly deleteData: boolean | undefined;
  /** Does not wait for a server that is gone. */
  readonly force: boolean;
  readonly requestedBy: AccountId;
}
