import { after, day } from '../../clock.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { AccountsContext } from './accounts.ts';
import { removeEndedSessions, removeOldPlaces, removeSpentTokens } from './session-queries.ts';
import { placesKeptMs } from './sign-in-place.ts';
import { lifetimes } from './tokens.ts';

/** Removes now and then what has expired: codes, tickets, links, spent tokens, and sessions a day after their end. */
export function tidySchedule(context: Pick<AccountsContext, 'db' | 'clock'>): Schedule {
  return { name: 'tidy-accounts', cron: '*/10 * * * *', timezone: 'UTC', run: () => tidyAccounts(context) };
}

export async function tidyAccounts({ db, clock }: Pick<AccountsContext, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await removeEndedSessions(db, now, after(now, -Math.max(lifetimes.registrationMs, day)));
  await removeSpentTokens(db, after(now, -lifetimes.sessionMs));
  await removeOldPlaces(db, after(now, -placesKeptMs));
}
