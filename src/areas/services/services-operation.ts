/** The services of an environment become what is wanted, as a durable operation. */
import { minute } from '../../clock.ts';
import type { EnvironmentId } from '../../ids.ts';
import { defineOperation, type OperationKind, type Step } from '../../operations/definition.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { serverRetry } from '../servers/connection/server-retry.ts';
import { servicesKind } from './change-services.ts';
import { ensureServices } from './ensure-services.ts';
import { openServicesTarget } from './open-services-target.ts';
import * as queries from './queries.ts';
import type { ServiceRequestsContext } from './services.ts';
import { deleteRemoved } from './stop-services.ts';

interface Input {
  readonly environmentId: EnvironmentId;
  readonly deleteData: boolean;
}

export function servicesOperation(ctx: ServiceRequestsContext): OperationKind {
  const steps: Step<Input>[] = [
    {
      name: 'ensure',
      deadlineMs: 30 * minute,
      retry: serverRetry,
      undo: { none: 'What runs goes on running, and data is kept; the next input goes on from there.' },
      run: async ({ environmentId }, context) => {
        const found = await openServicesTarget(ctx, context.workspaceId, environmentId, context);
        if (!found) return undefined;
        const isStarting = found.wanted === 'running';
        const isChanged = await ensureServices(ctx, found.target, {
          isStarting,
          log: (line) => context.log(line),
        });
        if (!isChanged) context.log('all services are as they are wanted already');
        return undefined;
      },
    },
    {
      name: 'delete_data',
      deadlineMs: 10 * minute,
      retry: serverRetry,
      undo: { none: 'Deleted data cannot be brought back.' },
      run: async ({ environmentId, deleteData }, context) => {
        const found = deleteData
          ? await openServicesTarget(ctx, context.workspaceId, environmentId, context)
          : undefined;
        if (!found) return undefined;
        const gone = await deleteRemoved(ctx, found.target);
        if (gone.length > 0) context.log(`deleted the data of ${gone.length} removed services`);
        return undefined;
      },
    },
    {
      name: 'mark',
      deadlineMs: minute,
      undo: { none: 'It only tells what is.' },
      run: async ({ environmentId }, { workspaceId }) => {
        await ctx.db.transaction(async (tx) => {
          const { projectId } = await lockEnvironment(tx, workspaceId, environmentId);
          await publishProjectEvent(tx, workspaceId, projectId, { reason: 'services_ready', environmentId });
        });
        return undefined;
      },
    },
  ];
  return defineOperation({
    kind: servicesKind,
    readInput,
    steps,
    onStateChange: async (tx, { workspaceId, input }, change) => {
      if (change.state !== 'failed' && change.state !== 'cancelled') return;
      const { code, message, hint, evidence } = change.fault ?? cancelled;
      const problem = { code, message, hint, evidence };
      await queries.failUnfinished(tx, workspaceId, input.environmentId, problem, ctx.clock.now());
    },
  });
}

const cancelled = {
  code: 'cancelled',
  message: 'The work on the services was cancelled.',
  hint: 'Ask for them again.',
  evidence: null,
};

function readInput(stored: unknown): Input {
  const { environmentId, deleteData } = Object(stored);
  if (typeof environmentId !== 'string' || typeof deleteData !== 'boolean')
    throw new Error('an input without an environment');
  return { environmentId: environmentId as EnvironmentId, deleteData };
}
