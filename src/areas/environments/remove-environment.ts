/**
 * Removes an environment: what is at work on it ends first, then everything of it is taken off its servers, then it is
 * deleted. Data goes only where the user said so; where nothing is said, it is refused rather than guessed.
 */
import { minute } from '../../clock.ts';
import { errorText, Fault } from '../../fault.ts';
import type { AccountId, EnvironmentId, OperationId, ProjectId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { readOperation } from '../operations/operations.ts';
import type { ProjectHook } from '../projects/hooks.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { isPlaceUnavailable, serverRetry } from '../servers/connection/server-retry.ts';
import type { EnvironmentsContext } from './context.ts';
import { deleteEnvironment, lockEnvironment, readEnvironmentState } from './environment-state.ts';
import { environmentNotFound } from './environments.ts';
import { dataOf } from './hooks.ts';
import { openTarget } from './placement/open-target.ts';
import { placementsOf, removePlacement } from './placement/placements.ts';
import { listOfProjects } from './queries.ts';

const removeKind = 'environment_remove';

export interface EnvironmentRemoval {
  readonly deleteData: boolean | undefined;
  /** Does not wait for a server that is gone. */
  readonly force: boolean;
  readonly requestedBy: AccountId;
}

export async function startEnvironmentRemoval(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  removal: EnvironmentRemoval,
) {
  await refuseToLoseData(ctx, workspaceId, id, removal.deleteData);
  await cancelWork(ctx, workspaceId, id);
  return ctx.db.transaction(async (tx) => {
    const operationId = await enqueueRemoval(tx, ctx, workspaceId, id, removal);
    return readOperation(tx, workspaceId, operationId);
  });
}

/** A project that is removed removes its environments, each in its own time. */
export function environmentsOfRemovedProjects(ctx: EnvironmentsContext): ProjectHook {
  const idsOf = async (db: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) =>
    (await listOfProjects(db, workspaceId, [projectId])).map(({ id }) => id);
  return {
    beforeRemoval: async (workspaceId, projectId, { deleteData }) => {
      const ids = await idsOf(ctx.db, workspaceId, projectId);
      for (const id of ids) await refuseToLoseData(ctx, workspaceId, id, deleteData);
      for (const id of ids) await cancelWork(ctx, workspaceId, id);
    },
    removalStarted: async (tx, workspaceId, projectId, removal) => {
      for (const id of await idsOf(tx, workspaceId, projectId))
        await enqueueRemoval(tx, ctx, workspaceId, id, removal);
    },
    remaining: async (workspaceId, projectId) => (await idsOf(ctx.db, workspaceId, projectId)).length,
  };
}

async function enqueueRemoval(
  tx: Queryable,
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  { deleteData = false, force, requestedBy }: EnvironmentRemoval,
): Promise<OperationId> {
  const { serverId } = await lockEnvironment(tx, workspaceId, id);
  return enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: removeKind,
    input: { environmentId: id, deleteData, force },
    queueKey: id,
    subject: { type: 'environment', id },
    ...(serverId !== null && { serverId }),
    requestedBy,
  });
}

async function refuseToLoseData(
  { db, hooks }: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  deleteData: boolean | undefined,
): Promise<void> {
  const environment = await readEnvironmentState(db, workspaceId, id);
  if (!environment) throw environmentNotFound();
  if (deleteData !== undefined || (await dataOf(db, hooks, workspaceId, environment)).length === 0) return;
  throw new Fault('services_hold_data', 'The environment has data on its server.', {
    hint: 'Say `deleteData=true` to delete it, or `deleteData=false` to leave its volumes on the server.',
    errors: [{ path: 'deleteData', message: 'must be said, because there is data' }],
  });
}

async function cancelWork({ hooks }: EnvironmentsContext, workspaceId: WorkspaceId, id: EnvironmentId) {
  for (const hook of hooks.toReversed()) await hook.cancelWork?.(workspaceId, id);
}

interface RemoveInput {
  readonly environmentId: EnvironmentId;
  readonly deleteData: boolean;
  readonly force: boolean;
}

export function removeEnvironmentOperation(ctx: EnvironmentsContext): OperationKind {
  return defineOperation<RemoveInput>({
    kind: removeKind,
    readInput: (stored) => {
      const { environmentId, deleteData, force } = Object(stored);
      if (typeof environmentId !== 'string') throw new Error('no environment to remove');
      return {
        environmentId: environmentId as EnvironmentId,
        deleteData: deleteData === true,
        force: force === true,
      };
    },
    steps: [
      {
        name: 'take_down',
        deadlineMs: 60 * minute,
        retry: serverRetry,
        undo: { none: 'A deployment would bring it back; its data is where it was unless it was to go.' },
        run: async (input, step) => {
          await leaveServers(ctx, input, step);
          return undefined;
        },
      },
      {
        name: 'forget',
        deadlineMs: minute,
        undo: { none: 'It is the last step.' },
        run: async ({ environmentId, deleteData }, { workspaceId }) => {
          await ctx.db.transaction(async (tx) => {
            const found = await readEnvironmentState(tx, workspaceId, environmentId);
            // A second run finds it gone, which is what was wanted.
            if (!found) return;
            for (const hook of ctx.hooks.toReversed())
              await hook.removed?.(tx, workspaceId, found, { deleteData });
            if ((await deleteEnvironment(tx, workspaceId, environmentId)) === 0) return;
            const event = { reason: 'environment_deleted', environmentId } as const;
            await publishProjectEvent(tx, workspaceId, found.projectId, event);
          });
          return undefined;
        },
      },
    ],
  });
}

async function leaveServers(
  ctx: EnvironmentsContext,
  { environmentId, deleteData, force }: RemoveInput,
  step: StepContext,
): Promise<void> {
  for (const place of await placementsOf(ctx.db, step.workspaceId, environmentId)) {
    try {
      const target = await openTarget(ctx.servers, place, step);
      for (const hook of ctx.hooks.toReversed()) await hook.takeDown?.(target, { deleteData });
    } catch (error) {
      if (!force || !isPlaceUnavailable(error)) throw error;
      step.log(`The server cannot be reached; what is there stays there: ${errorText(error)}`);
    }
    await ctx.db.transaction((tx) => removePlacement(tx, step.workspaceId, environmentId, place.serverId));
  }
}
