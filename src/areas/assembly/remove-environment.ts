/**
 * Takes an environment away: what is at work on it ends first, then everything of it leaves its servers, then we forget
 * it. Data goes only where the user said so; without a word it is refused rather than guessed.
 */
import { minute } from '../../clock.ts';
import { errorText, Fault } from '../../fault.ts';
import type { AccountId, EnvironmentId, OperationId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../operations/definition.ts';
import type { Remember } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { deleteBackupsOf } from '../backups/delete-backup.ts';
import { endUnfinished } from '../deployments/end-unfinished.ts';
import { removeCertificates } from '../domains/installed-certificates.ts';
import { deleteNamesOf } from '../domains/remove-domain.ts';
import { deleteEnvironment } from '../environments/delete-environment.ts';
import { lockEnvironment, readEnvironmentState } from '../environments/environment-state.ts';
import { notFound } from '../environments/environments.ts';
import { openSite } from '../environments/open-site.ts';
import { placesOf, removePlace } from '../environments/places.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { tellProject } from '../projects/projects.ts';
import { takeDown } from '../releases/take-down.ts';
import { isPassing, untilBack } from '../releases/until-back.ts';
import { holdsData } from '../upkeep/holds-data.ts';
import { enqueueUpkeep, type Input, readInput, removeKind, type UpkeepContext } from '../upkeep/upkeep.ts';

interface RemoveInput extends Input {
  readonly deleteData: boolean;
  readonly force: boolean;
}

export interface RemovalWish {
  readonly deleteData: boolean | undefined;
  /** Does not wait for a server that is gone. */
  readonly force: boolean;
  readonly requestedBy: AccountId;
}

export async function startEnvironmentRemoval(
  ctx: UpkeepContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  wish: RemovalWish,
  remember: Remember,
): Promise<StartedOperation> {
  await refuseToLoseData(ctx, workspaceId, id, wish.deleteData);
  await endUnfinished(ctx, workspaceId, id);
  return ctx.db.transaction(async (tx) => {
    const operationId = await enqueueRemoval(tx, ctx, workspaceId, id, wish);
    return answerStarted(tx, workspaceId, operationId, remember);
  });
}

/** In the caller's transaction: a project takes all its environments away. */
export async function enqueueRemoval(
  tx: Queryable,
  ctx: UpkeepContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  { deleteData, force, requestedBy }: RemovalWish,
): Promise<OperationId> {
  const environment = await lockEnvironment(tx, workspaceId, id);
  const input = { deleteData: deleteData ?? false, force };
  return enqueueUpkeep(tx, ctx, { workspaceId, environment, kind: removeKind, input, requestedBy });
}

export async function refuseToLoseData(
  ctx: UpkeepContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  deleteData: boolean | undefined,
): Promise<void> {
  const environment = await readEnvironmentState(ctx.db, workspaceId, id);
  if (!environment) throw notFound();
  if (deleteData === undefined && (await holdsData(ctx.db, ctx, workspaceId, environment))) throw mustSay();
}

function mustSay(): Fault {
  return new Fault('services_hold_data', 'The environment has data on its server.', {
    hint: 'Say `deleteData=true` to delete it, or `deleteData=false` to leave its volumes on the server.',
    errors: [{ path: 'deleteData', message: 'must be said, because there is data' }],
  });
}

export function removeOperation(ctx: UpkeepContext): OperationKind {
  return defineOperation<RemoveInput>({
    kind: removeKind,
    readInput: (stored) => ({
      ...readInput(stored),
      deleteData: Object(stored).deleteData === true,
      force: Object(stored).force === true,
    }),
    steps: [
      {
        name: 'take_down',
        deadlineMs: 60 * minute,
        retry: untilBack,
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
            await deleteNamesOf(tx, ctx, workspaceId, found);
            if (deleteData) await deleteBackupsOf(tx, workspaceId, environmentId, ctx.clock.now());
            if (!(await deleteEnvironment(tx, workspaceId, environmentId))) return;
            await tellProject(tx, workspaceId, found.projectId, {
              reason: 'environment_deleted',
              environmentId,
            });
          });
          return undefined;
        },
      },
    ],
  });
}

async function leaveServers(ctx: UpkeepContext, input: RemoveInput, step: StepContext): Promise<void> {
  const { environmentId, deleteData, force } = input;
  for (const place of await placesOf(ctx.db, step.workspaceId, environmentId)) {
    try {
      const site = await openSite(ctx.servers, place, step);
      await takeDown(ctx, site, { deleteData });
      await removeCertificates(ctx.db, site);
    } catch (error) {
      if (!force || !isPassing(error)) throw error;
      step.log(`The server cannot be reached; what is there stays there: ${errorText(error)}`);
    }
    await ctx.db.transaction((tx) => removePlace(tx, step.workspaceId, environmentId, place.serverId));
  }
}
