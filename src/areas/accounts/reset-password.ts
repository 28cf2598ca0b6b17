import { Fault } from '../../fault.ts';
import { normaliseEmail } from '../../principal.ts';
import type { AccountsContext, ClientTrace } from './accounts.ts';
import { recordDevice } from './devices.ts';
import { enqueueMail } from './mail-outbox.ts';
import { hashPassword, refuseCommonPassword } from './passwords.ts';
import * as queries from './queries.ts';
import { deleteChallenges, forgetTries } from './second-factors/queries.ts';
import * as sessions from './session-queries.ts';
import { recordAccountAction } from './sign-in.ts';
import { hashOpaqueToken } from './tokens.ts';

export interface ResetPasswordInput {
  readonly token: string;
  readonly password: string;
}

/** Answers the same whoever asks; whether there is an account is found out when the mail is composed. */
export async function forgotPassword(
  context: AccountsContext,
  input: { readonly email: string },
): Promise<void> {
  await enqueueMail(context.db, 'reset', normaliseEmail(input.email), context.clock.now());
  context.wakeMail();
}

/**
 * Sets a new password, ends every session of the account and forgets its devices, the thief's among them. The device that
 * it was done from is known then: its owner can sign in from there, however many others guess meanwhile.
 */
export async function resetPassword(
  context: AccountsContext,
  input: ResetPasswordInput,
  client: ClientTrace,
): Promise<string | undefined> {
  await refuseCommonPassword(input.password);
  const tokenHash = hashOpaqueToken(input.token);
  // Looked at first so that a made-up token costs us no hashing; taken below, where only one caller can.
  if (!(await queries.isResetLive(context.db, tokenHash, context.clock.now()))) throw invalidResetToken();
  const passwordHash = await hashPassword(input.password);
  const deviceToken = await context.db.transaction(async (tx) => {
    const now = context.clock.now();
    const accountId = await queries.takeReset(tx, tokenHash, now);
    const email = accountId && (await queries.setPassword(tx, accountId, passwordHash));
    if (!accountId || !email) throw invalidResetToken();
    await sessions.endAllSessions(tx, accountId, now);
    await sessions.forgetDevices(tx, accountId);
    // What the old password had begun, and what was counted against it, ends with it. The second factor stays.
    await deleteChallenges(tx, accountId);
    await forgetTries(tx, accountId);
    await enqueueMail(tx, 'password_changed', email, now);
    await recordAccountAction(tx, accountId, 'resetPassword', client);
    return recordDevice(tx, accountId, client, now);
  });
  context.wakeMail();
  return deviceToken;
}

function invalidResetToken(): Fault {
  return new Fault('invalid_reset_token', 'The reset link is unknown, expired or already used.', {
    hint: 'Ask for a new one with POST /auth/forgot-password.',
  });
}
