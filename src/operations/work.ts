/** How much work there is in the whole installation, for those who watch it. Every instance says the same. */
import type { Queryable } from '../store/database.ts';
import { sql } from '../store/sql.ts';

export interface Backlog {
  readonly unfinished: readonly { kind: string; state: 'queued' | 'running'; count: number }[];
  /** Of what is due and held by nobody: limits and queues make wait, and workers that are all busy or all away. */
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
