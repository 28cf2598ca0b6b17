/** What pushes have to know of environments, and to note with them. */
import type { EnvironmentId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';
import * as states from './state-queries.ts';

/** Locked: a push that is told twice at once is decided on once. */
export function lockPushed(tx: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) {
  return queries.lockPushed(tx, workspaceId, projectId);
}

export function setDecided(tx: Queryable, workspaceId: WorkspaceId, id: EnvironmentId, sha: string) {
  return queries.setDecided(tx, workspaceId, id, sha);
}

export async function setAutoDeploy(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  change: { readonly enabled: boolean; readonly watchPaths: readonly string[] },
  now: Date,
): Promise<void> {
  await states.setAutoDeploy(tx, workspaceId, id, change, now);
}

/** Projects whose branches are to be looked at now, each for one instance. */
export function takeDuePolls(db: Queryable, now: Date, next: Date, most: number) {
  return queries.takeDuePolls(db, now, next, most);
}
