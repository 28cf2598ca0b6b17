/** The SQL of an environment's variables, as they are sealed. */
import type { EnvironmentId, VariableId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { sql } from '../../../store/sql.ts';
import type { VariableTarget } from '../environments.ts';

export interface VariableRow {
  readonly id: VariableId;
  readonly key: string;
  readonly valueSealed: Buffer;
  readonly isSecret: boolean;
  readonly target: VariableTarget;
  readonly updatedAt: Date;
}

/** All of them, by key: what is run is the same whatever the order they came in. */
export function listVariables(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return db.rows<VariableRow>(sql`
    select id, key, value_sealed as "valueSealed", is_secret as "isSecret", target, updated_at as "updatedAt"
    from variables where workspace_id = ${workspaceId} and environment_id = ${environmentId}
    order by key collate "C"`);
}

export function pageVariables(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  page: { before: string; limit: number },
) {
  return db.rows<VariableRow>(sql`
    select id, key, value_sealed as "valueSealed", is_secret as "isSecret", target, updated_at as "updatedAt"
    from variables where workspace_id = ${workspaceId} and environment_id = ${environmentId}
      and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}

export function findVariable(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  key: string,
) {
  return db.one<VariableRow>(sql`
    select id, key, value_sealed as "valueSealed", is_secret as "isSecret", target, updated_at as "updatedAt"
    from variables
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and key = ${key}`);
}

export function deleteVariable(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  key: string,
): Promise<number> {
  return tx.run(sql`
    delete from variables
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and key = ${key}`);
}

export interface SealedVariable {
  readonly id: VariableId;
  readonly key: string;
  readonly valueSealed: Buffer;
  readonly isSecret: boolean;
  readonly target: VariableTarget;
}

export function putVariable(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { id, key, valueSealed, isSecret, target }: SealedVariable,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    insert into variables (workspace_id, id, environment_id, key, value_sealed, is_secret, target, updated_at)
    values (${workspaceId}, ${id}, ${environmentId}, ${key}, ${valueSealed}, ${isSecret}, ${target}, ${now})
    on conflict (workspace_id, environment_id, key) do update set value_sealed = excluded.value_sealed,
      is_secret = excluded.is_secret, target = excluded.target, updated_at = excluded.updated_at`);
}

/** The ids of variables that are there already: a value is sealed for the row that it stands in. */
export function lockVariables(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  keys: readonly string[],
) {
  return tx.rows<{ id: VariableId; key: string }>(sql`
    select id, key from variables
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and key = any(${keys}::text[])
    for update`);
}
