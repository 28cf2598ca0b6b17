/** The SQL of connectors and of their links to projects, always by workspace. */
import type { NoticeKind } from '../../events/notices.ts';
import type { ConnectorId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { fragment, sql } from '../../store/sql.ts';
import type { DeliveryStatus } from './notifications.ts';

export interface LastDelivery {
  readonly id: string;
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly at: string;
}

interface ConnectorSettings {
  readonly id: ConnectorId;
  readonly type: string;
  readonly name: string;
  readonly events: readonly NoticeKind[];
  readonly allProjects: boolean;
  readonly target: string;
  readonly enabled: boolean;
}

export interface ConnectorRow extends ConnectorSettings {
  readonly disabledReason: string | null;
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastDelivery: LastDelivery | null;
}

export interface NewConnectorRow extends ConnectorSettings {
  readonly configSealed: Buffer;
}

export function insertConnector(tx: Queryable, workspaceId: WorkspaceId, row: NewConnectorRow, now: Date) {
  return tx.run(sql`
    insert into notification_connectors (workspace_id, id, type, name, events, all_projects, config_sealed, target,
      enabled, created_at, updated_at)
    values (${workspaceId}, ${row.id}, ${row.type}, ${row.name}, ${row.events}, ${row.allProjects},
      ${row.configSealed}, ${row.target}, ${row.enabled}, ${now}, ${now})`);
}

const selectConnectors = fragment`
  select c.id, c.type, c.name, c.events, c.all_projects as "allProjects", c.target, c.enabled,
    c.disabled_reason as "disabledReason", c.failing_since as "failingSince", c.created_at as "createdAt",
    c.updated_at as "updatedAt", d.last as "lastDelivery"
  from notification_connectors c
  left join lateral (
    select json_build_object('id', id, 'event', event, 'status', status, 'at', coalesce(attempted_at, created_at)) as last
    from notification_deliveries where workspace_id = c.workspace_id and connector_id = c.id order by id desc limit 1
  ) d on true`;

export function findConnector(db: Queryable, workspaceId: WorkspaceId, id: ConnectorId) {
  return db.one<ConnectorRow>(sql`
    ${selectConnectors} where c.workspace_id = ${workspaceId} and c.id = ${id}`);
}

export function listConnectorRows(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<ConnectorRow>(sql`
    ${selectConnectors} where c.workspace_id = ${workspaceId} and c.id < ${page.before}::uuid
    order by c.id desc limit ${page.limit}`);
}

export interface SealedConfig {
  readonly type: string;
  readonly name: string;
  readonly configSealed: Buffer;
}

export function findConnectorConfig(db: Queryable, workspaceId: WorkspaceId, id: ConnectorId) {
  return db.one<SealedConfig>(sql`
    select type, name, config_sealed as "configSealed" from notification_connectors
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Until the transaction ends, nobody else changes it or decides what it sends. */
export function lockConnector(tx: Queryable, workspaceId: WorkspaceId, id: ConnectorId) {
  return tx.one<SealedConfig & { readonly enabled: boolean }>(sql`
    select type, name, config_sealed as "configSealed", enabled from notification_connectors
    where workspace_id = ${workspaceId} and id = ${id} for update`);
}

export interface ConnectorUpdate {
  readonly name: string | null;
  readonly events: readonly NoticeKind[] | null;
  readonly allProjects: boolean | null;
  readonly enabled: boolean | null;
  readonly config: { readonly sealed: Buffer; readonly target: string } | null;
}

/** What is null stays. One that is enabled, or gets a new config, starts without failures. */
export function updateConnector(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ConnectorId,
  change: ConnectorUpdate,
  now: Date,
) {
  const isFresh = change.enabled === true || change.config !== null;
  return tx.run(sql`
    update notification_connectors set name = coalesce(${change.name}, name),
      events = coalesce(${change.events}::text[], events),
      all_projects = coalesce(${change.allProjects}::boolean, all_projects),
      enabled = coalesce(${change.enabled}::boolean, enabled),
      disabled_reason = case when ${change.enabled}::boolean is null then disabled_reason end,
      config_sealed = coalesce(${change.config?.sealed ?? null}::bytea, config_sealed),
      target = coalesce(${change.config?.target ?? null}, target),
      failures = case when ${isFresh} then 0 else failures end,
      failing_since = case when ${isFresh} then null else failing_since end,
      wake_at = case when ${isFresh} and wake_at is not null then ${now} else wake_at end,
      updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function deleteConnectorRow(tx: Queryable, workspaceId: WorkspaceId, id: ConnectorId) {
  return tx.run(sql`delete from notification_connectors where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Those of them that are this workspace's. */
export async function ownConnectors(
  tx: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly ConnectorId[],
): Promise<ConnectorId[]> {
  const rows = await tx.rows<{ id: ConnectorId }>(sql`
    select id from notification_connectors where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])
    for share`);
  return rows.map(({ id }) => id);
}

export async function replaceLinks(
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  ids: readonly ConnectorId[],
  events: readonly NoticeKind[] | null,
): Promise<void> {
  await tx.run(sql`
    delete from notification_links where workspace_id = ${workspaceId} and project_id = ${projectId}`);
  await tx.run(sql`
    insert into notification_links (workspace_id, project_id, connector_id, events)
    select ${workspaceId}, ${projectId}, id, ${events}::text[] from unnest(${ids}::uuid[]) as id`);
}

export function listLinks(db: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) {
  return db.rows<{ connectorId: ConnectorId; events: readonly NoticeKind[] | null }>(sql`
    select connector_id as "connectorId", events from notification_links
    where workspace_id = ${workspaceId} and project_id = ${projectId} order by connector_id desc`);
}
