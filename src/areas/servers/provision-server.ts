/** Provisioning on request. */
import type { AccountId, ServerId, WorkspaceId } from '../../ids.ts';
import type { SaveResponse } from '../../store/answer.ts';
import type { ServersContext } from './servers.ts';
import { provisionKind, type StartedOperation, startOnServer } from './start-operation.ts';

export function provisionServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  requestedBy: AccountId,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const work = { workspaceId, serverId, kind: provisionKind, input: { serverId }, requestedBy } as const;
  return startOnServer(ctx, work, saveResponse);
}
