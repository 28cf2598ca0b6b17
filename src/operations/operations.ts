/**
 * Durable work. Owns operations from the request to their end: the row, the journal of steps, the lease that
 * lets one worker at a time write, resuming after a crash, cancelling, undoing, and their limits. Refuses to
 * change a terminal state, and any write by a worker whose lease has passed on. Knows no kind of operation:
 * areas define them.
 */
import { noteOperation } from '../events/audit.ts';
import type { OperationEvent, OperationStatus, WorkspaceEvent } from '../events/event-kinds.ts';
import { appendEvents } from '../events/events.ts';
import { Fault } from '../fault.ts';
import { newId, type OperationId, type ProjectId, type WorkspaceId } from '../ids.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { OperationKinds } from './kinds.ts';
import * as queries from './queries.ts';
import type { OperationQueue } from './queue.ts';

export type { EndState, OperationFault, OperationState } from './definition.ts';
export {
  assertLease,
  cancelUnfinished,
  expireLeases,
  hasOperationOn,
  hasUnfinishedAbout,
  hasUnfinishedInQueue,
  hasUnfinishedOn,
  lockQueued,
  type NewOperation,
  operationsEnded,
} from './queries.ts';

/** In the caller's transaction: the operation exists from the moment the change does. */
export async function enqueueOperation(
  tx: Queryable,
  queue: OperationQueue,
  operation: queries.NewOperation,
): Promise<OperationId> {
  const id = newId<OperationId>();
  const inserted = await queries.insertOperation(tx, id, operation);
  await queue.wake(tx, id);
  await noteOperation(tx, operation.workspaceId, operation);
  const { workspaceId, kind } = operation;
  const projectId = inserted?.projectId ?? null;
  const feed = { workspaceId, feedId: id };
  await appendEvents<OperationEvent>(tx, feed, [{ kind: 'status', data: { status: 'queued' } }]);
  await publishOperationUpdate(tx, { workspaceId, id, kind, projectId }, 'queued');
  return id;
}

interface UpdatedOperation {
  readonly workspaceId: WorkspaceId;
  readonly id: OperationId;
  readonly kind: string;
  readonly projectId: ProjectId | null;
}

export function publishOperationUpdate(
  tx: Queryable,
  { workspaceId, id, kind, projectId }: UpdatedOperation,
  status: OperationStatus,
): Promise<void> {
  const data = { operationId: id, operationKind: kind, ...(projectId && { projectId }), status };
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'operation_updated', data },
  ]);
}

/**
 * Requests an end. An operation that has not begun ends at once; a running one stops its step and undoes what it did: it
 * is cancelled when its state says so.
 */
export async function cancelOperation(
  db: Database,
  kinds: OperationKinds,
  workspaceId: WorkspaceId,
  id: OperationId,
): Promise<void> {
  await db.transaction((tx) => cancelIn(tx, kinds, workspaceId, id));
}

/** The same in the caller's transaction. */
export async function cancelIn(
  tx: Queryable,
  kinds: OperationKinds,
  workspaceId: WorkspaceId,
  id: OperationId,
): Promise<void> {
  const found = await queries.lockOperation(tx, workspaceId, id);
  if (!found) throw new Fault('not_found', 'No such operation.');
  if (found.finishedAt) {
    throw new Fault('already_finished', `The operation has already ended: ${found.state}.`);
  }
  if (found.step !== null && kinds.isPostCommitStep(found.kind, found.step)) {
    throw new Fault('already_finished', 'The operation has done its work and only cleans up.');
  }
  const isQueued = found.state === 'queued' && !found.leased;
  const feed = { workspaceId, feedId: id };
  if (isQueued) {
    await queries.cancelQueued(tx, id);
    await kinds.onStateChange(tx, { id, workspaceId, ...found }, { state: 'cancelled', fault: null });
    const data = { status: 'cancelled' } as const;
    await appendEvents<OperationEvent>(tx, feed, [
      { kind: 'status', data },
      { kind: 'end', data },
    ]);
    await publishOperationUpdate(tx, { workspaceId, id, ...found }, 'cancelled');
  } else if (await queries.requestCancel(tx, id)) {
    await appendEvents<OperationEvent>(tx, feed, [{ kind: 'status', data: { status: 'cancelling' } }]);
    await publishOperationUpdate(tx, { workspaceId, id, ...found }, 'cancelling');
  }
}
