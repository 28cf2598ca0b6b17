/** What was written while a wave was under way, read when it is over: rows, journals and events tell the same story. */
import type { Database } from '../../src/store/database.ts';
import { type Query, sql } from '../../src/store/sql.ts';

export interface EndedOperation {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly fault: { readonly code: string; readonly step: string | null } | null;
}

export async function now(db: Database): Promise<Date> {
  const row = await db.one<{ now: Date }>(sql`select clock_timestamp() as now`);
  if (!row) throw new Error('the database has no time');
  return row.now;
}

export function operationsSince(db: Database, since: Date): Promise<EndedOperation[]> {
  return db.rows<EndedOperation>(sql`
    select id, kind, state, fault from operations where created_at >= ${since} order by created_at`);
}

export async function unfinished(db: Database): Promise<string[]> {
  const rows = await db.rows<{ kind: string }>(sql`select kind from operations where finished_at is null`);
  return rows.map(({ kind }) => kind);
}

/** Each finds what must not be; `what` says so of every row it finds. */
function questions(since: Date): readonly { readonly what: string; readonly query: Query }[] {
  return [
    {
      what: 'an operation has not ended, or keeps a lease after its end',
      query: sql`select id, kind, state from operations where finished_at is null or lease_until is not null`,
    },
    {
      what: 'an operation has not exactly one end in its events, as the last one and as its row says',
      query: sql`
        select o.id, o.kind, o.state from operations o where o.created_at >= ${since} and (
          (select count(*) from events e where e.feed_id = o.id and e.kind = 'end') <> 1
          or (select e.kind || ' ' || (e.data ->> 'status') from events e where e.feed_id = o.id
              order by position desc limit 1) is distinct from 'end ' || o.state
          or (select e.data ->> 'status' from events e where e.feed_id = o.id order by position limit 1)
            is distinct from 'queued')`,
    },
    {
      what: 'an operation succeeded although a step of it has not ended',
      query: sql`
        select o.id, o.kind, s.name, s.status from operations o join operation_steps s on s.operation_id = o.id
        where o.created_at >= ${since} and o.state = 'succeeded' and s.status not in ('done', 'failed')`,
    },
    {
      what: 'a feed has a gap',
      query: sql`
        select f.id, f.position from event_feeds f
        where f.position - f.pruned_to <> (select count(*) from events e where e.feed_id = f.id)`,
    },
    {
      what: 'two operations of one queue were at work at the same time',
      query: sql`
        select one.id, one.kind, other.id as other, other.kind as "otherKind" from operations one
        join operations other on other.queue_key = one.queue_key and other.id > one.id
        where one.created_at >= ${since} and one.started_at < other.finished_at and other.started_at < one.finished_at`,
    },
    {
      what: 'a deployment ended otherwise than its operation',
      query: sql`
        select d.id, d.status, o.state from deployments d left join operations o on o.id = d.operation_id
        where d.queued_at >= ${since} and o.state is distinct from
          case d.status when 'superseded' then 'cancelled' else d.status end`,
    },
    {
      what: 'an environment does not point to its newest deployment that succeeded',
      query: sql`
        select e.id, e.current_deployment from environments e where e.current_deployment is distinct from
          (select d.id from deployments d where d.environment_id = e.id and d.status = 'succeeded'
           order by d.number desc limit 1)`,
    },
    {
      // A backup that is made before data is replaced is good, whatever becomes of that.
      what: 'a backup or a restore ended otherwise than its operation, or not at all',
      query: sql`
        select b.id, b.status, o.state from backups b left join operations o on o.id = b.operation_id
        where b.created_at >= ${since} and (b.finished_at is null or b.operation_id is not null and
          b.trigger not in ('pre_restore', 'pre_import') and b.status <> case o.state when 'succeeded' then 'succeeded' else 'failed' end)
        union all
        select r.id, r.status, o.state from backup_restores r left join operations o on o.id = r.operation_id
        where r.created_at >= ${since} and r.status <> 'uploading' and (r.finished_at is null or
          r.operation_id is not null and r.status <> case o.state when 'succeeded' then 'succeeded' else 'failed' end)`,
    },
  ];
}

export async function historyWrongs(db: Database, since: Date): Promise<string[]> {
  const wrong: string[] = [];
  for (const { what, query } of questions(since))
    for (const row of await db.rows(query)) wrong.push(`${what}: ${JSON.stringify(row)}`);
  return wrong;
}
