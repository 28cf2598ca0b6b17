/**
 * A backup, as a durable operation: look what there is, dump each part to its destination, try each out, keep the whole.
 * One that is cut off goes on with the part it was at; one that fails leaves no object behind.
 */
import { hour, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { BackupId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import {
  defineOperation,
  type OperationKind,
  type StateChange,
  type StepContext,
} from '../../operations/definition.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { isPassing, untilDone } from '../releases/until-back.ts';
import { applyRetention } from './apply-retention.ts';
import { type BackupStatus, type BackupsContext, backupKind, tellBackup } from './backups.ts';
import { forgetOperations } from './deletion-queries.ts';
import { openDestination } from './destinations.ts';
import { engineFor } from './engines/engines.ts';
import { failBackup, finishBackup } from './finish-backup.ts';
import { lookForParts, pairsOf, removeObjectsOrNote, storeParts, sumUp, workOf } from './make-parts.ts';
import * as queries from './queries.ts';
import { isRestoring } from './restore-queries.ts';
import { removeFolder } from './server-files.ts';
import { verifyPart } from './verify-part.ts';

interface Input {
  readonly backupId: BackupId;
  readonly environmentId: EnvironmentId;
}

const passingCodes = new Set(['storage_unreachable', 'dump_failed', 'in_use']);
/** A destination or a server that is away for some minutes ends no backup. */
export const untilStored = {
  attempts: 20,
  firstMs: 1_000,
  maxMs: 30_000,
  when: (error: unknown) => isPassing(error) || (error instanceof Fault && passingCodes.has(error.code)),
};

export const cancelled: OperationFault = {
  code: 'cancelled',
  step: null,
  message: 'It was cancelled.',
  hint: null,
  evidence: null,
};

export function backupOperation(ctx: BackupsContext): OperationKind {
  return defineOperation<Input>({
    kind: backupKind,
    readInput,
    onStateChange: (tx, { workspaceId, input }, change) => follow(tx, ctx, workspaceId, input, change),
    onPrune: forgetOperations,
    steps: [
      {
        // A restore that is at work exchanges the very data: it is waited for.
        name: 'look',
        deadlineMs: 5 * minute,
        retry: { ...untilStored, attempts: 200 },
        undo: { none: 'Nothing was stored yet.' },
        run: async (input, step) => {
          if (await isRestoring(ctx.db, step.workspaceId, input.environmentId))
            throw new Fault('in_use', 'Data of the environment is being replaced right now.');
          await lookForParts(ctx, await workOf(ctx, input, step), step);
          return undefined;
        },
      },
      {
        name: 'dump',
        deadlineMs: 24 * hour,
        retry: { ...untilStored, attempts: 5 },
        undo: async (input, step) => discardObjects(ctx, input, step),
        run: async (input, step) => {
          await storeParts(ctx, await workOf(ctx, input, step), step);
          return undefined;
        },
      },
      {
        name: 'store',
        deadlineMs: 5 * minute,
        retry: untilStored,
        undo: { none: 'The step before takes the objects away.' },
        run: async (input, step) => {
          await sumUp(ctx, await workOf(ctx, input, step), step);
          return undefined;
        },
      },
      {
        name: 'verify',
        deadlineMs: 24 * hour,
        retry: { ...untilStored, attempts: 5 },
        undo: (input, step) => untilDone(() => clearTrials(ctx, input, step), step.signal),
        run: async (input, step) => {
          await verifyParts(ctx, input, step);
          return undefined;
        },
      },
      {
        name: 'retain',
        deadlineMs: 30 * minute,
        isPostCommit: true,
        undo: { none: 'It is an afterthought.' },
        run: async ({ environmentId }, step) => {
          await applyRetention(ctx, step.workspaceId, environmentId, step);
          return undefined;
        },
      },
    ],
  });
}

function readInput(stored: unknown): Input {
  const { backupId, environmentId } = Object(stored);
  if (typeof backupId !== 'string' || typeof environmentId !== 'string') throw new Error('no backup to make');
  return { backupId: backupId as BackupId, environmentId: environmentId as EnvironmentId };
}

async function verifyParts(ctx: BackupsContext, input: Input, step: StepContext): Promise<void> {
  const work = await workOf(ctx, input, step);
  if (!work.backup.verify) return;
  const storage = await openDestination(ctx, step.workspaceId, work.backup.destinationId);
  for (const pair of await pairsOf(ctx, work, step))
    if (pair.part.verification.status === 'pending')
      await verifyPart(ctx, work.target.dataHost, storage, pair, step);
}

async function clearTrials(ctx: BackupsContext, input: Input, step: StepContext): Promise<void> {
  const work = await workOf(ctx, input, step);
  for (const { part } of await pairsOf(ctx, work, step)) {
    await engineFor(part.kind).clearAway(work.target.dataHost, part.id);
    await removeFolder(work.target.dataHost, part.id);
  }
}

async function discardObjects(ctx: BackupsContext, { backupId }: Input, step: StepContext): Promise<void> {
  const backup = await queries.findBackup(ctx.db, step.workspaceId, backupId);
  if (backup) await removeObjectsOrNote(ctx, backup, step);
}

const statusAt: Readonly<Record<string, Exclude<BackupStatus, 'succeeded' | 'failed'>>> = {
  dump: 'dumping',
  store: 'storing',
  verify: 'verifying',
};

async function follow(
  tx: Queryable,
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  { backupId, environmentId }: Input,
  change: StateChange,
): Promise<void> {
  const now = ctx.clock.now();
  if (change.state === 'succeeded') return finishBackup(tx, workspaceId, backupId, now);
  if (change.state !== 'running')
    return failBackup(tx, workspaceId, backupId, change.fault ?? cancelled, now);
  const status = statusAt[change.step ?? ''];
  // The afterthought comes when all is done and tried: whoever waits for a good one need not wait for it.
  if (change.step === 'retain') return finishBackup(tx, workspaceId, backupId, now);
  if (status && (await queries.setStatus(tx, workspaceId, backupId, status)))
    await tellBackup(tx, workspaceId, { backupId, environmentId, status });
}
