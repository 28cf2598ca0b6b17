/** The variables of an environment with their values, for those who build and run it. */
import type { EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { Secret } from '../../../secret.ts';
import type { Queryable } from '../../../store/database.ts';
import type { Sealer } from '../../../store/sealed.ts';
import { type VariableTarget, variablePlace } from '../environments.ts';
import { listVariables } from './queries.ts';

export interface OpenVariable {
  readonly key: string;
  readonly value: Secret;
  readonly isSecret: boolean;
  readonly target: VariableTarget;
}

/** By key, so that the same variables are the same whatever the order they came in. */
export async function openVariables(
  db: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<OpenVariable[]> {
  const opened: OpenVariable[] = [];
  for (const row of await listVariables(db, workspaceId, id)) {
    const value = await sealer.open(db, variablePlace(workspaceId, row.id), row.valueSealed);
    opened.push({ key: row.key, value, isSecret: row.isSecret, target: row.target });
  }
  return opened;
}
