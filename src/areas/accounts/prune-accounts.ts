import { after, day } from '../../clock.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { AccountsContext } from './accounts.ts';
import { pruneLocations, pruneSessions, pruneSpentTokens } from './session-queries.ts';
import { keepLocationsMs } from './sign-in-location.ts';
import { lifetimes } from './tokens.ts';

/** Deletes what has expired: codes, tickets, links, spent tokens, and sessions a day after their end. */
export function pruneAccountsSchedule(context: Pick<AccountsContext, 'db' | 'clock'>): Schedule {
  return { name: 'tidy-accounts', cron: '*/10 * * * *', timezone: 'UTC', run: () => pruneAccounts(context) };
}

export async function pruneAccounts({ db, clock }: Pick<AccountsContext, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  await pruneSessions(db, now, after(now, -Math.max(lifetimes.registrationMs, day)));
  await pruneSpentTokens(db, after(now, -lifetimes.sessionMs));
  await pruneLocations(db, after(now, -keepLocationsMs));
}
