/** The SQL of sign-in by OpenID Connect. */
import type { AccountId, InvitationId, SessionId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { sql } from '../../../store/sql.ts';

export type Purpose = 'sign_in' | 'link' | 'confirm';

export interface NewAttempt {
  readonly tokenHash: Buffer;
  readonly purpose: Purpose;
  readonly sessionId: SessionId | null;
  readonly invitationId: InvitationId | null;
  readonly returnTo: string;
  readonly expiresAt: Date;
}

export function insertAttempt(db: Queryable, row: NewAttempt) {
  return db.run(sql`
    insert into oidc_attempts (token_hash, purpose, session_id, invitation_id, return_to, expires_at)
    values (${row.tokenHash}, ${row.purpose}, ${row.sessionId}, ${row.invitationId}, ${row.returnTo}, ${row.expiresAt})`);
}

/** Ends it, once: of two who come back with the same, one gets the row. */
export function takeAttempt(db: Queryable, tokenHash: Buffer, now: Date) {
  return db.one<Omit<NewAttempt, 'tokenHash' | 'expiresAt'>>(sql`
    delete from oidc_attempts where token_hash = ${tokenHash} and expires_at > ${now}
    returning purpose, session_id as "sessionId", invitation_id as "invitationId", return_to as "returnTo"`);
}

export function pruneAttempts(db: Queryable, now: Date) {
  return db.run(sql`delete from oidc_attempts where expires_at <= ${now}`);
}

export interface IdentityRow {
  readonly issuer: string;
  readonly subject: string;
  readonly accountId: AccountId;
  readonly email: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** Whose it is, noted as used, with the address as the provider has it now. */
export async function useIdentity(
  tx: Queryable,
  { issuer, subject, email }: { issuer: string; subject: string; email: string | undefined },
  now: Date,
): Promise<AccountId | undefined> {
  const row = await tx.one<{ accountId: AccountId }>(sql`
    update oidc_identities set last_used_at = ${now}, email = coalesce(${email ?? null}, email)
    where issuer = ${issuer} and subject = ${subject}
    returning account_id as "accountId"`);
  return row?.accountId;
}

export function findIdentity(db: Queryable, accountId: AccountId) {
  return db.one<IdentityRow>(sql`
    select issuer, subject, account_id as "accountId", email, created_at as "createdAt", last_used_at as "lastUsedAt"
    from oidc_identities where account_id = ${accountId}`);
}

/** False where the account, or who signed in there, is linked already. */
export async function insertIdentity(
  tx: Queryable,
  row: Pick<IdentityRow, 'issuer' | 'subject' | 'accountId'> & { readonly email: string | undefined },
  now: Date,
): Promise<boolean> {
  const made = await tx.run(sql`
    insert into oidc_identities (issuer, subject, account_id, email, created_at, last_used_at)
    values (${row.issuer}, ${row.subject}, ${row.accountId}, ${row.email ?? null}, ${now}, ${now})
    on conflict do nothing`);
  return made > 0;
}

/** One of another issuer than this counts no more: whoever runs the service has changed the provider. */
export function forgetFormerIdentity(tx: Queryable, accountId: AccountId, issuer: string) {
  return tx.run(sql`
    delete from oidc_identities where account_id = ${accountId} and issuer <> ${issuer}`);
}

export async function deleteIdentity(tx: Queryable, accountId: AccountId): Promise<boolean> {
  return (await tx.run(sql`delete from oidc_identities where account_id = ${accountId}`)) > 0;
}

/** Whether the account has a password; until the transaction ends it keeps it. */
export async function lockHasPassword(tx: Queryable, id: AccountId): Promise<boolean> {
  const row = await tx.one<{ has: boolean }>(sql`
    select password_hash is not null as has from accounts where id = ${id} for no key update`);
  return row?.has ?? false;
}
