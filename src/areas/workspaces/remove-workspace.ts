/**
 * The end of a workspace: its projects with all that runs of them, its clusters, its servers, then what it knows. From the first
 * moment on it takes no changes. Where a step fails it is as it was but for what is gone, and can be removed again.
 */
import { minute } from '../../clock.ts';
import { errorText, Fault } from '../../fault.ts';
import type { AccountId, ClusterId, ProjectId, ServerId } from '../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../operations/definition.ts';
import { enqueueOperation, hasUnfinishedAbout } from '../../operations/operations.ts';
import type { Schedule } from '../../operations/queue.ts';
import { deleteCluster } from '../clusters/change-clusters.ts';
import { leaveKind } from '../clusters/clusters.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { removeProjectKind, startProjectRemoval } from '../projects/remove-project.ts';
import { removeServerRecord, startRemoval } from '../servers/remove.ts';
import { removeServerKind } from '../servers/start-operation.ts';
import { pruneInvitations } from './invitation-queries.ts';
import * as queries from './removal-queries.ts';
import { type Actor, lockAs, type WorkspacesContext } from './workspaces.ts';

const removeKind = 'workspace_remove';

export interface WorkspaceRemoval {
  readonly deleteData: boolean;
  /** Does not wait for servers that are gone: what is on them stays there. */
  readonly force: boolean;
}

export async function startWorkspaceRemoval(
  { db, queue }: WorkspacesContext,
  actor: Actor,
  removal: WorkspaceRemoval,
): Promise<StartedOperation> {
  const { workspaceId, accountId: requestedBy } = actor;
  return db.transaction(async (tx) => {
    await lockAs(tx, actor, 'own');
    if (await hasUnfinishedAbout(tx, workspaceId, removeKind))
      throw new Fault('workspace_closing', 'The workspace is being removed already.', {
        hint: 'Its operation `workspace_remove` tells how far that is.',
      });
    await queries.setClosing(tx, workspaceId, true);
    await queries.deleteInvitations(tx, workspaceId);
    const id = await enqueueOperation(tx, queue, {
      workspaceId,
      kind: removeKind,
      input: { ...removal, requestedBy },
      requestedBy,
      subject: { type: 'workspace', id: workspaceId },
    });
    return answerStarted(tx, workspaceId, id, async (_tx, answer) => answer);
  });
}

interface Input extends WorkspaceRemoval {
  readonly requestedBy: AccountId;
}

/** It goes on by itself, and is waited for: up to two hours. */
class StillLeaving extends Fault {
  constructor(left: number, what: string) {
    super('in_use', `${counted(left, what)} still being removed.`);
  }
}
const waiting = {
  attempts: 500,
  firstMs: 500,
  maxMs: 15_000,
  when: (error: unknown) => error instanceof StillLeaving,
};

export function removeWorkspaceOperation(ctx: WorkspacesContext): OperationKind {
  return defineOperation<Input>({
    kind: removeKind,
    readInput: (stored) => {
      const { deleteData, force, requestedBy } = Object(stored);
      if (typeof requestedBy !== 'string') throw new Error('nobody asked for the removal');
      return {
        deleteData: deleteData === true,
        force: force === true,
        requestedBy: requestedBy as AccountId,
      };
    },
    // Ended without its end: its members can go on, or have it removed again.
    onStateChange: async (tx, { workspaceId }, { state }) => {
      if (state === 'failed' || state === 'cancelled') await queries.setClosing(tx, workspaceId, false);
    },
    steps: [
      {
        name: 'projects',
        deadlineMs: 5 * minute,
        undo: { none: 'What is gone is made anew.' },
        retry: waiting,
        run: async (input, step) => {
          const projects = await queries.listProjects(ctx.db, step.workspaceId);
          await removeAll(ctx, step, 'project', removeProjectKind, projects, (id) =>
            startProjectRemoval(ctx.removals, step.workspaceId, id, input, async (_tx, answer) => answer),
          );
          return undefined;
        },
      },
      {
        name: 'clusters',
        deadlineMs: 5 * minute,
        undo: { none: 'What is gone is made anew.' },
        retry: waiting,
        run: async ({ force, requestedBy }, step) => {
          const { workspaceId } = step;
          const clusters = await queries.listClusters(ctx.db, workspaceId);
          await removeAll(ctx, step, 'cluster', leaveKind, clusters, (clusterId) =>
            deleteCluster(ctx.clusters, { workspaceId, clusterId, requestedBy }, force),
          );
          return undefined;
        },
      },
      {
        name: 'servers',
        deadlineMs: 5 * minute,
        undo: { none: 'What is gone is registered anew.' },
        retry: waiting,
        run: async (input, step) => {
          const servers = await queries.listServers(ctx.db, step.workspaceId);
          await removeAll(ctx, step, 'server', removeServerKind, servers, (id) =>
            removeServer(ctx, step, id, input),
          );
          return undefined;
        },
      },
      {
        name: 'others',
        deadlineMs: minute,
        undo: { none: 'It only waits for what ends by itself.' },
        retry: waiting,
        run: async (_input, { workspaceId, operationId }) => {
          const left = await queries.countUnfinished(ctx.db, workspaceId, operationId);
          if (left > 0) throw new StillLeaving(left, 'operation');
          return undefined;
        },
      },
      {
        name: 'close',
        deadlineMs: minute,
        undo: { none: 'It is the last step.' },
        run: async ({ requestedBy }, { workspaceId }) => {
          const now = ctx.clock.now();
          await ctx.db.transaction((tx) => queries.setRemoved(tx, workspaceId, requestedBy, now));
          return undefined;
        },
      },
    ],
  });
}

/** Starts what was not started, and tells which of them could not be removed: their own operations say why. */
async function removeAll<Id extends ProjectId | ClusterId | ServerId>(
  { db }: WorkspacesContext,
  { workspaceId, operationId, log, progress }: StepContext,
  what: 'project' | 'cluster' | 'server',
  kind: string,
  all: readonly queries.Leaving<Id>[],
  start: (id: Id) => Promise<unknown>,
): Promise<void> {
  const failed: queries.Leaving<Id>[] = [];
  let left = 0;
  for (const { id, name } of all) {
    const isLeaving = await hasUnfinishedAbout(db, id, kind);
    const hasFailed = !isLeaving && (await queries.hasFailedSince(db, workspaceId, id, kind, operationId));
    if (hasFailed) failed.push({ id, name });
    else left += 1;
    if (isLeaving || hasFailed) continue;
    log(`Removing the ${what} ${name} (${id})`);
    await start(id);
  }
  if (left > 0) {
    progress(0, `${counted(left, what)} being removed`);
    throw new StillLeaving(left, what);
  }
  if (failed.length > 0) {
    const which = `${what}${failed.length === 1 ? '' : 's'} ${failed.map(({ name }) => name).join(', ')}`;
    throw new Fault('in_use', `The ${which} could not be removed.`, {
      hint: 'Their operations say why. Put that right and delete the workspace again, or with `force=true` where a server is gone for good.',
      errors: failed.map(({ id }) => ({ path: `${what}s/${id}`, message: 'could not be removed' })),
    });
  }
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
}

async function removeServer(
  ctx: WorkspacesContext,
  { workspaceId, log }: StepContext,
  id: ServerId,
  { force, requestedBy }: Input,
): Promise<void> {
  const expected = (code: string) => (error: unknown) => {
    if (!(error instanceof Fault) || error.code !== code) throw error;
    log(errorText(error));
    return undefined;
  };
  if (!force) {
    const started = startRemoval(ctx.servers, workspaceId, id, requestedBy);
    // One that was never reached has nothing of ours.
    if ((await started.catch(expected('server_not_ready'))) !== undefined) return;
  }
  await removeServerRecord(ctx.servers, workspaceId, id).catch(expected('not_found'));
}

/** Invitations that have expired, and the rows of workspaces that were removed, a day later, once their backups have been taken from where they lay. */
export function pruneWorkspacesSchedule({ db, clock }: Pick<WorkspacesContext, 'db' | 'clock'>): Schedule {
  return {
    name: 'tidy-workspaces',
    cron: '17 * * * *',
    timezone: 'UTC',
    run: async () => {
      await queries.pruneRemoved(db, clock.now());
      await pruneInvitations(db, clock.now());
    },
  };
}
