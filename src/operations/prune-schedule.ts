import { day, hour } from '../clock.ts';
import { pruneEvents } from '../events/events.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { Schedule } from './queue.ts';

/** For how long a request that is sent again gets the answer to the first one. */
export const answersKeptMs = 24 * hour;

/** Every hour, once in the whole installation: removes the events and the answers that have had their time. */
export function pruneSchedule(db: Database, keepDays: number): Schedule {
  return {
    name: 'prune-events',
    cron: '17 * * * *',
    timezone: 'UTC',
    run: async () => {
      const now = Date.now();
      await pruneEvents(db, new Date(now - keepDays * day));
      await db.run(sql`delete from idempotency_keys where claimed_at < ${new Date(now - answersKeptMs)}`);
    },
  };
}
