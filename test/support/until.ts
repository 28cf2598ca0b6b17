/** Waiting for something to become true, instead of for time to pass. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/store/database.ts';
import { sql } from '../../src/store/sql.ts';

/** No test is about this limit: it ends one that hangs, and is generous to the slowest machine under load. */
export const hangMs = 600_000;

/** Asks until there is an answer other than undefined, or false. What waits in vain may look up why. */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  what: string | (() => Promise<string>) = `this to become true: ${ask}`,
  withinMs = hangMs,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  // Each question costs the very service that is waited for, so those about something slow come less often.
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.2, 100)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) {
      const awaited = typeof what === 'string' ? what : await what();
      throw new Error(`waited ${withinMs} ms for ${awaited}`);
    }
    await sleep(pauseMs);
  }
}

/** How many statements in this database stand before a lock. */
export async function waitingForLocks(db: Database): Promise<number> {
  // On a connection of its own: on one that reads share, it would wait behind the one that waits.
  const row = await db.session((own) =>
    own.one<{ count: number }>(sql`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`),
  );
  return row?.count ?? 0;
}
