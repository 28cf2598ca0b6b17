/**
 * The event log. Owns what happened, in order, for those who may read it: events are written in the same
 * transaction as the change they report, retained for a while, and read by workspace: a feed is named by its workspace
 * and its id together, so nothing written for one workspace can be read in another.
 *
 * Append last in a transaction: from then until the commit, others who append to the same feed wait.
 */
import type { AnalysisId, DeploymentId, OperationId, WorkspaceId } from '../ids.ts';
import type { Queryable } from '../store/database.ts';
import { inBatches } from '../store/in-batches.ts';
import { sql } from '../store/sql.ts';
import type { News } from './event-kinds.ts';

/** A workspace's own feed has the workspace's id, any other the id of its subject. */
export interface FeedKey {
  readonly workspaceId: WorkspaceId;
  readonly feedId: WorkspaceId | OperationId | AnalysisId | DeploymentId;
}

/** What names a feed among all: an id alone would let one workspace speak of another's. */
export function feedName({ workspaceId, feedId }: FeedKey): string {
  return `${workspaceId}/${feedId}`;
}

export interface StoredEvent {
  readonly position: number;
  readonly kind: string;
  readonly data: Record<string, unknown>;
  readonly at: Date;
}

export interface FeedState {
  /** The newest position; 0 where nothing has happened yet. */
  readonly position: number;
  readonly prunedTo: number;
}

/** Name the feed's kind of event, as `appendEvents<WorkspaceEvent>`: what is written is then what the document says. */
export async function appendEvents<Event = { readonly kind: string; readonly [field: string]: unknown }>(
  tx: Queryable,
  feed: FeedKey,
  events: readonly (News<Event> & { readonly kind: string; readonly data: object })[],
): Promise<void> {
  if (events.length === 0) return;
  const kinds = events.map((each) => each.kind);
  const data = events.map((each) => JSON.stringify(each.data));
  await tx.run(sql`
    with head as (
      insert into event_feeds as f (workspace_id, id, position)
      values (${feed.workspaceId}, ${feed.feedId}, ${events.length})
      on conflict (workspace_id, id) do update set position = f.position + excluded.position
      returning position
    ), added as (
      insert into events (workspace_id, feed_id, position, kind, data, at)
      select ${feed.workspaceId}, ${feed.feedId}, head.position - ${events.length}::bigint + news.place,
        news.kind, news.data::jsonb, clock_timestamp()
      from head, unnest(${kinds}::text[], ${data}::text[]) with ordinality as news (kind, data, place)
    )
    select pg_notify('slipway_events', ${feedName(feed)} || ' ' || position) from head`);
}

export async function feedState(db: Queryable, feed: FeedKey): Promise<FeedState> {
  const row = await db.one<{ position: string; prunedTo: string }>(sql`
    select position, pruned_to as "prunedTo" from event_feeds
    where workspace_id = ${feed.workspaceId} and id = ${feed.feedId}`);
  return { position: Number(row?.position ?? 0), prunedTo: Number(row?.prunedTo ?? 0) };
}

/** How much of it is stored: whoever lets others write into it keeps it within bounds. */
export async function feedSize(
  db: Queryable,
  { workspaceId, feedId }: FeedKey,
): Promise<{ readonly events: number; readonly bytes: number }> {
  const row = await db.one<{ events: number; bytes: string }>(sql`
    select count(*)::int as events, coalesce(sum(pg_column_size(data)), 0) as bytes from events
    where workspace_id = ${workspaceId} and feed_id = ${feedId}`);
  return { events: row?.events ?? 0, bytes: Number(row?.bytes ?? 0) };
}

export interface EventRange {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

/** The events after one position, up to another, in order. */
export async function readEvents(db: Queryable, feed: FeedKey, range: EventRange): Promise<StoredEvent[]> {
  const rows = await db.rows<Omit<StoredEvent, 'position'> & { position: string }>(sql`
    select position, kind, data, at from events
    where workspace_id = ${feed.workspaceId} and feed_id = ${feed.feedId}
      and position > ${range.after} and position <= ${range.upTo}
    order by position
    limit ${range.limit}`);
  return rows.map((row) => ({ ...row, position: Number(row.position) }));
}

/**
 * Removes what is older than the settings keep, and notes how far, so that nobody mistakes it for a gap. A feed that is
 * over goes with its last event. One that somebody appends to just now is left for the next time: to wait for it here
 * could be to wait for each other.
 */
export function pruneEvents(db: Queryable, before: Date): Promise<number> {
  return inBatches(async (from) => {
    const row = await db.one<{ count: number; last: Date | null }>(sql`
      with old as (
        select ctid as place, workspace_id, feed_id from events where at >= ${from} and at < ${before}
        order by at limit 5000
      ), feeds as (
        select f.workspace_id, f.id, f.position from (select distinct workspace_id, feed_id from old) o
        join event_feeds f on f.workspace_id = o.workspace_id and f.id = o.feed_id
        for update of f skip locked
      ), gone as (
        delete from events where ctid = any(array(
          select o.place from old o join feeds f on f.workspace_id = o.workspace_id and f.id = o.feed_id))
        returning workspace_id, feed_id, position, kind, at
      ), shorter as (
        select f.workspace_id, f.id, max(g.position) as position,
          bool_or(g.kind = 'end') and max(g.position) = max(f.position) as is_over
        from gone g join feeds f on f.workspace_id = g.workspace_id and f.id = g.feed_id group by f.workspace_id, f.id
      ), over as (
        delete from event_feeds f using shorter s where s.is_over and f.workspace_id = s.workspace_id and f.id = s.id
      ), kept as (
        update event_feeds f set pruned_to = greatest(f.pruned_to, s.position)
        from shorter s where not s.is_over and f.workspace_id = s.workspace_id and f.id = s.id
      )
      select count(*)::int as count, max(at) as last from gone`);
    return { count: row?.count ?? 0, last: row?.last ?? null };
  });
}
