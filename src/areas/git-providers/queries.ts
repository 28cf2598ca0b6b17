/** The SQL of this area, always by workspace but for the check, which looks after all. */
import type { GitHostKind } from '../../adapters/git-hosts/git-hosts.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export type ProviderStatus = 'connected' | 'rejected' | 'unreachable';

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

export interface ProviderRow {
  readonly id: GitProviderId;
  readonly kind: GitHostKind;
  readonly baseUrl: string;
  readonly label: string;
  readonly login: string;
  readonly accountName: string | null;
  readonly avatarUrl: string | null;
  readonly tokenExpiresAt: Date | null;
  readonly status: ProviderStatus;
  readonly problem: Problem | null;
  readonly checkedAt: Date;
  readonly createdAt: Date;
}

export interface SavedProvider {
  readonly id: GitProviderId;
  readonly kind: GitHostKind;
  readonly baseUrl: string;
  readonly username: string | null;
  readonly label: string;
  readonly login: string;
  readonly accountName: string | null;
  readonly avatarUrl: string | null;
  readonly tokenExpiresAt: Date | null;
}

/** The id that the account has already, locked: its token is about to be replaced. */
export async function lockAccount(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { kind, baseUrl, login }: Pick<SavedProvider, 'kind' | 'baseUrl' | 'login'>,
): Promise<GitProviderId | undefined> {
  const row = await tx.one<{ id: GitProviderId }>(sql`
    select id from git_providers
    where workspace_id = ${workspaceId} and kind = ${kind} and base_url = ${baseUrl}
      and lower(login) = lower(${login})
    for update`);
  return row?.id;
}

/** False where another request connected the same account in the meantime. */
export async function insertProvider(
  tx: Queryable,
  workspaceId: WorkspaceId,
  provider: SavedProvider,
  tokenSealed: Buffer,
  now: Date,
  checkAt: Date,
): Promise<boolean> {
  const { id, kind, baseUrl, username, label, login, accountName, avatarUrl, tokenExpiresAt } = provider;
  const made = await tx.run(sql`
    insert into git_providers (workspace_id, id, kind, base_url, username, label, login, account_name, avatar_url,
      token_sealed, token_expires_at, status, checked_at, check_at, created_at, updated_at)
    values (${workspaceId}, ${id}, ${kind}, ${baseUrl}, ${username}, ${label}, ${login}, ${accountName},
      ${avatarUrl}, ${tokenSealed}, ${tokenExpiresAt}, 'connected', ${now}, ${checkAt}, ${now}, ${now})
    on conflict do nothing`);
  return made === 1;
}

export function replaceToken(
  tx: Queryable,
  workspaceId: WorkspaceId,
  provider: SavedProvider,
  tokenSealed: Buffer,
  now: Date,
  checkAt: Date,
): Promise<number> {
  const { id, username, label, accountName, avatarUrl, tokenExpiresAt } = provider;
  return tx.run(sql`
    update git_providers set username = ${username}, label = ${label}, account_name = ${accountName},
      avatar_url = ${avatarUrl}, token_sealed = ${tokenSealed}, token_expires_at = ${tokenExpiresAt},
      status = 'connected', problem = null, checked_at = ${now}, check_at = ${checkAt}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function findProvider(db: Queryable, workspaceId: WorkspaceId, id: GitProviderId) {
  return db.one<ProviderRow>(sql`
    select id, kind, base_url as "baseUrl", label, login, account_name as "accountName",
      avatar_url as "avatarUrl", token_expires_at as "tokenExpiresAt", status, problem,
      checked_at as "checkedAt", created_at as "createdAt"
    from git_providers where workspace_id = ${workspaceId} and id = ${id}`);
}

export function listProviders(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: { before: string; limit: number },
) {
  return db.rows<ProviderRow>(sql`
    select id, kind, base_url as "baseUrl", label, login, account_name as "accountName",
      avatar_url as "avatarUrl", token_expires_at as "tokenExpiresAt", status, problem,
      checked_at as "checkedAt", created_at as "createdAt"
    from git_providers
    where workspace_id = ${workspaceId} and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}

export interface AccessRow {
  readonly kind: GitHostKind;
  readonly baseUrl: string;
  readonly username: string | null;
  readonly tokenSealed: Buffer;
}

export function findAccess(db: Queryable, workspaceId: WorkspaceId, id: GitProviderId) {
  return db.one<AccessRow>(sql`
    select kind, base_url as "baseUrl", username, token_sealed as "tokenSealed"
    from git_providers where workspace_id = ${workspaceId} and id = ${id}`);
}

export function lockProvider(tx: Queryable, workspaceId: WorkspaceId, id: GitProviderId) {
  return tx.one<{ id: GitProviderId }>(sql`
    select id from git_providers where workspace_id = ${workspaceId} and id = ${id} for update`);
}

export function deleteProvider(tx: Queryable, workspaceId: WorkspaceId, id: GitProviderId): Promise<number> {
  return tx.run(sql`delete from git_providers where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Says whether that is new: the status was another before. */
export async function setStatus(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: GitProviderId,
  { status, problem }: { readonly status: ProviderStatus; readonly problem: Problem | null },
  now: Date,
): Promise<boolean> {
  const before = await tx.one<{ status: ProviderStatus }>(sql`
    select status from git_providers where workspace_id = ${workspaceId} and id = ${id} for update`);
  if (!before) return false;
  await tx.run(sql`
    update git_providers set status = ${status}, checked_at = ${now},
      problem = ${problem === null ? null : JSON.stringify(problem)}::jsonb
    where workspace_id = ${workspaceId} and id = ${id}`);
  return before.status !== status;
}

/** Takes those that are due, so that no other instance asks at the same time. */
export function takeDueProviders(db: Queryable, now: Date, next: Date, most: number) {
  return db.rows<{ workspaceId: WorkspaceId; id: GitProviderId }>(sql`
    update git_providers set check_at = ${next}
    where id in (
      select id from git_providers where check_at <= ${now} order by check_at limit ${most} for update skip locked
    )
    returning workspace_id as "workspaceId", id`);
}
