/**
 * A fresh proof, for what an unattended screen must not be enough for: of the second factor where the account has one, of
 * the password where it has none.
 */
import { Fault } from '../../../fault.ts';
import type { Principal } from '../../../principal.ts';
import type { AccountsContext, ClientTrace } from '../accounts.ts';
import { checkPassword } from '../passwords.ts';
import { findPasswordHash } from '../queries.ts';
import { setProven } from '../session-queries.ts';
import { sessionOf } from '../sessions.ts';
import { invalidChallenge, openChallenge, takeChallengeTry } from './challenges.ts';
import { type Proof, takeProof, tryProof } from './proof.ts';
import { deleteChallenge } from './queries.ts';

export type Confirmation = { readonly password: string } | Proof;

export async function confirm(
  context: AccountsContext,
  principal: Principal,
  given: Confirmation,
  client: ClientTrace,
): Promise<void> {
  if ('password' in given) await confirmPassword(context, principal, given.password);
  else await confirmFactor(context, principal, given, client);
}

/** For a passkey, which signs a challenge; what else there is to prove with is told along. */
export function beginConfirm(context: AccountsContext, { accountId }: Principal, client: ClientTrace) {
  return context.db.transaction((tx) => openChallenge(tx, context, accountId, 'confirm', client));
}

async function confirmPassword(
  { db, clock }: AccountsContext,
  principal: Principal,
  password: string,
): Promise<void> {
  const hash = await findPasswordHash(db, principal.accountId);
  if (!(await checkPassword(password, hash)) || hash === null)
    throw new Fault('invalid_credentials', 'The password is wrong.', {
      hint: 'Check it, or ask for a new one with POST /auth/forgot-password.',
    });
  if (principal.secondFactor) throw secondFactorRequired('the password');
  await setProven(db, sessionOf(principal), clock.now());
}

export function secondFactorRequired(given: string): Fault {
  return new Fault(
    'second_factor_required',
    `This account has a second factor: ${given} alone proves nothing.`,
    {
      hint: 'Send `{"method": "totp", "code": …}` with POST /api/v1/auth/confirm; for a passkey, ask for a challenge with POST /api/v1/auth/confirm/challenge.',
    },
  );
}

async function confirmFactor(
  context: AccountsContext,
  principal: Principal,
  proof: Proof,
  client: ClientTrace,
): Promise<void> {
  const { accountId } = principal;
  const begun =
    proof.method === 'passkey'
      ? await takeChallengeTry(context, proof.challenge, 'confirm', client)
      : undefined;
  if (begun && begun.accountId !== accountId) throw invalidChallenge();
  await tryProof(context, accountId, () =>
    context.db.transaction(async (tx) => {
      if (begun && !(await deleteChallenge(tx, begun.tokenHash))) throw invalidChallenge();
      await takeProof(tx, context, accountId, proof);
      await setProven(tx, sessionOf(principal), context.clock.now());
    }),
  );
  context.wakeMail();
}
