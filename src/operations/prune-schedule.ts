import { day } from '../clock.ts';
import { pruneEvents } from '../events/events.ts';
import type { Database } from '../store/database.ts';
import type { Schedule } from './queue.ts';

/** Every hour, once in the whole installation: removes the events that are older than the settings keep. */
export function pruneSchedule(db: Database, keepDays: number): Schedule {
  return {
    name: 'prune-events',
    cron: '17 * * * *',
    timezone: 'UTC',
    run: async () => {
      await pruneEvents(db, new Date(Date.now() - keepDays * day));
    },
  };
}
