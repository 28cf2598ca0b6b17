/** Releases in the store: made in the caller's transaction, opened with their variables, removed with their deployments. */
import type { RunPlan } from '../../engine/release-spec.ts';
import { type EnvironmentId, newId, type ReleaseId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import * as queries from './queries.ts';
import type { Release } from './releases.ts';

/** Its variables are sealed as they are given. */
export async function createRelease(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  { variables, ...release }: Omit<Release, 'id'> & { readonly environmentId: EnvironmentId },
  now: Date,
): Promise<ReleaseId> {
  const id = newId<ReleaseId>();
  const plain = Object.fromEntries([...variables].map(([key, value]) => [key, value.reveal()]));
  const place = variablesPlace(workspaceId, id);
  const variablesSealed = await sealer.seal(tx, place, new Secret(JSON.stringify(plain)));
  await queries.insertRelease(tx, workspaceId, { ...release, id, variablesSealed }, now);
  return id;
}

function variablesPlace(workspaceId: WorkspaceId, id: ReleaseId) {
  return { workspaceId, table: 'releases', row: id, column: 'variables_sealed' } as const;
}

export async function readRelease(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: ReleaseId,
): Promise<Release> {
  const row = await queries.findRelease(db, workspaceId, id);
  if (!row) throw new Error('a release that is pointed to is not there');
  const { variablesSealed, ...release } = row;
  const opened = await sealer.open(db, variablesPlace(workspaceId, id), variablesSealed);
  return { ...release, variables: readVariables(opened) };
}

function readVariables(opened: Secret): Map<string, Secret> {
  const plain: unknown = JSON.parse(opened.reveal());
  return new Map(Object.entries(Object(plain)).map(([key, value]) => [key, new Secret(String(value))]));
}

/** How they run, of several at once and without their variables. */
export async function runsByRelease(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly ReleaseId[],
): Promise<ReadonlyMap<ReleaseId, RunPlan>> {
  const rows = await queries.runsOf(db, workspaceId, ids);
  return new Map(rows.map(({ id, run }) => [id, run]));
}

/** Those that no deployment has any more: nobody can go back to them. Their images went from the servers long before. */
export async function deleteReleases(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly ReleaseId[],
): Promise<void> {
  if (ids.length > 0) await queries.deleteReleases(tx, workspaceId, ids);
}

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
