/** Waiting for something to become true, instead of for time to pass. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/store/database.ts';
import { sql } from '../../src/store/sql.ts';

export async function until(isTrue: () => Promise<boolean> | boolean, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`it did not become true within ${withinMs} ms: ${isTrue}`);
    await sleep(10);
  }
}

/** How many statements in this database stand before a lock. */
export async function waitingForLocks(db: Database): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return row?.count ?? 0;
}
