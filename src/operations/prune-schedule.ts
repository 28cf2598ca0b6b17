import { day, hour } from '../clock.ts';
import { pruneEvents } from '../events/events.ts';
import type { Database } from '../store/database.ts';
import { inBatches } from '../store/in-batches.ts';
import { sql } from '../store/sql.ts';
import type { OperationKinds } from './kinds.ts';
import { pruneOperations } from './prune-operations.ts';
import type { Schedule } from './queue.ts';

/** For how long a request that is sent again gets the answer to the first one. */
export const answersKeptMs = 24 * hour;

export interface Kept {
  readonly eventDays: number;
  readonly operationDays: number;
}

/** Every hour, once in the whole installation: removes the events, operations and answers that have had their time. */
export function pruneSchedule(db: Database, kinds: OperationKinds, kept: Kept): Schedule {
  return {
    name: 'prune-events',
    cron: '17 * * * *',
    timezone: 'UTC',
    run: async () => {
      const now = Date.now();
      await pruneEvents(db, new Date(now - kept.eventDays * day));
      await pruneOperations(db, kinds, new Date(now - kept.operationDays * day));
      await pruneAnswers(db, new Date(now - answersKeptMs));
    },
  };
}

function pruneAnswers(db: Database, before: Date): Promise<number> {
  return inBatches(async () => ({
    last: null,
    count: await db.run(sql`
      delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where claimed_at < ${before} order by claimed_at limit 5000))`),
  }));
}
