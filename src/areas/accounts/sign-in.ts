/** Opens and refreshes sessions: the tokens, and the profile. */
import { after } from '../../clock.ts';
import { type NewEntry, writeAccountEntry } from '../../events/audit.ts';
import { Fault } from '../../fault.ts';
import { type AccountId, newId, type SessionId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { AccountsContext, ClientTrace, User } from './accounts.ts';
import { recordDevice } from './devices.ts';
import { readUser } from './read-user.ts';
import * as sessions from './session-queries.ts';
import { recordSignInLocation } from './sign-in-location.ts';
import { accessTokenSeconds, hashOpaqueToken, lifetimes, newOpaqueToken, signAccessToken } from './tokens.ts';

export interface SignIn {
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly refreshToken: string;
  /** For a client that keeps cookies, where it gets a new one. */
  readonly deviceToken?: string;
  readonly user: User;
}

/** How it was opened, where not by the password alone. */
interface Opening {
  /** For the audit log: the second factor, or what asked for it. */
  readonly changes?: NewEntry['changes'];
  /** When its owner last proved who they are, where that was before. */
  readonly provenAt?: Date;
}

export async function openSession(
  tx: Queryable,
  context: AccountsContext,
  accountId: AccountId,
  client: ClientTrace,
  { changes, provenAt }: Opening = {},
): Promise<SignIn> {
  const now = context.clock.now();
  const id = newId<SessionId>();
  const userAgent = client.userAgent?.slice(0, 256);
  const expiresAt = after(now, lifetimes.sessionMs);
  await sessions.insertSession(tx, { id, accountId, ip: client.ip, userAgent, now, expiresAt, provenAt });
  await recordSignInLocation(tx, accountId, client, now);
  await recordAccountAction(tx, accountId, 'signIn', client, changes);
  const deviceToken = await recordDevice(tx, accountId, client, now);
  return { ...(await issueTokens(tx, context, accountId, id)), ...(deviceToken && { deviceToken }) };
}

/** In the audit log of each workspace that the account is in. */
export function recordAccountAction(
  tx: Queryable,
  accountId: AccountId,
  action: 'signIn' | 'resetPassword',
  { ip, requestId }: ClientTrace,
  changes?: NewEntry['changes'],
): Promise<void> {
  const actor = { kind: 'person', accountId } as const;
  return writeAccountEntry(tx, accountId, { actor, action, changes, ip, requestId });
}

async function issueTokens(
  tx: Queryable,
  context: AccountsContext,
  accountId: AccountId,
  sessionId: SessionId,
): Promise<SignIn> {
  const now = context.clock.now();
  const refresh = newOpaqueToken('refresh');
  await sessions.insertRefreshToken(tx, refresh.hash, sessionId, now);
  const accessToken = await signAccessToken(context.masterKeys, now, { accountId, sessionId });
  const user = await readUser(tx, accountId);
  return { accessToken, expiresIn: accessTokenSeconds, refreshToken: refresh.token, user };
}

/**
 * Exchanges a refresh token for a new pair. A spent one that is used again ends its session. A browser that has no token
 * for its device yet gets one here: it was signed in before there were any.
 */
export async function refresh(
  context: AccountsContext,
  refreshToken: string | undefined,
  client: ClientTrace,
  isFromOwnCookie = true,
): Promise<SignIn> {
  if (!refreshToken) throw invalidRefreshToken();
  const tokenHash = hashOpaqueToken(refreshToken);
  const now = context.clock.now();
  const signIn = await context.db.transaction(async (tx) => {
    const expiresAt = after(now, lifetimes.sessionMs);
    const session = await sessions.spendRefreshToken(tx, tokenHash, { now, expiresAt, isFromOwnCookie });
    if (!session) return undefined;
    const { accountId, sessionId } = session;
    const deviceToken =
      client.device?.token === undefined ? await recordDevice(tx, accountId, client, now) : undefined;
    return { ...(await issueTokens(tx, context, accountId, sessionId)), ...(deviceToken && { deviceToken }) };
  });
  if (signIn) return signIn;
  await sessions.endSessionOfSpentToken(context.db, tokenHash, now);
  throw invalidRefreshToken();
}

function invalidRefreshToken(): Fault {
  return new Fault('invalid_refresh_token', 'The refresh token is missing, unknown, expired or spent.', {
    hint: 'Sign in again with POST /auth/login.',
  });
}
