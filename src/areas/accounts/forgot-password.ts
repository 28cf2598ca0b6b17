import { normaliseEmail } from '../../principal.ts';
import type { AccountsContext } from './accounts.ts';
import { oweMail } from './owed-mails.ts';

/** Answers the same whoever asks; whether there is an account is found out when the mail is written. */
export async function forgotPassword(
  context: AccountsContext,
  input: { readonly email: string },
): Promise<void> {
  await oweMail(context.db, 'reset', normaliseEmail(input.email), context.clock.now());
  context.wakeMail();
}
