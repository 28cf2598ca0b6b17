/** Takes a project away: its hook at the provider first, then what we know of it. The mirror goes with time. */
import type { AccountId, ProjectId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { Answer, Remember } from '../../store/answer.ts';
import { readOperation } from '../operations/operations.ts';
import { removeHook } from '../pushes/install-hook.ts';
import type { PushesContext } from '../pushes/pushes.ts';
import { notFound, tellProject } from './projects.ts';
import * as queries from './queries.ts';

const removeKind = 'project_remove';
const minute = 60_000;

export function startProjectRemoval(
  ctx: PushesContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  requestedBy: AccountId,
  remember: Remember,
): Promise<Answer<Awaited<ReturnType<typeof readOperation>>>> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockProject(tx, workspaceId, id))) throw notFound();
    const subject = { type: 'project', id };
    const wish = { workspaceId, kind: removeKind, input: { projectId: id }, requestedBy, subject };
    const operationId = await enqueueOperation(tx, ctx.queue, wish);
    const body = await readOperation(tx, workspaceId, operationId);
    return remember(tx, { status: 202, location: `/api/v1/operations/${operationId}`, body });
  });
}

export function removeProjectOperation(ctx: PushesContext): OperationKind {
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
        name: 'forget',
        deadlineMs: minute,
        undo: { none: 'It is the last step.' },
        run: async ({ projectId }, { workspaceId }) => {
          await ctx.db.transaction(async (tx) => {
            // A second run finds it gone, which is what was wanted.
            if ((await queries.deleteProject(tx, workspaceId, projectId)) === 0) return;
            await tellProject(tx, workspaceId, projectId, { reason: 'deleted' });
          });
          return undefined;
        },
      },
    ],
  });
}
