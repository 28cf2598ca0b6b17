import { Fault } from '../../fault.ts';
import { prefixOf } from '../../network.ts';
import { normaliseEmail } from '../../principal.ts';
import type { AccountsContext, ClientTrace } from './accounts.ts';
import { enqueueMail } from './mail-outbox.ts';
import { makeAccount } from './make-account.ts';
import * as queries from './queries.ts';
import { openSession, type SignIn } from './sign-in.ts';
import { isSameOtp, otpOf, otpTries } from './tokens.ts';

export interface VerifyOtpInput {
  readonly email: string;
  readonly code: string;
}

/** Turns a registration into an account with a workspace of its own, and signs it in. */
export async function verifyOtp(
  context: AccountsContext,
  input: VerifyOtpInput,
  client: ClientTrace,
): Promise<SignIn> {
  const email = normaliseEmail(input.email);
  const now = context.clock.now();
  const attempt = await queries.takeOtpTry(context.db, email, prefixOf(client.ip), otpTries, now);
  if (!attempt || !isSameOtp(otpOf(context.masterKeys, email, attempt.seed), input.code)) throw invalidOtp();

  const signIn = await context.db.transaction(async (tx) => {
    const registration = await queries.takeRegistration(tx, email, attempt.seed);
    if (!registration) throw invalidOtp();
    const { contested, passwordHash, name, invitationId } = registration;
    // Two people named two passwords for one mailbox. Its owner holds the code, but we cannot know which
    // password is theirs: take neither, and let them set one by mail.
    const account = { email, name, passwordHash: contested ? null : passwordHash };
    const accountId = await makeAccount(tx, context, account, async (id) => {
      const hasJoined =
        invitationId !== null && (await context.invitations.join(tx, invitationId, id, email, now));
      return { isLetIn: hasJoined, hasWorkspace: hasJoined };
    });
    if (!accountId) throw invalidOtp();
    if (contested) await enqueueMail(tx, 'set_password', email, now);
    return openSession(tx, context, accountId, client);
  });
  context.wakeMail();
  return signIn;
}

/** Answers the same whoever asks; whether there is a code to send is found out when the mail is composed. */
export async function resendOtp(context: AccountsContext, input: { readonly email: string }): Promise<void> {
  await enqueueMail(context.db, 'fresh_code', normaliseEmail(input.email), context.clock.now());
  context.wakeMail();
}

function invalidOtp(): Fault {
  return new Fault('invalid_otp', 'The code is wrong, expired, already used, or was tried too often.', {
    hint: 'Ask for a fresh one with POST /auth/resend-otp. After five wrong tries, wait for two minutes before you do.',
  });
}
