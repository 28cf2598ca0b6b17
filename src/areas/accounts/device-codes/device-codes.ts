/**
 * Signing a program in by a browser (RFC 8628): the program asks for two codes, shows the short one, and waits with the
 * long one. A person who is signed in types the short one, sees what asks and from where, and allows or refuses it. Whoever
 * is allowed gets a session of that person, once, as they would by the person's password.
 */
import { createHmac, randomInt } from 'node:crypto';
import { after, minute, second } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import { prefixOf } from '../../../network.ts';
import type { Principal } from '../../../principal.ts';
import type { Queryable } from '../../../store/database.ts';
import type { MasterKeys } from '../../../store/master-keys.ts';
import type { AccountsContext, ClientTrace } from '../accounts.ts';
import { lockAccountOfSession } from '../session-queries.ts';
import { sessionOf } from '../sessions.ts';
import { openSession, type SignIn } from '../sign-in.ts';
import { locationOf } from '../sign-in-location.ts';
import { hashOpaqueToken, newOpaqueToken } from '../tokens.ts';
import * as queries from './queries.ts';

const lifeMs = 10 * minute;
const firstIntervalSeconds = 2;
/** By so much each time that it looks too soon (RFC 8628, 3.5), up to the most. */
const slowerBySeconds = 5;
const mostIntervalSeconds = 60;
/** Networks and timers are not exact. */
const earlyMs = second / 2;

/** No vowels, so that it is no word, and nothing that looks like a digit: 34 bits, for minutes, with limited tries. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const halfLength = 4;

export async function createDeviceCode(
  { db, clock, masterKeys, publicUrl }: AccountsContext,
  deviceName: string,
  client: ClientTrace,
) {
  const now = clock.now();
  const { token: deviceCode, hash: codeHash } = newOpaqueToken('device_code');
  const row = {
    codeHash,
    deviceName,
    userAgent: client.userAgent?.slice(0, 256),
    ip: client.ip,
    intervalSeconds: firstIntervalSeconds,
    createdAt: now,
    expiresAt: after(now, lifeMs),
  };
  for (;;) {
    const userCode = `${randomLetters()}-${randomLetters()}`;
    const userCodeHash = hashUserCode(masterKeys, userCode);
    if (!(await queries.insertDeviceCode(db, { ...row, userCodeHash }))) continue;
    const verificationUri = `${publicUrl()}/device`;
    return {
      deviceCode,
      userCode,
      verificationUri,
      expiresIn: lifeMs / second,
      interval: firstIntervalSeconds,
    };
  }
}

type Looked =
  | { readonly is: 'allowed'; readonly signIn: SignIn }
  | { readonly is: 'pending' | 'too_soon'; readonly interval: number }
  | { readonly is: 'refused' | 'gone' };

/** The sign-in, once it was allowed; until then how long to wait before the next look. */
export async function loginWithDeviceCode(
  context: AccountsContext,
  deviceCode: string,
  client: ClientTrace,
): Promise<SignIn | { readonly interval: number }> {
  // What it throws would undo what it has noted.
  const looked = await context.db.transaction((tx) => look(tx, context, hashOpaqueToken(deviceCode), client));
  switch (looked.is) {
    case 'allowed':
      context.wakeMail();
      return looked.signIn;
    case 'pending':
      return { interval: looked.interval };
    case 'too_soon':
      throw new Fault('slow_down', 'The program asks more often than it was told to.', {
        hint: `Wait ${looked.interval} seconds before each further look.`,
        retryAfterSeconds: looked.interval,
      });
    case 'refused':
      throw new Fault('access_denied', 'Whoever typed the code refused it.', {
        hint: 'Run `slipway login` again if that was a mistake.',
      });
    case 'gone':
      throw new Fault('expired_token', 'The device code is unknown, expired or already used.', {
        hint: 'Ask for a new one with POST /auth/device-codes; at the prompt, run `slipway login` again.',
      });
  }
}

async function look(
  tx: Queryable,
  context: AccountsContext,
  codeHash: Buffer,
  client: ClientTrace,
): Promise<Looked> {
  const now = context.clock.now();
  const row = await queries.lockDeviceCode(tx, codeHash, now);
  // The person was shown from where it asked: from elsewhere it does not exist.
  const isSame =
    row && locationOf(client) === locationOf({ ...client, ip: row.ip, userAgent: row.userAgent ?? '' });
  if (!isSame) return { is: 'gone' };
  const { allowed, sessionId, provenAt, polledAt, deviceName } = row;
  if (allowed === false) return { is: 'refused' };
  if (sessionId === null || provenAt === null) {
    const isTooSoon =
      polledAt !== null && now.getTime() - polledAt.getTime() < row.intervalSeconds * second - earlyMs;
    const interval = isTooSoon
      ? Math.min(row.intervalSeconds + slowerBySeconds, mostIntervalSeconds)
      : row.intervalSeconds;
    await queries.notePoll(tx, codeHash, now, interval);
    return { is: isTooSoon ? 'too_soon' : 'pending', interval };
  }
  await queries.deleteDeviceCode(tx, codeHash);
  // Ended since, by a new password for example: then what it allowed is not allowed either.
  const account = await lockAccountOfSession(tx, sessionId, now);
  if (!account) return { is: 'gone' };
  const opened = { changes: { deviceName }, provenAt };
  return { is: 'allowed', signIn: await openSession(tx, context, account.accountId, client, opened) };
}

/** What asks with this code, for the person who is to allow it. */
export async function readDeviceRequest(
  { db, clock, masterKeys }: AccountsContext,
  userCode: string,
  client: ClientTrace,
) {
  const row = await queries.findWaiting(db, hashUserCode(masterKeys, userCode), clock.now());
  if (!row) throw nothingWaits();
  const { createdAt, expiresAt, ...shown } = row;
  return {
    ...shown,
    sameNetwork: prefixOf(row.ip) === prefixOf(client.ip),
    requestedAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
}

export async function answerDeviceCode(
  { db, clock, masterKeys }: AccountsContext,
  principal: Principal,
  { userCode, allow }: { readonly userCode: string; readonly allow: boolean },
): Promise<void> {
  const { credential } = principal;
  const now = clock.now();
  const answer = {
    allowed: allow,
    sessionId: sessionOf(principal),
    provenAt: credential.kind === 'session' ? credential.provenAt : now,
  };
  if (await queries.setAnswer(db, hashUserCode(masterKeys, userCode), answer, now)) return;
  throw nothingWaits();
}

function nothingWaits(): Fault {
  return new Fault('not_found', 'No program waits with this code.', {
    hint: 'Compare it letter by letter. A code is for ten minutes and one answer: after that, run `slipway login` again.',
  });
}

function randomLetters(): string {
  return Array.from({ length: halfLength }, () => letters[randomInt(letters.length)]).join('');
}

/** However it is typed. */
function hashUserCode(keys: MasterKeys, typed: string): Buffer {
  const code = typed.toUpperCase().replaceAll(/[\s\p{Pd}]/gu, '');
  return createHmac('sha256', keys.derive('user-code')).update(code).digest();
}
