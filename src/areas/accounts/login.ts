import { Fault } from '../../fault.ts';
import { normaliseEmail } from '../../principal.ts';
import type { AccountsContext, ClientTrace } from './accounts.ts';
import { enqueueMail } from './mail-outbox.ts';
import { checkPassword, passwordTag } from './passwords.ts';
import { findCredentials, lockPassword } from './queries.ts';
import { beginSession, type SecondFactorNeeded } from './second-factors/challenges.ts';
import type { SignIn } from './sign-in.ts';

export interface LoginInput {
  readonly email: string;
  readonly password: string;
}

/** One lookup and one password check, whether the address is known or not. A second factor is asked for after that. */
export async function login(
  context: AccountsContext,
  input: LoginInput,
  client: ClientTrace,
): Promise<SignIn | SecondFactorNeeded> {
  const email = normaliseEmail(input.email);
  const credentials = await findCredentials(context.db, email);
  const { accountId = null, passwordHash = null, registrationTag = null } = credentials ?? {};
  const matches = await checkPassword(input.password, passwordHash);
  if (accountId && passwordHash && matches) {
    const signIn = await context.db.transaction(async (tx) => {
      // A reset may have gone by while we were hashing: who knows only the old password must not stay.
      const locked = await lockPassword(tx, accountId, passwordHash);
      if (!locked) throw invalidCredentials();
      return beginSession(tx, context, { accountId, ...locked }, client);
    });
    // It may have come from a new location.
    context.wakeMail();
    return signIn;
  }
  // Anyone may register any address, so the answer to their own password must not tell whether it has an account.
  if (registrationTag !== passwordTag(context.masterKeys, email, input.password)) throw invalidCredentials();
  await enqueueMail(context.db, 'fresh_code', email, context.clock.now());
  context.wakeMail();
  throw new Fault(
    'email_not_verified',
    'The address has not been confirmed yet. A fresh code is on its way.',
    {
      hint: 'Send the code with POST /auth/verify-otp.',
    },
  );
}

function invalidCredentials(): Fault {
  return new Fault('invalid_credentials', 'The e-mail address or the password is wrong.');
}
