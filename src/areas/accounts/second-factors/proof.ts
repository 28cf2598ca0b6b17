/**
 * Proving a second factor. Each proof is taken in the transaction of what it allows, by one statement that only one caller
 * can win: the same code twice at once lets in one. Wrong ones are counted for the account, over all that it has open.
 */
import { after, hour } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import type { AccountId } from '../../../ids.ts';
import { unnoted } from '../../../store/change-note.ts';
import type { Queryable } from '../../../store/database.ts';
import type { AccountsContext } from '../accounts.ts';
import { enqueueMail } from '../mail-outbox.ts';
import { findUser } from '../queries.ts';
import { type PasskeyAssertion, takePasskey } from './passkey-ceremony.ts';
import * as queries from './queries.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { matchingCounter } from './totp.ts';

export const methods = ['totp', 'passkey', 'recovery_code'] as const;
export type Method = (typeof methods)[number];

export type Proof =
  | { readonly method: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly method: 'passkey'; readonly challenge: string; readonly credential: PasskeyAssertion };

/**
 * So many wrong ones within an hour, then none are looked at. Only who knows the password comes this far; a new password
 * lifts it, so an owner is not kept out by whoever stole the old one.
 */
const mostTries = 20;

/** What can be proven with, of what the account has. */
export async function methodsOf(db: Queryable, accountId: AccountId): Promise<Method[]> {
  const found = await queries.findFactors(db, accountId);
  const has: Readonly<Record<Method, boolean>> = {
    totp: found?.totpSince != null,
    passkey: (found?.passkeys ?? 0) > 0,
    recovery_code: (found?.codesLeft ?? 0) > 0,
  };
  return methods.filter((method) => has[method]);
}

/** Counts the try, then does the work, which takes the proof. */
export async function tryProof<T>(
  context: AccountsContext,
  accountId: AccountId,
  work: () => Promise<T>,
): Promise<T> {
  const now = context.clock.now();
  const limit = { most: mostTries, windowStart: after(now, -hour), now };
  const tries = await unnoted(() => queries.takeAccountTry(context.db, accountId, limit));
  if (tries === undefined)
    throw new Fault('rate_limited', 'Too many wrong second factors were sent for this account.', {
      hint: 'Try again in an hour, or set a new password with POST /auth/forgot-password, which lifts this at once.',
      retryAfterSeconds: hour / 1000,
    });
  try {
    return await work();
  } catch (error) {
    if (tries === mostTries && error instanceof Fault) {
      const user = await findUser(context.db, accountId);
      const data = { change: 'locked' };
      if (user) await unnoted(() => enqueueMail(context.db, 'second_factor', user.email, now, data));
      context.wakeMail();
    }
    throw error;
  }
}

/** In the transaction of what it allows. */
export async function takeProof(
  tx: Queryable,
  context: AccountsContext,
  accountId: AccountId,
  proof: Proof,
): Promise<void> {
  const isTaken =
    proof.method === 'totp'
      ? await takeTotp(tx, context, accountId, proof.code)
      : proof.method === 'passkey'
        ? await takePasskey(tx, context, accountId, proof)
        : await takeRecoveryCode(tx, context, accountId, proof.code);
  if (!isTaken) throw invalidSecondFactor();
  await queries.forgetTries(tx, accountId);
}

export function invalidSecondFactor(): Fault {
  return new Fault('invalid_second_factor', 'The second factor is wrong, expired or already used.', {
    hint: 'A code of an authenticator app works once, within half a minute of its time: wait for the next, and check the clock of the phone. A recovery code works in place of it.',
  });
}

async function takeTotp(
  tx: Queryable,
  { sealer, clock }: AccountsContext,
  accountId: AccountId,
  code: string,
): Promise<boolean> {
  const now = clock.now();
  const found = await queries.findTotp(tx, accountId);
  if (!found) return false;
  const secret = await sealer.open(tx, totpPlace(accountId, found.id), found.secretSealed);
  const counter = matchingCounter(secret.reveal(), code, now);
  return counter !== undefined && queries.takeCounter(tx, found.id, counter);
}

export function totpPlace(accountId: AccountId, row: string) {
  return { accountId, table: 'totp_factors', row, column: 'secret_sealed' } as const;
}

async function takeRecoveryCode(
  tx: Queryable,
  { clock }: AccountsContext,
  accountId: AccountId,
  code: string,
): Promise<boolean> {
  const now = clock.now();
  const left = await queries.takeRecoveryCode(tx, accountId, hashRecoveryCode(code), now);
  const user = left === undefined ? undefined : await findUser(tx, accountId);
  if (!user) return false;
  await enqueueMail(tx, 'second_factor', user.email, now, {
    change: 'recovery_code_used',
    left: String(left),
  });
  return true;
}
