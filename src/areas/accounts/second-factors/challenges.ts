/**
 * The second step of a sign-in. A password that is right opens a challenge where the account has a second factor, and the
 * session where it has none. A challenge is for one account, for whoever began it, for a few minutes and a few tries; it
 * ends with its success, with a new password, and with every change of the account's factors.
 */
import { after } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import type { AccountId } from '../../../ids.ts';
import { unnoted } from '../../../store/change-note.ts';
import type { Queryable } from '../../../store/database.ts';
import type { AccountsContext, ClientTrace } from '../accounts.ts';
import { openSession, type SignIn } from '../sign-in.ts';
import { locationOf } from '../sign-in-location.ts';
import { hashOpaqueToken, lifetimes, newOpaqueToken } from '../tokens.ts';
import { type AssertionOptions, assertionOptions } from './passkey-ceremony.ts';
import { type Method, methodsOf, type Proof, takeProof, tryProof } from './proof.ts';
import * as queries from './queries.ts';

const mostTries = 5;

export interface Challenge {
  readonly challenge: string;
  readonly methods: Method[];
  /** For `navigator.credentials.get()`, where there are passkeys. */
  readonly passkey?: AssertionOptions;
  readonly expiresAt: string;
}

export interface SecondFactorNeeded {
  readonly secondFactor: Challenge;
}

/**
 * Where the first step of a sign-in ends, however it was made: in the transaction that locked the account, so that a factor
 * which is turned on meanwhile is asked for.
 */
export async function beginSession(
  tx: Queryable,
  context: AccountsContext,
  { accountId, secondFactor }: { readonly accountId: AccountId; readonly secondFactor: boolean },
  client: ClientTrace,
): Promise<SignIn | SecondFactorNeeded> {
  if (!secondFactor) return openSession(tx, context, accountId, client);
  return { secondFactor: await openChallenge(tx, context, accountId, 'sign_in', client) };
}

export async function openChallenge(
  tx: Queryable,
  context: AccountsContext,
  accountId: AccountId,
  purpose: queries.ChallengePurpose,
  client: ClientTrace,
): Promise<Challenge> {
  const { token, hash } = newOpaqueToken('challenge');
  const expiresAt = after(context.clock.now(), lifetimes.challengeMs);
  const location = locationOf(client);
  await queries.insertChallenge(tx, { tokenHash: hash, accountId, purpose, location, expiresAt });
  return show(tx, context, accountId, token, expiresAt);
}

/** For a page that was not there when the sign-in was begun: the browser came back from a provider. */
export async function readChallenge(
  context: AccountsContext,
  token: string | undefined,
  client: ClientTrace,
): Promise<Challenge> {
  if (token === undefined) throw invalidChallenge();
  const wanted = {
    tokenHash: hashOpaqueToken(token),
    purpose: 'sign_in',
    location: locationOf(client),
  } as const;
  const found = await queries.findChallenge(context.db, wanted, mostTries, context.clock.now());
  if (!found) throw invalidChallenge();
  return show(context.db, context, found.accountId, token, found.expiresAt);
}

async function show(
  tx: Queryable,
  context: AccountsContext,
  accountId: AccountId,
  token: string,
  expiresAt: Date,
): Promise<Challenge> {
  const methods = await methodsOf(tx, accountId);
  const passkeys = methods.includes('passkey') ? await queries.listPasskeys(tx, accountId) : [];
  return {
    challenge: token,
    methods,
    ...(passkeys.length > 0 && { passkey: assertionOptions(context.publicUrl(), token, passkeys) }),
    expiresAt: expiresAt.toISOString(),
  };
}

export async function completeSignIn(
  context: AccountsContext,
  challenge: string,
  proof: Proof,
  client: ClientTrace,
): Promise<SignIn> {
  const { accountId, tokenHash } = await takeChallengeTry(context, challenge, 'sign_in', client);
  const signIn = await tryProof(context, accountId, () =>
    context.db.transaction(async (tx) => {
      if (!(await queries.deleteChallenge(tx, tokenHash))) throw invalidChallenge();
      await takeProof(tx, context, accountId, proof);
      return openSession(tx, context, accountId, client, { changes: { secondFactor: proof.method } });
    }),
  );
  context.wakeMail();
  return signIn;
}

export async function takeChallengeTry(
  { db, clock }: AccountsContext,
  challenge: string,
  purpose: queries.ChallengePurpose,
  client: ClientTrace,
): Promise<{ accountId: AccountId; tokenHash: Buffer }> {
  const tokenHash = hashOpaqueToken(challenge);
  const wanted = { tokenHash, purpose, location: locationOf(client) };
  const accountId = await unnoted(() => queries.takeChallengeTry(db, wanted, mostTries, clock.now()));
  if (!accountId) throw invalidChallenge();
  return { accountId, tokenHash };
}

export function invalidChallenge(): Fault {
  return new Fault(
    'invalid_challenge',
    'The challenge is unknown, expired, already used, was tried too often, or was begun elsewhere.',
    { hint: 'Begin again: a challenge is for five minutes, five tries, and for whoever began it.' },
  );
}
