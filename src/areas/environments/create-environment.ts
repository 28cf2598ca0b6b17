/** A new environment, in the caller's transaction: its row, and its variables sealed. */
import { type EnvironmentId, newId, type ProjectId, type ServerId, type WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { EnvironmentSettings } from './environments.ts';
import { type NewVariable, putVariables } from './put-variables.ts';
import * as queries from './queries.ts';

export interface NewEnvironment {
  readonly projectId: ProjectId;
  readonly name: string;
  readonly slug: string;
  readonly branch: string;
  readonly serverId: ServerId | null;
  readonly settings: EnvironmentSettings;
  readonly variables: readonly NewVariable[];
}

/** Undefined where the project has an environment of that name already. */
export async function createEnvironment(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  { variables, ...wish }: NewEnvironment,
  now: Date,
): Promise<EnvironmentId | undefined> {
  const id = newId<EnvironmentId>();
  if (!(await queries.insertEnvironment(tx, workspaceId, { id, ...wish }, now))) return undefined;
  await putVariables(tx, sealer, workspaceId, id, variables, now);
  return id;
}
