/** The images that are kept on the server: those of the newest releases that were live, so that going back needs no build. */
import type { ReleaseId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

/** How many of them. */
export const keptImages = 5;

export async function imagesByRelease(
  db: Queryable,
  workspaceId: WorkspaceId,
  releases: readonly ReleaseId[],
): Promise<ReadonlyMap<ReleaseId, string>> {
  const rows = await queries.imagesOf(db, workspaceId, releases);
  return new Map(rows.map(({ id, image }) => [id, image]));
}

/** `live`: newest first. Releases that never served are not among them: they would push out what can be gone back to. */
export async function recentImages(
  db: Queryable,
  workspaceId: WorkspaceId,
  live: readonly ReleaseId[],
): Promise<Set<string>> {
  const images = await imagesByRelease(db, workspaceId, live);
  const newestFirst = new Set(live.flatMap((id) => images.get(id) ?? []));
  return new Set([...newestFirst].slice(0, keptImages));
}
