/**
 * The SQL of operations. Time is the database's. What a worker writes names the epoch of its lease: with an
 * older one it touches nothing.
 */
import type { OperationId, ServerId, WorkspaceId } from '../ids.ts';
import type { Queryable } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import type { NewOperation, OperationFault, OperationState } from './operations.ts';

export function insertOperation(tx: Queryable, id: OperationId, wish: NewOperation) {
  return tx.run(sql`
    insert into operations (workspace_id, id, kind, subject_type, subject_id, server_id, input, requested_by,
      queue_key)
    values (${wish.workspaceId}, ${id}, ${wish.kind}, ${wish.subject?.type ?? null}, ${wish.subject?.id ?? null},
      ${wish.serverId ?? null}, ${JSON.stringify(wish.input)}, ${wish.requestedBy ?? null}, ${wish.queueKey ?? null})`);
}

export interface LockedOperation {
  readonly input: unknown;
  readonly kind: string;
  readonly state: OperationState;
  readonly step: string | null;
  readonly finishedAt: Date | null;
  readonly leased: boolean;
}

export function lockOperation(tx: Queryable, workspaceId: WorkspaceId, id: OperationId) {
  return tx.one<LockedOperation>(sql`
    select kind, input, state, step, finished_at as "finishedAt", coalesce(lease_until > now(), false) as leased
    from operations where workspace_id = ${workspaceId} and id = ${id} for update`);
}

/** Locks one that has not begun. False where it is at work, or someone is about to take it up. */
export async function lockWaiting(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: OperationId,
): Promise<boolean> {
  const row = await tx.one(sql`
    select 1 from operations
    where workspace_id = ${workspaceId} and id = ${id} and state = 'queued'
      and (lease_until is null or lease_until <= now())
    for update skip locked`);
  return row !== undefined;
}

export async function hasUnfinishedOn(db: Queryable, serverId: ServerId, kind: string): Promise<boolean> {
  const row = await db.one(sql`
    select 1 from operations where server_id = ${serverId} and kind = ${kind} and finished_at is null`);
  return row !== undefined;
}

export async function hasOperationOn(db: Queryable, serverId: ServerId, kind: string): Promise<boolean> {
  const row = await db.one(sql`
    select 1 from operations where server_id = ${serverId} and kind = ${kind} limit 1`);
  return row !== undefined;
}

export async function hasUnfinishedAbout(db: Queryable, subjectId: string, kind: string): Promise<boolean> {
  const row = await db.one(sql`
    select 1 from operations where subject_id = ${subjectId} and kind = ${kind} and finished_at is null`);
  return row !== undefined;
}

export async function hasUnfinished(db: Queryable, queueKey: string): Promise<boolean> {
  const row = await db.one(sql`
    select 1 from operations where queue_key = ${queueKey} and finished_at is null limit 1`);
  return row !== undefined;
}

export function cancelQueued(tx: Queryable, id: OperationId) {
  return tx.run(sql`
    update operations set state = 'cancelled', cancel_requested_at = now(), finished_at = now() where id = ${id}`);
}

/** False where it was asked before, or where it goes backwards already. Whoever runs it hears of it. */
export async function requestCancel(tx: Queryable, id: OperationId): Promise<boolean> {
  const asked = await tx.run(sql`
    with asked as (
      update operations set cancel_requested_at = now(), wake_at = now()
      where id = ${id} and cancel_requested_at is null and unwinding is null
      returning id
    )
    select pg_notify('slipway_operations', 'cancel ' || id) from asked`);
  return asked > 0;
}

export interface ClaimedOperation {
  readonly id: OperationId;
  readonly workspaceId: WorkspaceId;
  readonly kind: string;
  readonly input: unknown;
  readonly epoch: number;
  readonly unwinding: 'failed' | 'cancelled' | null;
  readonly fault: OperationFault | null;
  readonly cancelRequested: boolean;
  readonly started: boolean;
  /** Since it was asked for. */
  readonly ageSeconds: number;
}

export interface ClaimOptions {
  readonly owner: string;
  readonly kinds: readonly string[];
  readonly leaseMs: number;
  readonly perWorkspace: number;
  readonly perServer: number;
}

/**
 * Takes the oldest operation that is due, that nobody holds, that its limits allow, and before which nothing waits in
 * its queue. One claim at a time in
 * the whole installation, so that two workers cannot both see the last free place.
 */
export async function claimNext(tx: Queryable, options: ClaimOptions): Promise<ClaimedOperation | undefined> {
  await tx.run(sql`select pg_advisory_xact_lock(7175204401)`);
  const row = await tx.one<Omit<ClaimedOperation, 'epoch'> & { epoch: string }>(sql`
    with next as (
      select o.id from operations o
      where o.finished_at is null and o.wake_at <= now() and o.kind = any(${options.kinds}::text[])
        and (o.lease_until is null or o.lease_until <= now())
        and (select count(*) from operations r
             where r.workspace_id = o.workspace_id and r.finished_at is null and r.lease_until > now())
          < coalesce((select most from operation_limits where scope = 'workspace' and subject_id = o.workspace_id),
                     ${options.perWorkspace}::int)
        and (o.server_id is null or
            (select count(*) from operations r
             where r.server_id = o.server_id and r.finished_at is null and r.lease_until > now())
          < coalesce((select most from operation_limits where scope = 'server' and subject_id = o.server_id),
                     ${options.perServer}::int))
        and (o.queue_key is null or o.started_at is not null or not exists (
             select 1 from operations r
             where r.queue_key = o.queue_key and r.finished_at is null and r.id <> o.id
               and (r.started_at is not null or r.lease_until > now() or (r.created_at, r.id) < (o.created_at, o.id))))
      order by o.created_at, o.id
      limit 1
      for update of o skip locked
    )
    update operations o set
      lease_epoch = o.lease_epoch + 1,
      lease_owner = ${options.owner},
      lease_until = now() + ${options.leaseMs}::int * interval '1 millisecond'
    from next where o.id = next.id
    returning o.id, o.workspace_id as "workspaceId", o.kind, o.input, o.lease_epoch as epoch, o.unwinding, o.fault,
      o.cancel_requested_at is not null as "cancelRequested", o.started_at is not null as started,
      extract(epoch from now() - o.created_at)::float8 as "ageSeconds"`);
  return row && { ...row, epoch: Number(row.epoch) };
}

/** Keeps the leases; answers with those we still have, and whether an end was asked for. */
export function renewLeases(
  db: Queryable,
  held: readonly { id: OperationId; epoch: number }[],
  leaseMs: number,
) {
  const ids = held.map((each) => each.id);
  const epochs = held.map((each) => each.epoch);
  return db.rows<{ id: OperationId; cancelRequested: boolean }>(sql`
    update operations o set lease_until = now() + ${leaseMs}::int * interval '1 millisecond'
    from unnest(${ids}::uuid[], ${epochs}::bigint[]) as held (id, epoch)
    where o.id = held.id and o.lease_epoch = held.epoch and o.finished_at is null
    returning o.id, o.cancel_requested_at is not null as "cancelRequested"`);
}

/** Whether the operation is still of that epoch, and unfinished; it is locked then. */
export async function lockHeld(tx: Queryable, id: OperationId, epoch: number): Promise<boolean> {
  const held = await tx.one(sql`
    select 1 from operations where id = ${id} and lease_epoch = ${epoch} and finished_at is null for update`);
  return held !== undefined;
}

/** Gives the lease back, so that another worker can go on, at once or after a while. */
export function releaseLease(db: Queryable, id: OperationId, epoch: number, wakeAfterMs: number) {
  return db.run(sql`
    update operations set lease_until = null, lease_owner = null,
      wake_at = greatest(wake_at, now() + ${wakeAfterMs}::int * interval '1 millisecond')
    where id = ${id} and lease_epoch = ${epoch} and lease_until is not null and finished_at is null`);
}
