/** How much work waits in the whole installation, for monitoring. Every instance reports the same. */
import type { Queryable } from '../store/database.ts';
import { sql } from '../store/sql.ts';

export interface Backlog {
  readonly unfinished: readonly { kind: string; state: 'queued' | 'running'; count: number }[];
  /** Of what is due and unleased: because of limits and queues, or because all workers are busy or down. */
  readonly longestWaitSeconds: number;
}

export async function readBacklog(db: Queryable): Promise<Backlog> {
  const rows = await db.rows<Backlog['unfinished'][number] & { waitSeconds: number | null }>(sql`
    select kind, state, count(*)::int as count,
      (max(extract(epoch from now() - wake_at))
        filter (where wake_at <= now() and (lease_until is null or lease_until <= now())))::float8 as "waitSeconds"
    from operations where finished_at is null
    group by kind, state order by kind, state`);
  const longestWaitSeconds = Math.max(0, ...rows.map(({ waitSeconds }) => waitSeconds ?? 0));
  return { unfinished: rows, longestWaitSeconds };
}
