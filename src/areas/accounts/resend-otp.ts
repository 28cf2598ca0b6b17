import { normaliseEmail } from '../../principal.ts';
import type { AccountsContext } from './accounts.ts';
import { oweMail } from './owed-mails.ts';

/** Answers the same whoever asks; whether there is a code to send is found out when the mail is written. */
export async function resendOtp(context: AccountsContext, input: { readonly email: string }): Promise<void> {
  await oweMail(context.db, 'fresh_code', normaliseEmail(input.email), context.clock.now());
  context.wakeMail();
}
