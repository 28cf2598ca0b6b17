/** The SQL of this area. Everything is found by an account, an address or a token's hash, never by an id alone. */
import type { AccountId, InvitationId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { RegistrationMode, User } from './accounts.ts';

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

/** Found where the password is still this one; until the transaction ends it stays so, and so do the second factors. */
export function lockPassword(tx: Queryable, id: AccountId, passwordHash: string) {
  return tx.one<{ secondFactor: boolean }>(sql`
    select second_factor as "secondFactor" from accounts
    where id = ${id} and password_hash = ${passwordHash} for share`);
}

export interface RegistrationRow {
  readonly email: string;
  readonly name: string | null;
  readonly passwordHash: string;
  readonly contested: boolean;
  readonly invitationId: InvitationId | null;
}

export interface NewRegistration {
  readonly email: string;
  readonly name: string | undefined;
  readonly passwordHash: string;
  readonly passwordTag: number;
  readonly invitationId: InvitationId | undefined;
  readonly otpExpiresAt: Date;
  readonly now: Date;
}

export function saveRegistration(db: Queryable, row: NewRegistration) {
  return db.run(sql`
    insert into registrations (email, name, password_hash, password_tag, invitation_id, otp_expires_at, created_at)
    values (${row.email}, ${row.name ?? null}, ${row.passwordHash}, ${row.passwordTag}, ${row.invitationId ?? null},
      ${row.otpExpiresAt}, ${row.now})
    on conflict (email) do update set
      name = excluded.name,
      password_hash = excluded.password_hash,
      password_tag = excluded.password_tag,
      contested = registrations.contested or registrations.password_tag <> excluded.password_tag,
      invitation_id = coalesce(excluded.invitation_id, registrations.invitation_id),
      otp_expires_at = excluded.otp_expires_at,
      created_at = excluded.created_at`);
}

export interface OtpRenewal {
  readonly seed: Buffer;
  readonly expiresAt: Date;
  readonly now: Date;
  /** A code that was made before is not sent again. */
  readonly oldest: Date;
  /** One that was made since is, tried out or not. */
  readonly youngest: Date;
  readonly perNetwork: number;
  readonly inAll: number;
}

/**
 * The seed of the code to send: that of the code which was sent before, while it can still be used, else the new one with
 * tries of its own.
 */
export async function renewOtp(db: Queryable, email: string, row: OtpRenewal): Promise<Buffer | undefined> {
  const renewed = await db.one<{ seed: Buffer }>(sql`
    with sent as (
      select email, otp_seed is not null and otp_made_at > ${row.oldest} and (otp_made_at > ${row.youngest}
        or (otp_tries < ${row.inAll} and not exists (
          select 1 from jsonb_each_text(otp_tries_by_network) tries where tries.value::int >= ${row.perNetwork})))
        as usable
      from registrations where email = ${email} for update
    )
    update registrations r set otp_expires_at = ${row.expiresAt},
      otp_seed = case when usable then otp_seed else ${row.seed} end,
      otp_made_at = case when usable then otp_made_at else ${row.now} end,
      otp_tries = case when usable then otp_tries else 0 end,
      otp_tries_by_network = case when usable then otp_tries_by_network else '{}' end
    from sent where r.email = sent.email
    returning otp_seed as seed`);
  return renewed?.seed;
}

export function findRegistration(db: Queryable, email: string) {
  return db.one<{ otpExpiresAt: Date; hasAccount: boolean }>(sql`
    select otp_expires_at as "otpExpiresAt",
      exists (select 1 from accounts where accounts.email = registrations.email) as "hasAccount"
    from registrations where email = ${email}`);
}

/** Counts the try before the code is looked at, in one statement: parallel guesses cannot share a count. */
export function takeOtpTry(
  db: Queryable,
  email: string,
  network: string,
  most: { readonly perNetwork: number; readonly inAll: number },
  now: Date,
) {
  return db.one<{ seed: Buffer }>(sql`
    update registrations set otp_tries = otp_tries + 1,
      otp_tries_by_network = otp_tries_by_network || jsonb_build_object(
        ${network}::text, coalesce((otp_tries_by_network ->> ${network}::text)::int, 0) + 1)
    where email = ${email} and otp_seed is not null and otp_expires_at > ${now}
      and otp_tries < ${most.inAll}
      and coalesce((otp_tries_by_network ->> ${network}::text)::int, 0) < ${most.perNetwork}
    returning otp_seed as seed`);
}

/** Ends the registration, once: of two callers with the right code, one gets the row. */
export function takeRegistration(db: Queryable, email: string, seed: Buffer) {
  return db.one<RegistrationRow>(sql`
    delete from registrations where email = ${email} and otp_seed = ${seed}
    returning email, name, password_hash as "passwordHash", contested, invitation_id as "invitationId"`);
}

/** Until the transaction ends nobody else makes an account: of two who would be the first, one is. */
export async function lockNewAccounts(tx: Queryable): Promise<void> {
  await tx.run(sql`lock table accounts in share row exclusive mode`);
}

export async function hasAccounts(db: Queryable): Promise<boolean> {
  return (await db.one(sql`select 1 from accounts limit 1`)) !== undefined;
}

/** Whether the next account is the first one; until the transaction ends it stays so. */
export async function lockIfFirst(tx: Queryable): Promise<boolean> {
  if (await hasAccounts(tx)) return false;
  await lockNewAccounts(tx);
  return !(await hasAccounts(tx));
}

export function isOperator(db: Queryable, id: AccountId): Promise<boolean> {
  return db.exists(sql`select 1 from accounts where id = ${id} and operator`);
}

/** What was changed while running, over what the settings say. */
export async function findRegistrationMode(db: Queryable): Promise<RegistrationMode | null> {
  const row = await db.one<{ registration: RegistrationMode | null }>(sql`
    select registration from installation where sole`);
  return row?.registration ?? null;
}

export async function findPasswordHash(db: Queryable, id: AccountId): Promise<string | null> {
  const row = await db.one<{ hash: string | null }>(sql`
    select password_hash as hash from accounts where id = ${id}`);
  return row?.hash ?? null;
}

export interface NewAccountRow {
  readonly id: AccountId;
  readonly email: string;
  readonly name: string | null;
  readonly passwordHash: string | null;
  /** The first account of an installation looks after it. */
  readonly isFirst: boolean;
  readonly now: Date;
}

/** False where the address has an account already. */
export async function insertAccount(db: Queryable, row: NewAccountRow): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into accounts (id, email, name, password_hash, operator, email_verified_at, created_at)
    values (${row.id}, ${row.email}, ${row.name}, ${row.passwordHash}, ${row.isFirst}, ${row.now}, ${row.now})
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
      (select coalesce(json_agg(json_build_object('id', w.id, 'name', w.name, 'role', m.role) order by m.closing, m.created_at), '[]')
       from memberships m join workspaces w on w.id = m.workspace_id and w.removed_at is null
       where m.account_id = a.id) as workspaces
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

/** Those of the addresses that are members' own. */
export function findMemberEmails(db: Queryable, workspaceId: WorkspaceId, emails: readonly string[]) {
  return db.rows<{ email: string }>(sql`
    select a.email from memberships m join accounts a on a.id = m.account_id
    where m.workspace_id = ${workspaceId} and a.email = any(${emails}::text[])`);
}

export async function findOwnerEmails(db: Queryable, workspaceId: WorkspaceId): Promise<string[]> {
  const rows = await db.rows<{ email: string }>(sql`
    select a.email from memberships m join accounts a on a.id = m.account_id
    where m.workspace_id = ${workspaceId} and m.role = 'owner' order by m.created_at`);
  return rows.map(({ email }) => email);
}
