/** The images that are kept on the server: those of the newest releases, so that going back needs no build. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

export async function recentImages(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  most: number,
): Promise<Set<string>> {
  const rows = await queries.recentImages(db, workspaceId, environmentId, most);
  return new Set(rows.map(({ image }) => image));
}
