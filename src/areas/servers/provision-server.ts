/** Provisioning on request. */
import type { AccountId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Answer, Remember } from '../../store/answer.ts';
import { readOperation } from '../operations/operations.ts';
import { startProvisioning } from './provision.ts';
import * as queries from './queries.ts';
import { notFound, type ServersContext } from './servers.ts';

export function provisionServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  accountId: AccountId,
  remember: Remember,
): Promise<Answer<Awaited<ReturnType<typeof readOperation>>>> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockServer(tx, workspaceId, id))) throw notFound();
    const operationId = await startProvisioning(tx, ctx, workspaceId, id, accountId);
    const body = await readOperation(tx, workspaceId, operationId);
    return remember(tx, { status: 202, location: `/api/v1/operations/${operationId}`, body });
  });
}
