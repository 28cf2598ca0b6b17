/** The SQL of roles that groups give. */
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { Role } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export async function listGroupWorkspaces(tx: Queryable, accountId: AccountId): Promise<WorkspaceId[]> {
  const rows = await tx.rows<{ id: WorkspaceId }>(sql`
    select workspace_id as id from memberships where account_id = ${accountId} and from_groups`);
  return rows.map(({ id }) => id);
}

/** As every change of members does; false where there is none, or where it is being removed. */
export function lockOpenWorkspace(tx: Queryable, id: WorkspaceId): Promise<boolean> {
  return tx.exists(sql`
    select 1 from workspaces w where w.id = ${id} and w.removed_at is null
      and not exists (select 1 from memberships m where m.workspace_id = w.id and m.closing)
    for no key update`);
}

/** Those of them that there are. */
export async function findWorkspaces(db: Queryable, ids: readonly WorkspaceId[]): Promise<Set<WorkspaceId>> {
  const rows = await db.rows<{ id: WorkspaceId }>(sql`
    select id from workspaces where id = any(${ids}::uuid[]) and removed_at is null`);
  return new Set(rows.map(({ id }) => id));
}

export function findGroupPlace(tx: Queryable, id: WorkspaceId, accountId: AccountId) {
  return tx.one<{ role: Role; fromGroups: boolean }>(sql`
    select role, from_groups as "fromGroups" from memberships
    where workspace_id = ${id} and account_id = ${accountId}`);
}

export function saveGroupRole(tx: Queryable, id: WorkspaceId, accountId: AccountId, role: Role, now: Date) {
  return tx.run(sql`
    insert into memberships (workspace_id, account_id, role, from_groups, created_at)
    values (${id}, ${accountId}, ${role}, true, ${now})
    on conflict (workspace_id, account_id) do update set role = excluded.role`);
}
