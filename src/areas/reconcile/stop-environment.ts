/** Stops an application: visitors are told so, what they asked for is finished, then its containers and services stop. */
import { minute } from '../../clock.ts';
import type { AccountId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import type { SaveResponse } from '../../store/answer.ts';
import {
  lockEnvironment,
  setStatus,
  setWanted,
  tryLockEnvironment,
} from '../environments/environment-state.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { transientRetry } from '../releases/transient-retry.ts';
import { hasServices } from '../services/read-services.ts';
import { stopServices } from '../services/stop-services.ts';
import {
  enqueueEnvironmentWork,
  environmentOf,
  type Input,
  type ReconcileContext,
  readInput,
  stopKind,
  targetOf,
} from './reconcile.ts';
import { stopApp } from './stop-app.ts';

export function stopEnvironment(
  ctx: ReconcileContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  requestedBy: AccountId,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, id);
    await setWanted(tx, workspaceId, id, 'stopped', ctx.clock.now());
    const operationId = await enqueueEnvironmentWork(tx, ctx, {
      workspaceId,
      environment,
      kind: stopKind,
      requestedBy,
    });
    return answerStarted(tx, workspaceId, operationId, saveResponse);
  });
}

export function stopOperation(ctx: ReconcileContext): OperationKind {
  return defineOperation<Input>({
    kind: stopKind,
    readInput,
    onStateChange: async (tx, { workspaceId, input }, change) => {
      if (change.state !== 'succeeded') return;
      const environment = await tryLockEnvironment(tx, workspaceId, input.environmentId);
      if (!environment || environment.currentReleaseId === null) return;
      const { projectId } = environment;
      await setStatus(tx, workspaceId, input.environmentId, 'stopped', null, ctx.clock.now());
      const news = { reason: 'environment', environmentId: input.environmentId, status: 'stopped' } as const;
      await publishProjectEvent(tx, workspaceId, projectId, news);
    },
    steps: [
      {
        name: 'stop',
        deadlineMs: 150 * minute,
        retry: transientRetry,
        undo: { none: 'A start puts everything back; until then it is what was asked for.' },
        run: async (input, step) => {
          const environment = await environmentOf(ctx, input, step);
          if (environment.currentReleaseId === null) return undefined;
          const target = await targetOf(ctx, environment, step);
          await stopApp(ctx, target, environment);
          if (await hasServices(ctx.db, step.workspaceId, environment.id)) await stopServices(ctx, target);
          return undefined;
        },
      },
    ],
  });
}
