/** Which projects are read with a Git account: for those who want to disconnect it. */
import type { GitProviderId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

export function projectsUsing(
  db: Queryable,
  workspaceId: WorkspaceId,
  providerId: GitProviderId,
): Promise<{ id: ProjectId; name: string }[]> {
  return queries.listUsing(db, workspaceId, providerId);
}
