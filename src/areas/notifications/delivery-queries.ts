/** The SQL of deliveries: who is notified of what, what there is to send, and how it ended. */
import { after } from '../../clock.ts';
import {
  type ConnectorId,
  type NoticeId,
  type NotificationDeliveryId,
  newId,
  type WorkspaceId,
} from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { inBatches } from '../../store/in-batches.ts';
import { sql } from '../../store/sql.ts';
import type { DeliveryStatus } from './notifications.ts';

export interface Subscription {
  readonly workspaceId: WorkspaceId;
  readonly noticeId: NoticeId;
  readonly connectorId: ConnectorId;
  readonly event: string;
}

/**
 * Which connectors subscribe to which of these notices. Of a project: those linked to it, by the events of the link or
 * else their own, and those of all projects. Of the workspace: by their own events.
 */
export function findSubscriptions(
  tx: Queryable,
  notices: readonly {
    readonly id: NoticeId;
    readonly workspaceId: WorkspaceId;
    readonly kind: string;
    readonly projectId: string | null;
  }[],
) {
  const of = <T>(pick: (notice: (typeof notices)[number]) => T) => notices.map(pick);
  return tx.rows<Subscription>(sql`
    select n.workspace_id as "workspaceId", n.id as "noticeId", c.id as "connectorId", n.kind as event
    from unnest(${of(({ id }) => id)}::uuid[], ${of(({ workspaceId }) => workspaceId)}::uuid[],
      ${of(({ kind }) => kind)}::text[], ${of(({ projectId }) => projectId ?? '')}::text[])
      with ordinality as n (id, workspace_id, kind, project_id, place)
    join notification_connectors c on c.workspace_id = n.workspace_id and c.enabled
    left join notification_links l on l.workspace_id = n.workspace_id and l.connector_id = c.id
      and l.project_id = nullif(n.project_id, '')::uuid
    where n.kind = any(case
      when n.project_id = '' then c.events
      when l.connector_id is not null then coalesce(l.events, c.events)
      when c.all_projects then c.events
      else '{}' end)
    order by n.place`);
}

export async function insertDeliveries(
  tx: Queryable,
  rows: readonly Subscription[],
  now: Date,
): Promise<void> {
  const of = <T>(pick: (row: Subscription) => T) => rows.map(pick);
  await tx.run(sql`
    insert into notification_deliveries (workspace_id, id, connector_id, notice_id, event, status, created_at)
    select workspace_id, id, connector_id, notice_id, event, 'pending', ${now}
    from unnest(${of(({ workspaceId }) => workspaceId)}::uuid[], ${of(() => newId<NotificationDeliveryId>())}::uuid[],
      ${of(({ connectorId }) => connectorId)}::uuid[], ${of(({ noticeId }) => noticeId)}::uuid[],
      ${of(({ event }) => event)}::text[]) as d (workspace_id, id, connector_id, notice_id, event)
    on conflict do nothing`);
  // In one order everywhere, so that two who do this never wait for each other.
  const connectors = [...new Set(of(({ connectorId }) => connectorId))].sort();
  await tx.run(sql`
    with these as (
      select workspace_id, id from notification_connectors where id = any(${connectors}::uuid[]) order by id for update
    )
    update notification_connectors c
    set wake_at = case when failures > 0 then coalesce(c.wake_at, ${now}) else least(coalesce(c.wake_at, ${now}), ${now}) end
    from these where c.workspace_id = these.workspace_id and c.id = these.id`);
}

export type PendingDelivery = Pick<
  NotificationDeliveryRow,
  'id' | 'noticeId' | 'messageId' | 'status' | 'attempts' | 'createdAt'
>;

export function listPending(tx: Queryable, workspaceId: WorkspaceId, connectorId: ConnectorId, most: number) {
  return tx.rows<PendingDelivery>(sql`
    select id, notice_id as "noticeId", message_id as "messageId", status, attempts, created_at as "createdAt"
    from notification_deliveries
    where workspace_id = ${workspaceId} and connector_id = ${connectorId} and status in ('pending', 'sending')
    order by message_id is null, id limit ${most}`);
}

/** How many messages were attempted since then. */
export async function countRecent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  connectorId: ConnectorId,
  since: Date,
): Promise<number> {
  const row = await tx.one<{ count: number }>(sql`
    select count(distinct message_id)::int as count from (
      select message_id, attempted_at from notification_deliveries
      where workspace_id = ${workspaceId} and connector_id = ${connectorId} order by id desc limit 100
    ) as latest where attempted_at > ${since}`);
  return row?.count ?? 0;
}

export function setMessage(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly NotificationDeliveryId[],
  messageId: string,
) {
  return tx.run(sql`
    update notification_deliveries set message_id = ${messageId}
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`);
}

export function setSending(tx: Queryable, workspaceId: WorkspaceId, messageId: string, now: Date) {
  return tx.run(sql`
    update notification_deliveries set status = 'sending', attempts = attempts + 1, attempted_at = ${now}
    where workspace_id = ${workspaceId} and message_id = ${messageId} and status in ('pending', 'sending')`);
}

export interface Result {
  readonly status: DeliveryStatus;
  readonly answerStatus: number | null;
  readonly latencyMs: number | null;
  readonly detail: string;
}

/** Also where another instance has given up on it meanwhile: what is known of its end counts. */
export function setResult(
  tx: Queryable,
  workspaceId: WorkspaceId,
  messageId: string,
  result: Result,
  now: Date,
) {
  const finishedAt = result.status === 'pending' ? null : now;
  return tx.run(sql`
    update notification_deliveries set status = ${result.status}, answer_status = ${result.answerStatus},
      latency_ms = ${result.latencyMs}, detail = ${result.detail}, finished_at = ${finishedAt}
    where workspace_id = ${workspaceId} and message_id = ${messageId} and status in ('sending', 'pending', 'unknown')`);
}

export function endPending(
  tx: Queryable,
  workspaceId: WorkspaceId,
  connectorId: ConnectorId,
  detail: string,
  now: Date,
) {
  return tx.run(sql`
    update notification_deliveries set status = case when status = 'sending' then 'unknown' else 'failed' end,
      detail = ${detail}, finished_at = ${now}
    where workspace_id = ${workspaceId} and connector_id = ${connectorId} and status in ('pending', 'sending')`);
}

export function insertTest(
  tx: Queryable,
  workspaceId: WorkspaceId,
  row: { readonly id: NotificationDeliveryId; readonly connectorId: ConnectorId; readonly messageId: string },
  result: Result,
  now: Date,
) {
  const startedAt = after(now, -(result.latencyMs ?? 0));
  return tx.run(sql`
    insert into notification_deliveries (workspace_id, id, connector_id, event, message_id, status, attempts,
      answer_status, latency_ms, detail, created_at, attempted_at, finished_at)
    values (${workspaceId}, ${row.id}, ${row.connectorId}, 'test', ${row.messageId}, ${result.status}, 1,
      ${result.answerStatus}, ${result.latencyMs}, ${result.detail}, ${startedAt}, ${startedAt}, ${now})`);
}

export interface NotificationDeliveryRow extends Omit<Result, 'detail'> {
  readonly id: NotificationDeliveryId;
  readonly noticeId: NoticeId | null;
  readonly messageId: string | null;
  readonly event: string;
  readonly attempts: number;
  readonly detail: string | null;
  readonly createdAt: Date;
  readonly attemptedAt: Date | null;
  readonly finishedAt: Date | null;
}

export function listDeliveryRows(
  db: Queryable,
  workspaceId: WorkspaceId,
  connectorId: ConnectorId,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<NotificationDeliveryRow>(sql`
    select id, notice_id as "noticeId", message_id as "messageId", event, status, attempts,
      answer_status as "answerStatus", latency_ms as "latencyMs", detail, created_at as "createdAt",
      attempted_at as "attemptedAt", finished_at as "finishedAt"
    from notification_deliveries
    where workspace_id = ${workspaceId} and connector_id = ${connectorId}
      and id < ${page.before}::uuid
    order by id desc limit ${page.limit}`);
}

export function pruneDeliveries(db: Queryable, before: Date) {
  return inBatches(async () => ({
    last: null,
    count: await db.run(sql`
      delete from notification_deliveries where id = any(array(
        select id from notification_deliveries where created_at < ${before} order by created_at limit 5000))`),
  }));
}
