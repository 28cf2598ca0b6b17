/** A new release, in the caller's transaction: its variables are sealed as they are at this moment. */
import { type EnvironmentId, newId, type ReleaseId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import * as queries from './queries.ts';
import type { Release } from './releases.ts';
import { variablesPlace } from './releases.ts';

export async function keepRelease(
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
