/** The images that are kept on the server: those of the newest releases that were live, so that going back needs no build. */
import type { ReleaseId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

/** `live`: newest first. Releases that never served are not among them: they would push out what can be gone back to. */
export async function recentImages(
  db: Queryable,
  workspaceId: WorkspaceId,
  live: readonly ReleaseId[],
  most: number,
): Promise<Set<string>> {
  const rows = await queries.imagesOf(db, workspaceId, live);
  const images = new Map(rows.map(({ id, image }) => [id, image]));
  const newestFirst = new Set(live.flatMap((id) => images.get(id) ?? []));
  return new Set([...newestFirst].slice(0, most));
}
