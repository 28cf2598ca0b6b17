/**
 * Work on a server begins here, whatever its kind: the server is locked, refused where it is busy, and the operation
 * is stored in the same transaction. What shares a server's files or its way in does not run side by side.
 */
import { Fault } from '../../fault.ts';
import type { AccountId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Json } from '../../operations/definition.ts';
import { enqueueOperation, hasUnfinishedOn } from '../../operations/operations.ts';
import type { SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';

export type { StartedOperation };

import * as queries from './queries.ts';
import { notFound, type ServersContext } from './servers.ts';

export const provisionKind = 'server_provision';
export const removeKind = 'server_remove';
export const hardenKind = 'server_harden';
export const undoKind = 'server_undo_hardening';

type ServerKind = typeof provisionKind | typeof removeKind | typeof hardenKind | typeof undoKind;

/** What each has to wait for, and what it is called. */
const rivals: Readonly<Record<ServerKind, readonly ServerKind[]>> = {
  [provisionKind]: [provisionKind, removeKind],
  [hardenKind]: [hardenKind, undoKind, removeKind],
  [undoKind]: [hardenKind, undoKind, removeKind],
  [removeKind]: [removeKind, provisionKind, hardenKind, undoKind],
};

const underWay: Readonly<Record<ServerKind, string>> = {
  [provisionKind]: 'is being provisioned',
  [hardenKind]: 'is being hardened',
  [undoKind]: 'has its hardening undone',
  [removeKind]: 'is being removed',
};

export interface ServerWork {
  readonly workspaceId: WorkspaceId;
  readonly serverId: ServerId;
  readonly kind: ServerKind;
  readonly input: Json;
  readonly requestedBy?: AccountId;
}

/** In the caller's transaction, for what belongs to a change that has its own answer. */
export async function enqueueOnServer(
  tx: Queryable,
  ctx: Pick<ServersContext, 'queue'>,
  work: ServerWork,
): Promise<OperationId> {
  const { workspaceId, serverId, kind } = work;
  if (!(await queries.lockServer(tx, workspaceId, serverId))) throw notFound();
  for (const rival of rivals[kind]) {
    if (!(await hasUnfinishedOn(tx, serverId, rival))) continue;
    throw new Fault('server_busy', `The server ${underWay[rival]}.`, {
      hint: 'Wait for that operation to end, or cancel it.',
    });
  }
  return enqueueOperation(tx, ctx.queue, { ...work, subject: { type: 'server', id: serverId } });
}

export function startOnServer(
  ctx: ServersContext,
  work: ServerWork,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  return ctx.db.transaction(async (tx) => {
    const operationId = await enqueueOnServer(tx, ctx, work);
    return answerStarted(tx, work.workspaceId, operationId, saveResponse);
  });
}
