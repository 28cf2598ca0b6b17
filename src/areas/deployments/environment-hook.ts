/** What deployments show of an environment, and what they do when it is taken away. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { OperationKinds } from '../../operations/kinds.ts';
import { cancelOperation } from '../../operations/operations.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { EnvironmentHook } from '../environments/hooks.ts';
import * as queries from './queries.ts';

export function deploymentsHook(ctx: DeploymentEnd): EnvironmentHook {
  return { cancelWork: (workspaceId, id) => endUnfinished(ctx, workspaceId, id), show: showNewest };
}

async function showNewest(db: Queryable, workspaceId: WorkspaceId, ids: readonly EnvironmentId[]) {
  const rows = ids.length === 0 ? [] : await queries.listNewest(db, workspaceId, ids);
  return new Map(
    rows.map(({ environmentId, queuedAt, finishedAt, ...newest }) => [
      environmentId,
      {
        lastDeployment: {
          ...newest,
          queuedAt: queuedAt.toISOString(),
          finishedAt: finishedAt?.toISOString() ?? null,
        },
      },
    ]),
  );
}

interface DeploymentEnd {
  readonly db: Database;
  readonly kinds: OperationKinds;
}

/**
 * Ends whatever is asked for or at work in it. What runs undoes itself first. Each in a transaction of its own, before
 * anything is locked: who is at work may be waiting for that lock.
 */
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
