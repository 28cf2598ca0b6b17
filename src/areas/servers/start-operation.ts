/**
 * Starts operations on servers: the server is locked, refused where it is busy, and the operation is stored in the same
 * transaction. Operations that share a server's files or its access do not run concurrently.
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
import { type ServersContext, serverNotFound } from './servers.ts';

export const provisionKind = 'server_provision';
export const removeServerKind = 'server_remove';
export const hardenKind = 'server_harden';
export const undoKind = 'server_undo_hardening';

type ServerKind = typeof provisionKind | typeof removeServerKind | typeof hardenKind | typeof undoKind;

/** What each conflicts with. */
const conflicts: Readonly<Record<ServerKind, readonly ServerKind[]>> = {
  [provisionKind]: [provisionKind, removeServerKind],
  [hardenKind]: [hardenKind, undoKind, removeServerKind],
  [undoKind]: [hardenKind, undoKind, removeServerKind],
  [removeServerKind]: [removeServerKind, provisionKind, hardenKind, undoKind],
};

const inProgress: Readonly<Record<ServerKind, string>> = {
  [provisionKind]: 'is being provisioned',
  [hardenKind]: 'is being hardened',
  [undoKind]: 'has its hardening undone',
  [removeServerKind]: 'is being removed',
};

export interface ServerOperation {
  readonly workspaceId: WorkspaceId;
  readonly serverId: ServerId;
  readonly kind: ServerKind;
  readonly input: Json;
  readonly requestedBy?: AccountId;
}

/** In the caller's transaction, for a change that has its own response. */
export async function enqueueOnServer(
  tx: Queryable,
  ctx: Pick<ServersContext, 'queue'>,
  work: ServerOperation,
): Promise<OperationId> {
  const { workspaceId, serverId, kind } = work;
  if (!(await queries.lockServer(tx, { workspaceId, id: serverId }))) throw serverNotFound();
  for (const other of conflicts[kind]) {
    if (!(await hasUnfinishedOn(tx, serverId, other))) continue;
    throw new Fault('server_busy', `The server ${inProgress[other]}.`, {
      hint: 'Wait for that operation to end, or cancel it.',
    });
  }
  return enqueueOperation(tx, ctx.queue, { ...work, subject: { type: 'server', id: serverId } });
}

export function startOnServer(
  ctx: ServersContext,
  work: ServerOperation,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  return ctx.db.transaction(async (tx) => {
    const operationId = await enqueueOnServer(tx, ctx, work);
    return answerStarted(tx, work.workspaceId, operationId, saveResponse);
  });
}
