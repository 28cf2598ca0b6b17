/** The SQL of second factors. Whatever may be used once is taken by the statement that looks for it. */
import type { AccountId, PasskeyId, TotpFactorId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { fragment, sql } from '../../../store/sql.ts';

export type ChallengePurpose = 'sign_in' | 'confirm' | 'register';

export interface FactorsRow {
  readonly totpSince: Date | null;
  readonly passkeys: number;
  readonly codesLeft: number;
  readonly codesMadeAt: Date | null;
}

export function findFactors(db: Queryable, accountId: AccountId) {
  return db.one<FactorsRow>(sql`
    select (select confirmed_at from totp_factors where account_id = ${accountId} and confirmed_at is not null) as "totpSince",
      (select count(*)::int from passkeys where account_id = ${accountId}) as passkeys,
      (select count(*)::int from recovery_codes where account_id = ${accountId} and used_at is null) as "codesLeft",
      (select max(created_at) from recovery_codes where account_id = ${accountId}) as "codesMadeAt"`);
}

/** Until the transaction ends, nobody else changes the factors of the account or signs in to it by password. */
export function lockAccount(tx: Queryable, accountId: AccountId) {
  return tx.one<{ email: string; secondFactor: boolean }>(sql`
    select email, second_factor as "secondFactor" from accounts where id = ${accountId} for no key update`);
}

/** After each change of its factors, in the same transaction. */
export async function noteFactors(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const row = await tx.one<{ secondFactor: boolean }>(sql`
    update accounts set second_factor = exists (
        select 1 from totp_factors where account_id = ${accountId} and confirmed_at is not null)
      or exists (select 1 from passkeys where account_id = ${accountId})
    where id = ${accountId} returning second_factor as "secondFactor"`);
  return row?.secondFactor ?? false;
}

export interface TotpRow {
  readonly id: TotpFactorId;
  readonly secretSealed: Buffer;
}

export async function insertWaitingTotp(
  tx: Queryable,
  accountId: AccountId,
  { id, secretSealed }: TotpRow,
  now: Date,
): Promise<void> {
  await tx.run(sql`delete from totp_factors where account_id = ${accountId} and confirmed_at is null`);
  await tx.run(sql`
    insert into totp_factors (account_id, id, secret_sealed, created_at)
    values (${accountId}, ${id}, ${secretSealed}, ${now})`);
}

const totpColumns = fragment`id, secret_sealed as "secretSealed"`;

export function findTotp(db: Queryable, accountId: AccountId) {
  return db.one<TotpRow>(sql`
    select ${totpColumns} from totp_factors where account_id = ${accountId} and confirmed_at is not null`);
}

export function findWaitingTotp(db: Queryable, accountId: AccountId, since: Date) {
  return db.one<TotpRow>(sql`
    select ${totpColumns} from totp_factors
    where account_id = ${accountId} and confirmed_at is null and created_at > ${since}`);
}

/** It takes the place of the one before. */
export async function setTotpConfirmed(
  tx: Queryable,
  accountId: AccountId,
  id: TotpFactorId,
  counter: number,
  now: Date,
): Promise<void> {
  await tx.run(sql`delete from totp_factors where account_id = ${accountId} and confirmed_at is not null`);
  await tx.run(sql`
    update totp_factors set confirmed_at = ${now}, last_counter = ${counter}
    where account_id = ${accountId} and id = ${id}`);
}

/** False where this code or a later one was taken already: of two at once, one is. */
export async function takeCounter(tx: Queryable, id: TotpFactorId, counter: number): Promise<boolean> {
  const taken = await tx.run(sql`
    update totp_factors set last_counter = ${counter} where id = ${id} and last_counter < ${counter}`);
  return taken > 0;
}

export async function deleteTotp(tx: Queryable, accountId: AccountId): Promise<boolean> {
  const deleted = await tx.run(sql`
    delete from totp_factors where account_id = ${accountId} and confirmed_at is not null`);
  return deleted > 0;
}

export async function replaceRecoveryCodes(
  tx: Queryable,
  accountId: AccountId,
  hashes: readonly Buffer[],
  now: Date,
): Promise<void> {
  await tx.run(sql`delete from recovery_codes where account_id = ${accountId}`);
  const texts = hashes.map((each) => each.toString('hex'));
  await tx.run(sql`
    insert into recovery_codes (account_id, code_hash, created_at)
    select ${accountId}, decode(unnest(${texts}::text[]), 'hex'), ${now}`);
}

/** How many are left, where the code was one of them and unused: of two who send it at once, one gets the row. */
export async function takeRecoveryCode(
  tx: Queryable,
  accountId: AccountId,
  hash: Buffer,
  now: Date,
): Promise<number | undefined> {
  const taken = await tx.run(sql`
    update recovery_codes set used_at = ${now}
    where account_id = ${accountId} and code_hash = ${hash} and used_at is null`);
  if (taken === 0) return undefined;
  const row = await tx.one<{ left: number }>(sql`
    select count(*)::int as left from recovery_codes where account_id = ${accountId} and used_at is null`);
  return row?.left ?? 0;
}

export interface PasskeyRow {
  readonly id: PasskeyId;
  readonly name: string;
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const passkeyColumns = fragment`id, name, credential_id as "credentialId", public_key as "publicKey",
  counter::float8 as counter, transports, created_at as "createdAt", last_used_at as "lastUsedAt"`;

export function listPasskeys(db: Queryable, accountId: AccountId) {
  return db.rows<PasskeyRow>(sql`
    select ${passkeyColumns} from passkeys where account_id = ${accountId} order by id desc`);
}

export function findPasskey(db: Queryable, accountId: AccountId, credentialId: string) {
  return db.one<PasskeyRow>(sql`
    select ${passkeyColumns} from passkeys where account_id = ${accountId} and credential_id = ${credentialId}`);
}

/** False where the authenticator is registered already, here or with another account. */
export async function insertPasskey(
  tx: Queryable,
  accountId: AccountId,
  row: Omit<PasskeyRow, 'lastUsedAt'>,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into passkeys (account_id, id, name, credential_id, public_key, counter, transports, created_at)
    values (${accountId}, ${row.id}, ${row.name}, ${row.credentialId}, ${row.publicKey}, ${row.counter},
      ${row.transports}::text[], ${row.createdAt})
    on conflict (credential_id) do nothing`);
  return inserted > 0;
}

/** False where another use of it, or of a copy of it, was faster. Authenticators that do not count say 0 each time. */
export async function takePasskeyCounter(
  tx: Queryable,
  id: PasskeyId,
  { before, counter }: { readonly before: number; readonly counter: number },
  now: Date,
): Promise<boolean> {
  const taken = await tx.run(sql`
    update passkeys set counter = ${counter}, last_used_at = ${now} where id = ${id} and counter = ${before}`);
  return taken > 0;
}

export function setPasskeyName(tx: Queryable, accountId: AccountId, id: PasskeyId, name: string) {
  return tx.one<PasskeyRow>(sql`
    update passkeys set name = ${name} where account_id = ${accountId} and id = ${id} returning ${passkeyColumns}`);
}

export async function deletePasskey(tx: Queryable, accountId: AccountId, id: PasskeyId): Promise<boolean> {
  const deleted = await tx.run(sql`delete from passkeys where account_id = ${accountId} and id = ${id}`);
  return deleted > 0;
}

/** How many factors there were; recovery codes go with them. */
export async function deleteAllFactors(tx: Queryable, accountId: AccountId): Promise<number> {
  const totp = await deleteTotp(tx, accountId);
  const passkeys = await tx.run(sql`delete from passkeys where account_id = ${accountId}`);
  await deleteRecoveryCodes(tx, accountId);
  return passkeys + (totp ? 1 : 0);
}

export function deleteRecoveryCodes(tx: Queryable, accountId: AccountId) {
  return tx.run(sql`delete from recovery_codes where account_id = ${accountId}`);
}

export interface NewChallenge {
  readonly tokenHash: Buffer;
  readonly accountId: AccountId;
  readonly purpose: ChallengePurpose;
  readonly location: string;
  readonly expiresAt: Date;
}

export function insertChallenge(tx: Queryable, row: NewChallenge) {
  return tx.run(sql`
    insert into second_factor_challenges (token_hash, account_id, purpose, location, expires_at)
    values (${row.tokenHash}, ${row.accountId}, ${row.purpose}, ${row.location}, ${row.expiresAt})`);
}

export function findChallenge(
  db: Queryable,
  { tokenHash, purpose, location }: Pick<NewChallenge, 'tokenHash' | 'purpose' | 'location'>,
  most: number,
  now: Date,
) {
  return db.one<Pick<NewChallenge, 'accountId' | 'expiresAt'>>(sql`
    select account_id as "accountId", expires_at as "expiresAt" from second_factor_challenges
    where token_hash = ${tokenHash} and purpose = ${purpose} and location = ${location} and expires_at > ${now}
      and tries < ${most}`);
}

/** Counts the try before the factor is looked at, in one statement: parallel guesses cannot share a count. */
export async function takeChallengeTry(
  db: Queryable,
  { tokenHash, purpose, location }: Pick<NewChallenge, 'tokenHash' | 'purpose' | 'location'>,
  most: number,
  now: Date,
): Promise<AccountId | undefined> {
  const row = await db.one<{ accountId: AccountId }>(sql`
    update second_factor_challenges set tries = tries + 1
    where token_hash = ${tokenHash} and purpose = ${purpose} and location = ${location} and expires_at > ${now}
      and tries < ${most}
    returning account_id as "accountId"`);
  return row?.accountId;
}

/** False where somebody else was faster, or the factors were changed meanwhile. */
export async function deleteChallenge(tx: Queryable, tokenHash: Buffer): Promise<boolean> {
  return (await tx.run(sql`delete from second_factor_challenges where token_hash = ${tokenHash}`)) > 0;
}

export function deleteChallenges(tx: Queryable, accountId: AccountId) {
  return tx.run(sql`delete from second_factor_challenges where account_id = ${accountId}`);
}

/** The how-manyth it is since `windowStart` at the earliest; undefined where there were too many already. */
export async function takeAccountTry(
  db: Queryable,
  accountId: AccountId,
  { most, windowStart, now }: { readonly most: number; readonly windowStart: Date; readonly now: Date },
): Promise<number | undefined> {
  const row = await db.one<{ tries: number }>(sql`
    insert into second_factor_tries as t (account_id, tries, since) values (${accountId}, 1, ${now})
    on conflict (account_id) do update set
      tries = case when t.since <= ${windowStart} then 1 else t.tries + 1 end,
      since = case when t.since <= ${windowStart} then ${now} else t.since end
    where t.since <= ${windowStart} or t.tries < ${most}
    returning tries`);
  return row?.tries;
}

export function forgetTries(tx: Queryable, accountId: AccountId) {
  return tx.run(sql`delete from second_factor_tries where account_id = ${accountId}`);
}

export async function pruneSecondFactors(db: Queryable, now: Date, before: Date): Promise<void> {
  await db.run(sql`delete from second_factor_challenges where expires_at <= ${now}`);
  await db.run(sql`delete from totp_factors where confirmed_at is null and created_at <= ${before}`);
}
