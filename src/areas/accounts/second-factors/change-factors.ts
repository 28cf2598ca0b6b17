/**
 * Every change of an account's second factors: one after the other, told by mail, and no challenge outlives it. With the
 * first factor come recovery codes, and every other session ends: those were opened with a password alone. With the last
 * factor the recovery codes go.
 */
import { writeAccountEntry } from '../../../events/audit.ts';
import { Fault } from '../../../fault.ts';
import type { AccountId } from '../../../ids.ts';
import { normaliseEmail, type Principal } from '../../../principal.ts';
import type { Database, Queryable } from '../../../store/database.ts';
import type { AccountsContext } from '../accounts.ts';
import { enqueueMail } from '../mail-outbox.ts';
import { findAccountByEmail } from '../queries.ts';
import { endOtherSessions } from '../session-queries.ts';
import { sessionOf } from '../sessions.ts';
import { invalidChallenge } from './challenges.ts';
import * as queries from './queries.ts';
import { newRecoveryCodes } from './recovery-codes.ts';

type Change = 'totp_on' | 'totp_off' | 'passkey_added' | 'passkey_removed' | 'recovery_codes_renewed';

/** Shown once. */
export interface GivenCodes {
  readonly recoveryCodes?: string[];
}

export async function changeFactors(
  { db, clock, wakeMail }: AccountsContext,
  principal: Principal,
  change: Change,
  work: (tx: Queryable, now: Date) => Promise<void>,
  /** What the change was begun with, where it was: taken by one caller. */
  tokenHash?: Buffer,
): Promise<GivenCodes> {
  const { accountId } = principal;
  const now = clock.now();
  const given = await db.transaction(async (tx) => {
    const { email, secondFactor: hadOne } = await lockForChange(tx, accountId, tokenHash);
    await work(tx, now);
    const hasOne = await queries.noteFactors(tx, accountId);
    await enqueueMail(tx, 'second_factor', email, now, { change });
    if (!hasOne) await queries.deleteRecoveryCodes(tx, accountId);
    if (hadOne || !hasOne) return {};
    await endOtherSessions(tx, accountId, sessionOf(principal), now);
    return { recoveryCodes: await giveRecoveryCodes(tx, accountId, now) };
  });
  wakeMail();
  return given;
}

/** They take the place of all before. */
export async function renewRecoveryCodes(
  context: AccountsContext,
  principal: Principal,
): Promise<Required<GivenCodes>> {
  let recoveryCodes: string[] = [];
  await changeFactors(context, principal, 'recovery_codes_renewed', async (tx, now) => {
    const factors = await queries.findFactors(tx, principal.accountId);
    if (!factors || (factors.totpSince === null && factors.passkeys === 0))
      throw new Fault('no_second_factor', 'Recovery codes stand in for a second factor, and you have none.', {
        hint: 'Turn one on with POST /auth/totp, or register a passkey with POST /auth/passkeys/options.',
      });
    recoveryCodes = await giveRecoveryCodes(tx, principal.accountId, now);
  });
  return { recoveryCodes };
}

/**
 * For whoever runs the machine, where somebody has lost both the phone and the codes. In the audit log it is done by the
 * service itself. Nobody is signed in by it: the password is asked for as before.
 */
export async function removeAllFactors(db: Database, email: string, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    const account = await findAccountByEmail(tx, normaliseEmail(email));
    if (!account) throw new Fault('state_refused', `There is no account of ${email}.`);
    const { email: address } = await lockForChange(tx, account.id);
    if ((await queries.deleteAllFactors(tx, account.id)) === 0)
      throw new Fault('state_refused', `${email} has no second factor.`);
    await queries.noteFactors(tx, account.id);
    await queries.forgetTries(tx, account.id);
    await enqueueMail(tx, 'second_factor', address, now, { change: 'all_removed' });
    const subject = { type: 'account', id: account.id };
    const entry = { actor: { kind: 'service' }, action: 'removeSecondFactors', subject } as const;
    await writeAccountEntry(tx, account.id, entry);
  });
}

/** The challenges first, as whoever completes one does: so neither waits for the other in a circle. */
async function lockForChange(tx: Queryable, accountId: AccountId, tokenHash?: Buffer) {
  const account = await queries.lockAccount(tx, accountId);
  if (!account) throw new Fault('not_found', 'This account does not exist any more.');
  if (tokenHash && !(await queries.deleteChallenge(tx, tokenHash))) throw invalidChallenge();
  await queries.deleteChallenges(tx, accountId);
  return account;
}

async function giveRecoveryCodes(tx: Queryable, accountId: AccountId, now: Date): Promise<string[]> {
  const { codes, hashes } = newRecoveryCodes();
  await queries.replaceRecoveryCodes(tx, accountId, hashes, now);
  return [...codes];
}
