/** The SQL of this area. Everything is found by an account, an address or a token's hash, never by an id alone. */
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { User } from './accounts.ts';

export interface CredentialsRow {
  readonly accountId: AccountId | null;
  /** The account's, else that of whoever asked to register. */
  readonly passwordHash: string | null;
  readonly registrationTag: number | null;
}

/** The account of an address, else who asked to register with it: one row, whichever there is. */
export function findCredentials(db: Queryable, email: string) {
  return db.one<CredentialsRow>(sql`
    select a.id as "accountId", r.password_tag as "registrationTag",
      case when a.id is null then r.password_hash else a.password_hash end as "passwordHash"
    from (select ${email}::text as email) given left join accounts a using (email) left join registrations r using (email)`);
}

/** Whether the password is still this one; until the transaction ends it stays so. */
export async function lockPassword(tx: Queryable, id: AccountId, passwordHash: string): Promise<boolean> {
  const row = await tx.one(
    sql`select 1 from accounts where id = ${id} and password_hash = ${passwordHash} for share`,
  );
  return row !== undefined;
}

export interface RegistrationRow {
  readonly email: string;
  readonly name: string | null;
  readonly passwordHash: string;
  readonly contested: boolean;
}

export interface NewRegistration {
  readonly email: string;
  readonly name: string | undefined;
  readonly passwordHash: string;
  readonly passwordTag: number;
  readonly otpExpiresAt: Date;
  readonly now: Date;
}

export function saveRegistration(db: Queryable, row: NewRegistration) {
  return db.run(sql`
    insert into registrations (email, name, password_hash, password_tag, otp_expires_at, created_at)
    values (${row.email}, ${row.name ?? null}, ${row.passwordHash}, ${row.passwordTag}, ${row.otpExpiresAt}, ${row.now})
    on conflict (email) do update set
      name = excluded.name,
      password_hash = excluded.password_hash,
      password_tag = excluded.password_tag,
      contested = registrations.contested or registrations.password_tag <> excluded.password_tag,
      otp_hash = null,
      otp_expires_at = excluded.otp_expires_at,
      otp_tries = 0,
      created_at = excluded.created_at`);
}

export function setOtp(db: Queryable, email: string, otpHash: Buffer) {
  return db.run(sql`update registrations set otp_hash = ${otpHash} where email = ${email}`);
}

/** Opens the time for a new code; false where nobody registered with the address. */
export async function renewOtp(db: Queryable, email: string, otpExpiresAt: Date): Promise<boolean> {
  const touched = await db.run(sql`
    update registrations set otp_expires_at = ${otpExpiresAt}, otp_tries = 0, otp_hash = null where email = ${email}`);
  return touched > 0;
}

export function findRegistration(db: Queryable, email: string) {
  return db.one<{ otpExpiresAt: Date; hasAccount: boolean }>(sql`
    select otp_expires_at as "otpExpiresAt",
      exists (select 1 from accounts where accounts.email = registrations.email) as "hasAccount"
    from registrations where email = ${email}`);
}

/** Counts the try before the code is looked at, in one statement: parallel guesses cannot share a count. */
export function takeOtpTry(db: Queryable, email: string, most: number, now: Date) {
  return db.one<{ otpHash: Buffer }>(sql`
    update registrations set otp_tries = otp_tries + 1
    where email = ${email} and otp_hash is not null and otp_tries < ${most} and otp_expires_at > ${now}
    returning otp_hash as "otpHash"`);
}

/** Ends the registration, once: of two callers with the right code, one gets the row. */
export function takeRegistration(db: Queryable, email: string, otpHash: Buffer) {
  return db.one<RegistrationRow>(sql`
    delete from registrations where email = ${email} and otp_hash = ${otpHash}
    returning email, name, password_hash as "passwordHash", contested`);
}

export interface NewAccountRow {
  readonly id: AccountId;
  readonly email: string;
  readonly name: string | null;
  readonly passwordHash: string | null;
  readonly now: Date;
}

/** False where the address has an account already. */
export async function insertAccount(db: Queryable, row: NewAccountRow): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into accounts (id, email, name, password_hash, email_verified_at, created_at)
    values (${row.id}, ${row.email}, ${row.name}, ${row.passwordHash}, ${row.now}, ${row.now})
    on conflict (email) do nothing`);
  return inserted > 0;
}

export async function insertWorkspace(
  db: Queryable,
  row: { id: WorkspaceId; name: string; ownerId: AccountId; now: Date },
): Promise<void> {
  await db.run(
    sql`insert into workspaces (id, name, created_at) values (${row.id}, ${row.name}, ${row.now})`,
  );
  await db.run(sql`
    insert into memberships (workspace_id, account_id, role, created_at)
    values (${row.id}, ${row.ownerId}, 'owner', ${row.now})`);
}

export interface UserRow extends Omit<User, 'emailVerifiedAt' | 'createdAt'> {
  readonly emailVerifiedAt: Date;
  readonly createdAt: Date;
}

export function findUser(db: Queryable, id: AccountId) {
  return db.one<UserRow>(sql`
    select a.id, a.email, a.name, a.email_verified_at as "emailVerifiedAt", a.created_at as "createdAt",
      (select coalesce(json_agg(json_build_object('id', w.id, 'name', w.name, 'role', m.role) order by m.created_at), '[]')
       from memberships m join workspaces w on w.id = m.workspace_id where m.account_id = a.id) as workspaces
    from accounts a where a.id = ${id}`);
}

export function findAccountByEmail(db: Queryable, email: string) {
  return db.one<{ id: AccountId; name: string | null }>(
    sql`select id, name from accounts where email = ${email}`,
  );
}

export async function setPassword(
  db: Queryable,
  id: AccountId,
  passwordHash: string,
): Promise<string | undefined> {
  const row = await db.one<{ email: string }>(sql`
    update accounts set password_hash = ${passwordHash} where id = ${id} returning email`);
  return row?.email;
}

export function insertReset(db: Queryable, tokenHash: Buffer, accountId: AccountId, expiresAt: Date) {
  return db.run(sql`
    insert into password_resets (token_hash, account_id, expires_at) values (${tokenHash}, ${accountId}, ${expiresAt})`);
}

export async function takeReset(db: Queryable, tokenHash: Buffer, now: Date): Promise<AccountId | undefined> {
  // The account first: two links of one account, used at once, would each wait for the other's row.
  await db.run(sql`
    select 1 from accounts
    where id = (select account_id from password_resets where token_hash = ${tokenHash}) for no key update`);
  const row = await db.one<{ accountId: AccountId }>(sql`
    delete from password_resets where token_hash = ${tokenHash} and expires_at > ${now}
    returning account_id as "accountId"`);
  if (row) await db.run(sql`delete from password_resets where account_id = ${row.accountId}`);
  return row?.accountId;
}

export function isResetLive(db: Queryable, tokenHash: Buffer, now: Date) {
  return db.one(sql`select 1 from password_resets where token_hash = ${tokenHash} and expires_at > ${now}`);
}

export async function findOwnerEmails(db: Queryable, workspaceId: WorkspaceId): Promise<string[]> {
  const rows = await db.rows<{ email: string }>(sql`
    select a.email from memberships m join accounts a on a.id = m.account_id
    where m.workspace_id = ${workspaceId} and m.role = 'owner' order by m.created_at`);
  return rows.map(({ email }) => email);
}
