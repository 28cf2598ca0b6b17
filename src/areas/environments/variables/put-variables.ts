/** Variables of an environment: sealed as they come in. The later of two values for one key counts. */
import { type EnvironmentId, newId, type VariableId, type WorkspaceId } from '../../../ids.ts';
import { Secret } from '../../../secret.ts';
import type { Queryable } from '../../../store/database.ts';
import type { Sealer } from '../../../store/sealed.ts';
import { type VariableTarget, variablePlace } from '../environments.ts';
import * as queries from './queries.ts';

export interface NewVariable {
  readonly key: string;
  readonly value: string;
  readonly secret?: boolean;
  readonly target?: VariableTarget;
}

export async function putVariables(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  variables: readonly NewVariable[],
  now: Date,
): Promise<void> {
  const wanted = new Map(variables.map((each) => [each.key, each]));
  const known = await queries.lockVariables(tx, workspaceId, environmentId, [...wanted.keys()]);
  const ids = new Map(known.map(({ key, id }) => [key, id]));
  for (const { key, value, secret = true, target = 'both' } of wanted.values()) {
    const id = ids.get(key) ?? newId<VariableId>();
    const valueSealed = await sealer.seal(tx, variablePlace(workspaceId, id), new Secret(value));
    await queries.putVariable(
      tx,
      workspaceId,
      environmentId,
      { id, key, valueSealed, isSecret: secret, target },
      now,
    );
  }
}
