/** The SQL of sessions and of what depends on them: refresh tokens and stream tickets. */
import type { AccountId, ApiTokenId, ProjectId, SessionId } from '../../ids.ts';
import type { Ability, Membership, Principal } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { inBatches } from '../../store/in-batches.ts';
import { fragment, sql } from '../../store/sql.ts';

export interface NewSession {
  readonly id: SessionId;
  readonly accountId: AccountId;
  readonly ip: string;
  readonly userAgent: string | undefined;
  readonly now: Date;
  readonly expiresAt: Date;
  /** Now, where it is not said. */
  readonly provenAt: Date | undefined;
}

export function insertSession(db: Queryable, row: NewSession) {
  return db.run(sql`
    insert into sessions (id, account_id, user_agent, ip, created_at, last_used_at, expires_at, proven_at)
    values (${row.id}, ${row.accountId}, ${row.userAgent ?? null}, ${row.ip}, ${row.now}, ${row.now}, ${row.expiresAt},
      ${row.provenAt ?? null})`);
}

/** What an account `a` is a member of, as a principal holds it. */
const membershipJson = fragment`json_build_object('id', m.workspace_id, 'role', m.role, 'closing', m.closing, 'lacksFactor', m.requires_second_factor and not a.second_factor, 'projects', case when m.limited then (
  select coalesce(json_agg(json_build_object('projectId', p.project_id, 'role', p.role) order by p.project_id), '[]')
  from member_projects p where p.workspace_id = m.workspace_id and p.account_id = m.account_id) end)`;

type SessionPrincipal = Omit<Principal, 'credential'> & {
  readonly sessionId: SessionId;
  readonly provenAt: Date;
};

/** The live ones among these sessions, each with what its account is a member of. */
export function findPrincipals(db: Queryable, ids: readonly SessionId[], now: Date) {
  return db.rows<SessionPrincipal>(sql`
    select s.id as "sessionId", s.account_id as "accountId", coalesce(s.proven_at, s.created_at) as "provenAt",
      a.second_factor as "secondFactor",
      (select coalesce(json_agg(${membershipJson} order by m.closing, m.created_at), '[]')
       from memberships m where m.account_id = s.account_id) as memberships
    from sessions s join accounts a on a.id = s.account_id
    where s.id = any(${ids}::uuid[]) and s.ended_at is null and s.expires_at > ${now}`);
}

export interface TokenPrincipal {
  readonly id: ApiTokenId;
  readonly tokenHash: Buffer;
  readonly accountId: AccountId;
  readonly abilities: readonly Ability[];
  readonly projectId: ProjectId | null;
  readonly lastUsedAt: Date | null;
  readonly secondFactor: boolean;
  /** Of its maker: where there is none any more, there is no token. */
  readonly membership: Membership;
}

/** The live ones among these API tokens, named by what was sent or by their ids. */
export function findTokenPrincipals(
  db: Queryable,
  { hashes = [], ids = [] }: { hashes?: readonly string[]; ids?: readonly ApiTokenId[] },
  now: Date,
) {
  return db.rows<TokenPrincipal>(sql`
    select t.id, t.token_hash as "tokenHash", t.account_id as "accountId", t.abilities, t.project_id as "projectId",
      t.last_used_at as "lastUsedAt", a.second_factor as "secondFactor", ${membershipJson} as membership
    from api_tokens t join memberships m on m.workspace_id = t.workspace_id and m.account_id = t.account_id
      join accounts a on a.id = t.account_id
    where (t.token_hash = any(array(select decode(unnest(${hashes}::text[]), 'hex'))) or t.id = any(${ids}::uuid[]))
      and (t.expires_at is null or t.expires_at > ${now})`);
}

export interface SessionRow {
  readonly id: SessionId;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
}

export function listSessions(
  db: Queryable,
  accountId: AccountId,
  page: { before: string; limit: number; now: Date },
): Promise<SessionRow[]> {
  return db.rows<SessionRow>(sql`
    select id, user_agent as "userAgent", ip, created_at as "createdAt", last_used_at as "lastUsedAt",
      expires_at as "expiresAt"
    from sessions
    where account_id = ${accountId} and ended_at is null and expires_at > ${page.now}
      and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}

export async function setSessionEnded(
  db: Queryable,
  accountId: AccountId,
  id: SessionId,
  now: Date,
): Promise<boolean> {
  const ended = await db.run(sql`
    update sessions set ended_at = ${now}
    where id = ${id} and account_id = ${accountId} and ended_at is null and expires_at > ${now}`);
  return ended > 0;
}

export async function setProven(db: Queryable, id: SessionId, now: Date): Promise<void> {
  await db.run(sql`update sessions set proven_at = ${now} where id = ${id}`);
}

export function endOtherSessions(db: Queryable, accountId: AccountId, but: SessionId, now: Date) {
  return db.run(sql`
    update sessions set ended_at = ${now}
    where account_id = ${accountId} and id <> ${but} and ended_at is null`);
}

export function endAllSessions(db: Queryable, accountId: AccountId, now: Date) {
  return db.run(sql`
    update sessions set ended_at = ${now} where account_id = ${accountId} and ended_at is null`);
}

/** The account behind a session that is still live; until the transaction ends it is not changed by others. */
export async function lockAccountOfSession(tx: Queryable, id: SessionId, now: Date) {
  return tx.one<{ accountId: AccountId; email: string; secondFactor: boolean }>(sql`
    select a.id as "accountId", a.email, a.second_factor as "secondFactor" from sessions s join accounts a on a.id = s.account_id
    where s.id = ${id} and s.ended_at is null and s.expires_at > ${now} for no key update of a`);
}

export function insertRefreshToken(db: Queryable, tokenHash: Buffer, sessionId: SessionId, now: Date) {
  return db.run(sql`
    insert into refresh_tokens (token_hash, session_id, created_at) values (${tokenHash}, ${sessionId}, ${now})`);
}

/**
 * Spends the token and moves its session's end; of two callers with the same token, one gets the row. One from a cookie
 * without the prefix counts only if it was given out when there was none.
 */
export function spendRefreshToken(
  db: Queryable,
  tokenHash: Buffer,
  { now, expiresAt, isFromOwnCookie }: { now: Date; expiresAt: Date; isFromOwnCookie: boolean },
) {
  return db.one<{ sessionId: SessionId; accountId: AccountId }>(sql`
    with spent as (
      update refresh_tokens set spent_at = ${now}
      where token_hash = ${tokenHash} and spent_at is null and (${isFromOwnCookie}::boolean or before_prefix)
      returning session_id
    )
    update sessions set last_used_at = ${now}, expires_at = ${expiresAt}
    from spent
    where id = spent.session_id and ended_at is null and expires_at > ${now}
    returning id as "sessionId", account_id as "accountId"`);
}

/** A spent token that comes back was stolen, now or before: its session ends for both who hold it. */
export function endSessionOfSpentToken(db: Queryable, tokenHash: Buffer, now: Date) {
  return db.run(sql`
    update sessions set ended_at = ${now}
    from refresh_tokens
    where token_hash = ${tokenHash} and spent_at is not null and sessions.id = session_id and ended_at is null`);
}

export function insertStreamTicket(db: Queryable, ticketHash: Buffer, sessionId: SessionId, expiresAt: Date) {
  return db.run(sql`
    insert into stream_tickets (ticket_hash, session_id, expires_at)
    values (${ticketHash}, ${sessionId}, ${expiresAt})`);
}

export async function takeStreamTicket(
  db: Queryable,
  ticketHash: Buffer,
  now: Date,
): Promise<SessionId | undefined> {
  const row = await db.one<{ sessionId: SessionId }>(sql`
    delete from stream_tickets where ticket_hash = ${ticketHash} and expires_at > ${now}
    returning session_id as "sessionId"`);
  return row?.sessionId;
}

/** Saves a location, and returns whether it was known, and how many others are. */
export async function saveLocation(
  tx: Queryable,
  accountId: AccountId,
  location: string,
  now: Date,
  since: Date,
): Promise<{ isKnown: boolean; others: number }> {
  const row = await tx.one<{ known: number; others: number }>(sql`
    select count(*) filter (where location = ${location})::int as known,
      count(*) filter (where location <> ${location})::int as others
    from sign_in_locations where account_id = ${accountId} and seen_at > ${since}`);
  await tx.run(sql`
    insert into sign_in_locations (account_id, location, seen_at) values (${accountId}, ${location}, ${now})
    on conflict (account_id, location) do update set seen_at = excluded.seen_at`);
  return { isKnown: (row?.known ?? 0) > 0, others: row?.others ?? 0 };
}

export function pruneLocations(db: Queryable, before: Date) {
  return db.run(sql`delete from sign_in_locations where seen_at <= ${before}`);
}

/** The addresses of the accounts that a device is known for. */
export async function findDeviceEmails(db: Queryable, tokenHash: Buffer, since: Date): Promise<string[]> {
  const rows = await db.rows<{ email: string }>(sql`
    select a.email from known_devices d join accounts a on a.id = d.account_id
    where d.token_hash = ${tokenHash} and d.seen_at > ${since}`);
  return rows.map(({ email }) => email);
}

/** The device gets a new token, for every account that it is known for. */
export async function renewDevice(tx: Queryable, before: Buffer, tokenHash: Buffer): Promise<void> {
  await tx.run(sql`update known_devices set token_hash = ${tokenHash} where token_hash = ${before}`);
}

/** Of an account, only the latest are kept. */
export async function saveDevice(
  tx: Queryable,
  tokenHash: Buffer,
  accountId: AccountId,
  now: Date,
  keep: number,
): Promise<void> {
  await tx.run(sql`
    insert into known_devices (token_hash, account_id, seen_at) values (${tokenHash}, ${accountId}, ${now})
    on conflict (token_hash, account_id) do update set seen_at = excluded.seen_at`);
  await tx.run(sql`
    delete from known_devices where account_id = ${accountId} and token_hash = any(array(
      select token_hash from known_devices where account_id = ${accountId} order by seen_at desc offset ${keep}))`);
}

export function forgetDevices(tx: Queryable, accountId: AccountId) {
  return tx.run(sql`delete from known_devices where account_id = ${accountId}`);
}

export function pruneDevices(db: Queryable, before: Date) {
  return db.run(sql`delete from known_devices where seen_at <= ${before}`);
}

/** Tokens that were spent so long ago that an unspent one of that time would have ended, too. */
export function pruneSpentTokens(db: Queryable, before: Date): Promise<number> {
  return inBatches(async () => ({
    last: null,
    count: await db.run(sql`
      delete from refresh_tokens where ctid = any(array(
        select ctid from refresh_tokens where spent_at < ${before} order by spent_at limit 5000))`),
  }));
}

/** What has expired or ended. */
export async function pruneSessions(db: Queryable, now: Date, before: Date): Promise<void> {
  await db.run(sql`delete from stream_tickets where expires_at <= ${now}`);
  await db.run(sql`delete from password_resets where expires_at <= ${now}`);
  await db.run(sql`delete from sessions where coalesce(ended_at, expires_at) <= ${before}`);
  await db.run(sql`delete from registrations where created_at <= ${before}`);
}
