/** Releases that no deployment has any more: nobody can go back to them. Their images went from the servers long before. */
import type { ReleaseId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

export async function forgetReleases(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly ReleaseId[],
): Promise<void> {
  if (ids.length > 0) await queries.deleteReleases(tx, workspaceId, ids);
}
