/** The SQL of an environment's variables, as they are sealed. */
import type { EnvironmentId, VariableId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { VariableTarget } from './environments.ts';

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
