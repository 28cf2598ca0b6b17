/** The SQL of leases: one instance at a time sends by a connector, for as long as its lease is valid. */
import type { ConnectorId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export interface ConnectorLease {
  readonly workspaceId: WorkspaceId;
  readonly id: ConnectorId;
  readonly owner: string;
}

export function leaseConnector(db: Queryable, owner: string, now: Date, until: Date) {
  return db.one<ConnectorLease>(sql`
    with due as (
      select workspace_id, id from notification_connectors
      where wake_at <= ${now} and (lease_until is null or lease_until <= ${now})
      order by wake_at limit 1 for update skip locked
    )
    update notification_connectors c set lease_owner = ${owner}, lease_until = ${until} from due
    where c.workspace_id = due.workspace_id and c.id = due.id
    returning c.workspace_id as "workspaceId", c.id, c.lease_owner as owner`);
}

/** When the next connector is due; undefined where none is. */
export async function nextWake(db: Queryable): Promise<Date | undefined> {
  const row = await db.one<{ at: Date | null }>(sql`
    select min(greatest(wake_at, coalesce(lease_until, wake_at))) as at
    from notification_connectors where wake_at is not null`);
  return row?.at ?? undefined;
}

export interface LeasedConnector {
  readonly type: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly configSealed: Buffer;
  readonly failures: number;
  readonly failingSince: Date | null;
}

/** Locked, with the lease renewed; undefined where it is gone or another instance has it. */
export function lockLeased(tx: Queryable, { workspaceId, id, owner }: ConnectorLease, until: Date) {
  return tx.one<LeasedConnector>(sql`
    update notification_connectors set lease_until = ${until}
    where workspace_id = ${workspaceId} and id = ${id} and lease_owner = ${owner}
    returning type, name, enabled, config_sealed as "configSealed", failures, failing_since as "failingSince"`);
}

export function extendLease(db: Queryable, { workspaceId, id, owner }: ConnectorLease, until: Date) {
  return db.run(sql`
    update notification_connectors set lease_until = ${until}
    where workspace_id = ${workspaceId} and id = ${id} and lease_owner = ${owner}`);
}

/** Due again at `wakeAt`; never, where that is null. */
export function releaseConnector(
  db: Queryable,
  { workspaceId, id, owner }: ConnectorLease,
  wakeAt: Date | null,
) {
  return db.run(sql`
    update notification_connectors set wake_at = ${wakeAt}, lease_owner = null, lease_until = null
    where workspace_id = ${workspaceId} and id = ${id} and lease_owner = ${owner}`);
}

export function setHealth(
  tx: Queryable,
  { workspaceId, id }: Pick<ConnectorLease, 'workspaceId' | 'id'>,
  health: { readonly failures: number; readonly failingSince: Date | null },
) {
  return tx.run(sql`
    update notification_connectors set failures = ${health.failures}, failing_since = ${health.failingSince}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Of a connector that works after all: what waits for its next attempt is due now. */
export function resetHealth(tx: Queryable, workspaceId: WorkspaceId, id: ConnectorId, now: Date) {
  return tx.run(sql`
    update notification_connectors set failures = 0, failing_since = null,
      wake_at = case when wake_at is null then null else ${now}::timestamptz end
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function disableConnector(
  tx: Queryable,
  { workspaceId, id }: Pick<ConnectorLease, 'workspaceId' | 'id'>,
  reason: string,
  now: Date,
) {
  return tx.run(sql`
    update notification_connectors set enabled = false, disabled_reason = ${reason}, wake_at = null, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}
