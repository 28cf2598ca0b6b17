/**
 * Removes a project: its webhook at the provider first, then its environments with all that runs of them, then what we
 * know of it. The mirror goes with time.
 */
import { minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { SaveResponse } from '../../store/answer.ts';
import type { Database } from '../../store/database.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import type { ProjectHooks, ProjectRemoval } from './hooks.ts';
import { publishProjectEvent } from './projects.ts';
import { deleteProject } from './queries.ts';
import { lockSource, readSource } from './read-source.ts';

export const removeProjectKind = 'project_remove';

export interface ProjectRemovalContext {
  readonly db: Database;
  readonly queue: OperationQueue;
  readonly hooks: ProjectHooks;
}

export async function startProjectRemoval(
  ctx: ProjectRemovalContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  removal: ProjectRemoval,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  await readSource(ctx.db, workspaceId, id);
  for (const hook of ctx.hooks) await hook.beforeRemoval?.(workspaceId, id, removal);
  return ctx.db.transaction(async (tx) => {
    await lockSource(tx, workspaceId, id);
    for (const hook of ctx.hooks) await hook.removalStarted?.(tx, workspaceId, id, removal);
    const operationId = await enqueueOperation(tx, ctx.queue, {
      workspaceId,
      kind: removeProjectKind,
      input: { projectId: id },
      requestedBy: removal.requestedBy,
      subject: { type: 'project', id },
    });
    return answerStarted(tx, workspaceId, operationId, saveResponse);
  });
}

export function removeProjectOperation(ctx: ProjectRemovalContext): OperationKind {
  return defineOperation<{ projectId: ProjectId }>({
    kind: removeProjectKind,
    readInput: (stored) => ({ projectId: String(Object(stored).projectId) as ProjectId }),
    steps: [
      {
        name: 'hook',
        deadlineMs: minute,
        undo: { none: 'A hook is made again by switching auto-deploy on.' },
        run: async ({ projectId }, { workspaceId }) => {
          for (const hook of ctx.hooks) await hook.disconnect?.(workspaceId, projectId);
          return undefined;
        },
      },
      {
        name: 'environments',
        deadlineMs: minute,
        undo: { none: 'Environments that are gone are made anew.' },
        // They go on their own; this only waits, for up to an hour and a half.
        retry: { attempts: 400, firstMs: 500, maxMs: 15_000, when: isStillLeaving },
        run: async ({ projectId }, { workspaceId }) => {
          for (const hook of ctx.hooks) {
            const left = (await hook.remaining?.(workspaceId, projectId)) ?? 0;
            if (left > 0) throw stillLeaving(left);
          }
          return undefined;
        },
      },
      {
        name: 'forget',
        deadlineMs: minute,
        undo: { none: 'It is the last step.' },
        run: async ({ projectId }, { workspaceId }) => {
          await ctx.db.transaction(async (tx) => {
            // A second run finds it gone, which is what was wanted.
            if ((await deleteProject(tx, workspaceId, projectId)) === 0) return;
            await publishProjectEvent(tx, workspaceId, projectId, { reason: 'deleted' });
          });
          return undefined;
        },
      },
    ],
  });
}

function stillLeaving(left: number): Fault {
  return new Fault('in_use', `${left} environments of the project are still being taken off their servers.`, {
    hint: 'See their operations for what holds them up, then delete the project again.',
  });
}

function isStillLeaving(error: unknown): boolean {
  return error instanceof Fault && error.code === 'in_use';
}
