/**
 * Ends whatever is asked for or at work in an environment: for those who take it away. What runs undoes itself first.
 * Each in a transaction of its own, before anything is locked: who is at work may be waiting for that lock.
 */
import { Fault } from '../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { OperationKinds } from '../../operations/kinds.ts';
import { cancelOperation } from '../../operations/operations.ts';
import type { Database } from '../../store/database.ts';
import type { EnvironmentHook } from '../environments/hooks.ts';
import * as queries from './queries.ts';

export function deploymentsHook(ctx: DeploymentEnd): EnvironmentHook {
  return { cancelWork: (workspaceId, id) => endUnfinished(ctx, workspaceId, id) };
}

interface DeploymentEnd {
  readonly db: Database;
  readonly kinds: OperationKinds;
}

async function endUnfinished(
  ctx: DeploymentEnd,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<void> {
  for (const { operationId } of await queries.listUnfinished(ctx.db, workspaceId, environmentId)) {
    try {
      await cancelOperation(ctx.db, ctx.kinds, workspaceId, operationId);
    } catch (error) {
      // Ended by itself meanwhile: that is what was wanted.
      if (!(error instanceof Fault) || error.code !== 'already_finished') throw error;
    }
  }
}
