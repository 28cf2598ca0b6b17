/**
 * Durable work. Owns operations from the request to their end: the row, the journal of steps, the lease that
 * lets one worker at a time write, resuming after a crash, cancelling, undoing, and their limits. Refuses to
 * change a terminal state, and any write by a worker whose lease has passed on. Knows no kind of operation:
 * areas define them.
 */
import { appendEvents } from '../events/events.ts';
import { Fault } from '../fault.ts';
import { type AccountId, newId, type OperationId, type ServerId, type WorkspaceId } from '../ids.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { Json } from './definition.ts';
import type { OperationKinds } from './kinds.ts';
import { LeaseLost } from './lease-lost.ts';
import * as queries from './queries.ts';
import type { OperationQueue } from './queue.ts';

export type EndState = 'succeeded' | 'failed' | 'cancelled';
export type OperationState = 'queued' | 'running' | EndState;

/** Why an operation ended badly, as it is kept and shown. */
export interface OperationFault {
  readonly code: string;
  readonly step: string | null;
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
  /** When whoever refused wants to be asked again, where it said so; kept for those who ask again by themselves. */
  readonly retryAfterSeconds?: number;
}

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

/** Stores the wish in the caller's transaction: it is there from the moment the change is. */
export async function enqueueOperation(
  tx: Queryable,
  queue: OperationQueue,
  wish: NewOperation,
): Promise<OperationId> {
  const id = newId<OperationId>();
  await queries.insertOperation(tx, id, wish);
  await queue.wake(tx, id);
  const feed = { workspaceId: wish.workspaceId, feedId: id };
  await appendEvents(tx, feed, [{ kind: 'status', data: { status: 'queued' } }]);
  await publishOperationUpdate(tx, wish.workspaceId, id, wish.kind, 'queued');
  return id;
}

export function publishOperationUpdate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  operationId: OperationId,
  operationKind: string,
  status: string,
): Promise<void> {
  const data = { operationId, operationKind, status };
  return appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'operation_updated', data }]);
}

/**
 * Asks for an end. One that has not begun ends at once; one that runs is told, stops what it does, and undoes
 * what it did: it is cancelled when its state says so.
 */
export async function cancelOperation(
  db: Database,
  kinds: OperationKinds,
  workspaceId: WorkspaceId,
  id: OperationId,
): Promise<void> {
  await db.transaction((tx) => cancelIn(tx, kinds, workspaceId, id));
}

/**
 * Whether it still waits; it is then locked, so that the caller can end it with `cancelIn`. Never waits for a worker,
 * which may be waiting for what the caller has locked.
 */
export function isWaiting(tx: Queryable, workspaceId: WorkspaceId, id: OperationId): Promise<boolean> {
  return queries.lockWaiting(tx, workspaceId, id);
}

/** Whether anything waits or works in a queue. */
export function hasUnfinished(db: Queryable, queueKey: string): Promise<boolean> {
  return queries.hasUnfinished(db, queueKey);
}

/** Whether one of this kind waits or works on a server. */
export function hasUnfinishedOn(db: Queryable, serverId: ServerId, kind: string): Promise<boolean> {
  return queries.hasUnfinishedOn(db, serverId, kind);
}

/** Whether there ever was one of this kind on a server, as far back as they are kept. */
export function hasOperationOn(db: Queryable, serverId: ServerId, kind: string): Promise<boolean> {
  return queries.hasOperationOn(db, serverId, kind);
}

/** Whether one of this kind waits or works on this subject. */
export function hasUnfinishedAbout(db: Queryable, subjectId: string, kind: string): Promise<boolean> {
  return queries.hasUnfinishedAbout(db, subjectId, kind);
}

/**
 * For what a step changes in rows that later operations change, too: the caller's transaction does so only while the
 * step's worker still holds the operation. One that wakes too late would otherwise undo what came after.
 */
export async function assertLease(
  tx: Queryable,
  { operationId, epoch }: { readonly operationId: OperationId; readonly epoch: number },
): Promise<void> {
  if (!(await queries.lockHeld(tx, operationId, epoch))) throw new LeaseLost();
}

/** The same in the caller's transaction. */
export async function cancelIn(
  tx: Queryable,
  kinds: OperationKinds,
  workspaceId: WorkspaceId,
  id: OperationId,
): Promise<void> {
  const found = await queries.lockOperation(tx, workspaceId, id);
  if (!found) throw new Fault('not_found', 'There is no such operation of yours.');
  if (found.finishedAt) {
    throw new Fault('already_finished', `The operation has already ended: ${found.state}.`);
  }
  if (found.step !== null && kinds.isPastCancelling(found.kind, found.step)) {
    throw new Fault('already_finished', 'The operation has done its work and only clears up.');
  }
  const notBegun = found.state === 'queued' && !found.leased;
  const feed = { workspaceId, feedId: id };
  if (notBegun) {
    await queries.cancelQueued(tx, id);
    await kinds.onStateChange(tx, { id, workspaceId, ...found }, { state: 'cancelled', fault: null });
    const data = { status: 'cancelled' };
    await appendEvents(tx, feed, [
      { kind: 'status', data },
      { kind: 'end', data },
    ]);
    await publishOperationUpdate(tx, workspaceId, id, found.kind, 'cancelled');
  } else if (await queries.requestCancel(tx, id)) {
    await appendEvents(tx, feed, [{ kind: 'status', data: { status: 'cancelling' } }]);
    await publishOperationUpdate(tx, workspaceId, id, found.kind, 'cancelling');
  }
}
