/** An account's own sessions: listed, ended, turned into a ticket for a stream, and deleted after their time. */
import { after, day } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { SessionId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Page } from '../../page.ts';
import type { Principal } from '../../principal.ts';
import type { AccountsContext } from './accounts.ts';
import { pruneExpiredTokens } from './api-tokens/api-tokens.ts';
import { pruneDeviceCodes } from './device-codes/queries.ts';
import { pruneAttempts } from './oidc/queries.ts';
import { pruneSecondFactors } from './second-factors/queries.ts';
import * as queries from './session-queries.ts';
import { browserOf, keepLocationsMs } from './sign-in-location.ts';
import { lifetimes, newOpaqueToken } from './tokens.ts';

export async function readSessions(context: AccountsContext, principal: Principal, page: Page) {
  const { before, limit } = page;
  const now = context.clock.now();
  const rows = await queries.listSessions(context.db, principal.accountId, { before, limit: limit + 1, now });
  return page.answer(rows, (row) => ({
    ...row,
    device: browserOf(row.userAgent ?? ''),
    current: row.id === principal.credential.id,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
  }));
}

export async function endSession(
  context: AccountsContext,
  principal: Principal,
  id: SessionId,
): Promise<void> {
  const ended = await queries.setSessionEnded(context.db, principal.accountId, id, context.clock.now());
  if (!ended) throw new Fault('not_found', 'No such session.');
}

/** Everywhere but here: their streams end, too. */
export async function endOtherSessions(context: AccountsContext, principal: Principal): Promise<void> {
  const { accountId } = principal;
  await queries.endOtherSessions(context.db, accountId, sessionOf(principal), context.clock.now());
}

export async function logout(context: AccountsContext, principal: Principal): Promise<void> {
  await queries.setSessionEnded(context.db, principal.accountId, sessionOf(principal), context.clock.now());
}

/** For clients that cannot send a header, such as `EventSource`: works once, within half a minute. */
export async function issueStreamTicket(context: AccountsContext, principal: Principal) {
  const ticket = newOpaqueToken('ticket');
  const expiresAt = after(context.clock.now(), lifetimes.streamTicketMs);
  await queries.insertStreamTicket(context.db, ticket.hash, sessionOf(principal), expiresAt);
  return { ticket: ticket.token, expiresAt: expiresAt.toISOString() };
}

/** Its routes are for people: they have declared that they take no API token. */
export function sessionOf({ credential }: Principal): SessionId {
  if (credential.kind === 'session') return credential.id;
  throw new Error('an API token has no session');
}

/** Deletes what has expired: codes, tickets, links, spent tokens, and sessions a day after their end. */
export function pruneAccountsSchedule(context: Pick<AccountsContext, 'db' | 'clock'>): Schedule {
  return { name: 'tidy-accounts', cron: '*/10 * * * *', timezone: 'UTC', run: () => pruneAccounts(context) };
}

export async function pruneAccounts({ db, clock }: Pick<AccountsContext, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await queries.pruneSessions(db, now, after(now, -Math.max(lifetimes.registrationMs, day)));
  await queries.pruneSpentTokens(db, after(now, -lifetimes.sessionMs));
  await queries.pruneDevices(db, after(now, -lifetimes.deviceMs));
  await queries.pruneLocations(db, after(now, -keepLocationsMs));
  await pruneSecondFactors(db, now, after(now, -day));
  await pruneAttempts(db, now);
  await pruneDeviceCodes(db, now);
  await pruneExpiredTokens({ db, clock });
}
