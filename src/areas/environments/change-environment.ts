/** Another name, other settings or another branch, in the caller's transaction. What they need was checked before. */
import { errorCode, Fault } from '../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './state-queries.ts';

export async function changeDetails(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  change: queries.EnvironmentChange,
  now: Date,
): Promise<void> {
  await queries.setDetails(tx, workspaceId, id, change, now).catch((error: unknown) => {
    // The one unique thing that changes is the name.
    throw errorCode(error) === '23505' ? nameTaken(change.name) : error;
  });
}

export async function setBranch(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  branch: string,
  now: Date,
): Promise<void> {
  await queries.setBranch(tx, workspaceId, id, branch, now);
}

export function nameTaken(name: string): Fault {
  return new Fault('name_taken', `The project has an environment named «${name}» already.`, {
    errors: [{ path: 'name', message: 'is the name of another environment of this project' }],
  });
}
