/**
 * Takes a project away: its hook at the provider first, then its environments with all that runs of them, then what we
 * know of it. The mirror goes with time.
 */
import { minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { SaveResponse } from '../../store/answer.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { deleteProject } from '../projects/find-projects.ts';
import { tellProject } from '../projects/projects.ts';
import { lockSource, readSource } from '../projects/read-source.ts';
import { removeHook } from '../pushes/install-hook.ts';
import type { AssemblyContext } from './assembly.ts';
import type { RemovalWish } from './remove-environment.ts';
import { enqueueRemovals, environmentsLeft, prepareRemovals } from './remove-environments.ts';

const removeKind = 'project_remove';

export async function startProjectRemoval(
  ctx: AssemblyContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  asked: RemovalWish,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  await readSource(ctx.db, workspaceId, id);
  await prepareRemovals(ctx, workspaceId, id, asked.deleteData);
  return ctx.db.transaction(async (tx) => {
    await lockSource(tx, workspaceId, id);
    const { requestedBy } = asked;
    await enqueueRemovals(tx, ctx, workspaceId, id, asked);
    const subject = { type: 'project', id };
    const wish = { workspaceId, kind: removeKind, input: { projectId: id }, requestedBy, subject };
    const operationId = await enqueueOperation(tx, ctx.queue, wish);
    return answerStarted(tx, workspaceId, operationId, saveResponse);
  });
}

export function removeProjectOperation(ctx: AssemblyContext): OperationKind {
  return defineOperation<{ projectId: ProjectId }>({
    kind: removeKind,
    readInput: (stored) => ({ projectId: String(Object(stored).projectId) as ProjectId }),
    steps: [
      {
        name: 'hook',
        deadlineMs: minute,
        undo: { none: 'A hook is made again by switching auto-deploy on.' },
        run: async ({ projectId }, { workspaceId }) => {
          await removeHook(ctx, workspaceId, projectId);
          return undefined;
        },
      },
      {
        name: 'environments',
        deadlineMs: minute,
        undo: { none: 'Environments that are gone are made anew.' },
        // They go on their own; this only waits, for up to an hour and a half.
        retry: { attempts: 400, firstMs: 500, mostMs: 15_000, when: isStillLeaving },
        run: async ({ projectId }, { workspaceId }) => {
          const left = await environmentsLeft(ctx.db, workspaceId, projectId);
          if (left > 0) throw stillLeaving(left);
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
            if (!(await deleteProject(tx, workspaceId, projectId))) return;
            await tellProject(tx, workspaceId, projectId, { reason: 'deleted' });
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
