import { Fault } from '../../fault.ts';
import { type AccountsContext, type ClientTrace, normaliseEmail } from './accounts.ts';
import { oweMail } from './owed-mails.ts';
import { checkPassword } from './passwords.ts';
import { findCredentials } from './queries.ts';
import { openSession, type SignIn } from './sign-in.ts';

export interface LoginInput {
  readonly email: string;
  readonly password: string;
}

/** One lookup and one password check, whether the address is known or not. */
export async function login(
  context: AccountsContext,
  input: LoginInput,
  client: ClientTrace,
): Promise<SignIn> {
  const email = normaliseEmail(input.email);
  const credentials = await findCredentials(context.db, email);
  const matches = await checkPassword(input.password, credentials?.passwordHash);
  if (!credentials || !matches) {
    throw new Fault('invalid_credentials', 'The e-mail address or the password is wrong.');
  }
  const { accountId } = credentials;
  if (accountId === null) {
    await oweMail(context.db, 'fresh_code', email, context.clock.now());
    context.wakeMail();
    throw new Fault(
      'email_not_verified',
      'The address has not been confirmed yet. A fresh code is on its way.',
      {
        hint: 'Send the code with POST /api/v1/auth/verify-otp.',
      },
    );
  }
  return context.db.transaction((tx) => openSession(tx, context, accountId, client));
}
