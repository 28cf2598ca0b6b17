import type { Logger } from 'pino';
import { after, day, minute } from '../../clock.ts';
import { errorText } from '../../fault.ts';
import type { AccountsContext } from './accounts.ts';
import { removeEndedSessions } from './session-queries.ts';
import { lifetimes } from './tokens.ts';

const everyMs = 10 * minute;

/** Removes now and then what has expired: codes, tickets, links, and sessions a day after their end. */
export function keepAccountsTidy(context: AccountsContext, log: Logger): () => void {
  const tidy = () =>
    tidyAccounts(context).catch((error) =>
      log.warn({ reason: errorText(error) }, 'could not tidy, trying again'),
    );
  const timer = setInterval(tidy, everyMs).unref();
  return () => clearInterval(timer);
}

export async function tidyAccounts({ db, clock }: Pick<AccountsContext, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await removeEndedSessions(db, now, after(now, -Math.max(lifetimes.registrationMs, day)));
}
