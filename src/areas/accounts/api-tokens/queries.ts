/** The SQL of API tokens. */
import type { AccountId, ApiTokenId, ProjectId, WorkspaceId } from '../../../ids.ts';
import type { Ability } from '../../../principal.ts';
import type { Queryable } from '../../../store/database.ts';
import { sql } from '../../../store/sql.ts';

export interface ApiTokenRow {
  readonly id: ApiTokenId;
  readonly accountId: AccountId;
  readonly email: string;
  readonly name: string;
  readonly start: string;
  readonly abilities: readonly Ability[];
  readonly projectId: ProjectId | null;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

export type NewApiTokenRow = Omit<ApiTokenRow, 'email' | 'lastUsedAt'> & { readonly tokenHash: Buffer };

/** With the address of who made it. */
export function insertApiToken(tx: Queryable, workspaceId: WorkspaceId, row: NewApiTokenRow) {
  return tx.one<{ email: string }>(sql`
    insert into api_tokens (workspace_id, id, account_id, name, token_hash, start, abilities, project_id, expires_at,
      created_at)
    values (${workspaceId}, ${row.id}, ${row.accountId}, ${row.name}, ${row.tokenHash}, ${row.start},
      ${row.abilities}::text[], ${row.projectId}, ${row.expiresAt}, ${row.createdAt})
    returning (select email from accounts where accounts.id = account_id)`);
}

/** Locks the maker's membership, so that of two who make one at once both are counted. */
export async function countApiTokens(tx: Queryable, workspaceId: WorkspaceId, accountId: AccountId) {
  await tx.run(sql`
    select 1 from memberships where workspace_id = ${workspaceId} and account_id = ${accountId} for update`);
  const row = await tx.one<{ count: number }>(sql`
    select count(*)::int as count from api_tokens where workspace_id = ${workspaceId} and account_id = ${accountId}`);
  return row?.count ?? 0;
}

/** Of one account, or of all in the workspace. */
export function listApiTokens(
  db: Queryable,
  workspaceId: WorkspaceId,
  accountId: AccountId | null,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<ApiTokenRow>(sql`
    select t.id, t.account_id as "accountId", a.email, t.name, t.start, t.abilities, t.project_id as "projectId",
      t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt", t.created_at as "createdAt"
    from api_tokens t join accounts a on a.id = t.account_id
    where t.workspace_id = ${workspaceId} and (${accountId}::uuid is null or t.account_id = ${accountId}::uuid)
      and t.id < ${page.before}::uuid
    order by t.id desc limit ${page.limit}`);
}

export async function deleteApiToken(
  tx: Queryable,
  workspaceId: WorkspaceId,
  accountId: AccountId | null,
  id: ApiTokenId,
): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from api_tokens where workspace_id = ${workspaceId} and id = ${id}
      and (${accountId}::uuid is null or account_id = ${accountId}::uuid)`);
  return deleted > 0;
}

export function noteUses(db: Queryable, ids: readonly ApiTokenId[], now: Date) {
  return db.run(sql`update api_tokens set last_used_at = ${now} where id = any(${ids}::uuid[])`);
}

export function pruneApiTokens(db: Queryable, before: Date) {
  return db.run(sql`delete from api_tokens where expires_at <= ${before}`);
}

export function isProject(db: Queryable, workspaceId: WorkspaceId, id: ProjectId): Promise<boolean> {
  return db.exists(sql`select 1 from projects where workspace_id = ${workspaceId} and id = ${id}`);
}
