/** The SQL of operations. Time is the database's. A worker's writes carry the epoch of its lease; an older one writes nothing. */
import type { AccountId, OperationId, ProjectId, ServerId, WorkspaceId } from '../ids.ts';
import type { Queryable } from '../store/database.ts';
import { fragment, sql } from '../store/sql.ts';
import type { Json, OperationFault, OperationState } from './definition.ts';

export interface NewOperation {
  readonly workspaceId: WorkspaceId;
  readonly kind: string;
  readonly input: Json;
  readonly subject?: { readonly type: string; readonly id: string };
  readonly serverId?: ServerId;
  readonly requestedBy?: AccountId;
  /** Operations with the same key run one after the other, in the order of their making. */
  readonly queueKey?: string;
}

/** What a replaced worker meets: it has written nothing, and must not go on. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of this operation has passed on');
    this.name = 'LeaseLost';
  }
}

const released = fragment`lease_until = null, lease_owner = null`;
const isFree = fragment`(lease_until is null or lease_until <= now())`;

/** With the project that it is about, where it is about one: the database knows. */
export function insertOperation(tx: Queryable, id: OperationId, operation: NewOperation) {
  return tx.one<{ projectId: ProjectId | null }>(sql`
    insert into operations (workspace_id, id, kind, subject_type, subject_id, server_id, input, requested_by,
      queue_key)
    values (${operation.workspaceId}, ${id}, ${operation.kind}, ${operation.subject?.type ?? null}, ${operation.subject?.id ?? null},
      ${operation.serverId ?? null}, ${JSON.stringify(operation.input)}, ${operation.requestedBy ?? null}, ${operation.queueKey ?? null})
    returning project_id as "projectId"`);
}

export interface LockedOperation {
  readonly input: unknown;
  readonly kind: string;
  readonly state: OperationState;
  readonly step: string | null;
  readonly finishedAt: Date | null;
  readonly leased: boolean;
  readonly projectId: ProjectId | null;
}

export function lockOperation(tx: Queryable, workspaceId: WorkspaceId, id: OperationId) {
  return tx.one<LockedOperation>(sql`
    select kind, input, state, step, finished_at as "finishedAt", coalesce(lease_until > now(), false) as leased,
      project_id as "projectId"
    from operations where workspace_id = ${workspaceId} and id = ${id} for update`);
}

/**
 * Whether it is still queued; it is then locked, so that the caller can end it with `cancelIn`. Never waits for a worker,
 * which may be waiting for what the caller has locked.
 */
export function lockQueued(tx: Queryable, workspaceId: WorkspaceId, id: OperationId): Promise<boolean> {
  return tx.exists(sql`
    select 1 from operations
    where workspace_id = ${workspaceId} and id = ${id} and state = 'queued' and ${isFree}
    for update skip locked`);
}

/** Whether one of this kind waits or works on a server. */
export function hasUnfinishedOn(db: Queryable, serverId: ServerId, kind: string): Promise<boolean> {
  return db.exists(sql`
    select 1 from operations where server_id = ${serverId} and kind = ${kind} and finished_at is null`);
}

/** Whether there ever was one of this kind on a server, as far back as they are stored. */
export function hasOperationOn(db: Queryable, serverId: ServerId, kind: string): Promise<boolean> {
  return db.exists(sql`
    select 1 from operations where server_id = ${serverId} and kind = ${kind} limit 1`);
}

/** Whether one of this kind waits or works on this subject. */
export function hasUnfinishedAbout(db: Queryable, subjectId: string, kind: string): Promise<boolean> {
  return db.exists(sql`
    select 1 from operations where subject_id = ${subjectId} and kind = ${kind} and finished_at is null`);
}

/** Whether anything waits or works in a queue. */
export function hasUnfinishedInQueue(db: Queryable, queueKey: string): Promise<boolean> {
  return db.exists(sql`
    select 1 from operations where queue_key = ${queueKey} and finished_at is null limit 1`);
}

interface EndedOperations {
  readonly isAll: boolean;
  /** One of them that did not succeed. */
  readonly failed:
    | {
        readonly id: OperationId;
        readonly state: string;
        readonly fault: { readonly message: string } | null;
      }
    | undefined;
}

/** For work that waits for other work. */
export async function operationsEnded(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly OperationId[],
): Promise<EndedOperations> {
  const rows = await db.rows<NonNullable<EndedOperations['failed']> & { readonly isEnded: boolean }>(sql`
    select id, state, fault, finished_at is not null as "isEnded" from operations
    where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`);
  return {
    isAll: rows.every(({ isEnded }) => isEnded),
    failed: rows.find(({ isEnded, state }) => isEnded && state !== 'succeeded'),
  };
}

/** Somebody may have claimed it and died before its first step. */
export function cancelQueued(tx: Queryable, id: OperationId) {
  return tx.run(sql`
    update operations set state = 'cancelled', cancel_requested_at = now(), finished_at = now(), ${released}
    where id = ${id}`);
}

/** False where it was requested before, or the operation is being undone already. Notifies whoever runs it. */
export async function requestCancel(tx: Queryable, id: OperationId): Promise<boolean> {
  const requested = await tx.run(sql`
    with requested as (
      update operations set cancel_requested_at = now(), wake_at = now()
      where id = ${id} and cancel_requested_at is null and unwinding is null
      returning id
    )
    select pg_notify('slipway_operations', 'cancel ' || id) from requested`);
  return requested > 0;
}

export interface ClaimedOperation {
  readonly id: OperationId;
  readonly workspaceId: WorkspaceId;
  readonly projectId: ProjectId | null;
  readonly kind: string;
  readonly input: unknown;
  readonly epoch: number;
  readonly unwinding: 'failed' | 'cancelled' | null;
  readonly fault: OperationFault | null;
  readonly cancelRequested: boolean;
  readonly started: boolean;
  /** Its last worker neither ended it nor handed it over. */
  readonly isOrphan: boolean;
  /** Since it was requested. */
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
 * Claims the oldest operation that is due, unleased and within its limits, and before which nothing waits in its queue.
 * One claim at a time in the whole installation, so that two workers cannot both see the last free slot.
 */
export async function claimNext(tx: Queryable, options: ClaimOptions): Promise<ClaimedOperation | undefined> {
  await tx.run(sql`select pg_advisory_xact_lock(7175204401)`);
  const row = await tx.one<Omit<ClaimedOperation, 'epoch'> & { epoch: string }>(sql`
    with next as (
      select o.id, o.lease_owner <> ${options.owner} as orphan from operations o
      where o.finished_at is null and o.wake_at <= now() and o.kind = any(${options.kinds}::text[])
        and ${isFree}
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
    returning o.id, o.workspace_id as "workspaceId", o.project_id as "projectId", o.kind, o.input, o.lease_epoch as epoch, o.unwinding, o.fault,
      o.cancel_requested_at is not null as "cancelRequested", o.started_at is not null as started,
      coalesce(next.orphan, false) as "isOrphan", extract(epoch from now() - o.created_at)::float8 as "ageSeconds"`);
  if (row?.isOrphan) await countCrash(tx, row);
  return row && { ...row, epoch: Number(row.epoch) };
}

/** Every step that was under way is suspected: nobody is left to say which of them took the worker down. */
function countCrash(tx: Queryable, { workspaceId, id }: Pick<ClaimedOperation, 'workspaceId' | 'id'>) {
  return tx.run(sql`
    update operation_steps set crashes = crashes + 1
    where workspace_id = ${workspaceId} and operation_id = ${id} and status in ('running', 'undoing')`);
}

/** Answers with those we still have, and whether a cancel was requested. */
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

/**
 * Throws `LeaseLost` unless the operation is still of that epoch and unfinished, and locks it. Also for what a step
 * changes in rows that later operations change, too: a worker that wakes too late would otherwise undo what came after.
 */
export async function assertLease(
  tx: Queryable,
  { operationId, epoch }: { readonly operationId: OperationId; readonly epoch: number },
): Promise<void> {
  const isHeld = await tx.exists(sql`
    select 1 from operations
    where id = ${operationId} and lease_epoch = ${epoch} and finished_at is null for update`);
  if (!isHeld) throw new LeaseLost();
}

/** So that another worker can go on, at once or after a while. */
export function releaseLease(db: Queryable, id: OperationId, epoch: number, wakeAfterMs: number) {
  return db.run(sql`
    update operations set ${released},
      wake_at = greatest(wake_at, now() + ${wakeAfterMs}::int * interval '1 millisecond')
    where id = ${id} and lease_epoch = ${epoch} and lease_until is not null and finished_at is null`);
}

/** For an instance that knows that no other one lives: what they held can be claimed at once. */
export function expireLeases(db: Queryable): Promise<number> {
  return db.run(sql`
    update operations set lease_until = now() where finished_at is null and lease_until > now()`);
}

const epochsBeyond = 1_000_000;

/**
 * For a state that was restored from a backup. What was running then is long over on the servers, one way or another: it
 * is cancelled and undone, not carried out late. Servers have seen higher epochs since, so they are raised far beyond.
 */
export function cancelUnfinished(tx: Queryable): Promise<number> {
  return tx.run(sql`
    update operations set lease_epoch = lease_epoch + ${epochsBeyond}, ${released},
      cancel_requested_at = coalesce(cancel_requested_at, now()), wake_at = now()
    where finished_at is null`);
}
