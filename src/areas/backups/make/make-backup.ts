/**
 * A backup, as a durable operation: decide its parts, dump each to its destination, verify each. One that is interrupted
 * goes on with the part it was at; one that fails leaves no object behind.
 */
import { hour, minute } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import type { BackupId, EnvironmentId, WorkspaceId } from '../../../ids.ts';
import {
  defineOperation,
  type OperationKind,
  type StateChange,
  type StepContext,
} from '../../../operations/definition.ts';
import type { Queryable } from '../../../store/database.ts';
import { isTransient, retryUntilDone } from '../../releases/transient-retry.ts';
import { type BackupsContext, backupKind, publishBackupUpdate, type UnfinishedStatus } from '../backups.ts';
import { openDestination, removeObjectsOrDefer } from '../destinations.ts';
import { removeScratch } from '../engines/scratch.ts';
import { removeFolder } from '../engines/server-files.ts';
import { clearOperations, findBackup, setBackupStatus } from '../queries.ts';
import { isRestoring } from '../restore/restore-queries.ts';
import { applyRetention } from '../retention/apply-retention.ts';
import { backupWork, decideParts, sourcedParts, storeParts, storeTotals } from './backup-work.ts';
import { cancelledFault, failBackup, finishBackup } from './finish-backup.ts';
import { verifyPart } from './verify-part.ts';

interface Input {
  readonly backupId: BackupId;
  readonly environmentId: EnvironmentId;
}

const transientCodes = new Set(['storage_unreachable', 'dump_failed', 'in_use']);
/** A destination or a server that is unreachable for some minutes ends no backup. */
export const storageRetry = {
  attempts: 20,
  firstMs: 1_000,
  maxMs: 30_000,
  when: (error: unknown) => isTransient(error) || (error instanceof Fault && transientCodes.has(error.code)),
};

export function backupOperation(ctx: BackupsContext): OperationKind {
  return defineOperation<Input>({
    kind: backupKind,
    readInput,
    onStateChange: (tx, { workspaceId, input }, change) => follow(tx, ctx, workspaceId, input, change),
    onPrune: clearOperations,
    steps: [
      {
        // A restore that is running swaps the very data: the backup waits for it.
        name: 'look',
        deadlineMs: 5 * minute,
        retry: { ...storageRetry, attempts: 200 },
        undo: { none: 'Nothing was stored yet.' },
        run: async (input, step) => {
          if (await isRestoring(ctx.db, step.workspaceId, input.environmentId))
            throw new Fault('in_use', 'Data of the environment is being replaced right now.');
          await decideParts(ctx, await backupWork(ctx, input, step), step);
        },
      },
      {
        name: 'dump',
        deadlineMs: 24 * hour,
        retry: { ...storageRetry, attempts: 5 },
        undo: async (input, step) => removeStored(ctx, input, step),
        run: async (input, step) => {
          await storeParts(ctx, await backupWork(ctx, input, step), step);
        },
      },
      {
        name: 'store',
        deadlineMs: 5 * minute,
        retry: storageRetry,
        undo: { none: 'The undo of the dump removes the objects.' },
        run: async (input, step) => {
          await storeTotals(ctx, await backupWork(ctx, input, step), step);
        },
      },
      {
        name: 'verify',
        deadlineMs: 24 * hour,
        retry: { ...storageRetry, attempts: 5 },
        undo: (input, step) => retryUntilDone(() => removeScratches(ctx, input, step), step.signal),
        run: async (input, step) => {
          await verifyParts(ctx, input, step);
        },
      },
      {
        name: 'retain',
        deadlineMs: 30 * minute,
        isPostCommit: true,
        undo: { none: 'What was deleted was allowed to go.' },
        run: async ({ environmentId }, step) => {
          await applyRetention(ctx, step.workspaceId, environmentId, step);
        },
      },
    ],
  });
}

function readInput(stored: unknown): Input {
  const { backupId, environmentId } = Object(stored);
  if (typeof backupId !== 'string' || typeof environmentId !== 'string')
    throw new Error('the input names no backup');
  return { backupId: backupId as BackupId, environmentId: environmentId as EnvironmentId };
}

async function verifyParts(ctx: BackupsContext, input: Input, step: StepContext): Promise<void> {
  const work = await backupWork(ctx, input, step);
  if (!work.backup.verify) return;
  const storage = await openDestination(ctx, step.workspaceId, work.backup.destinationId);
  for (const each of await sourcedParts(ctx, work, step))
    if (each.part.verification.status === 'pending')
      await verifyPart(ctx, work.target.dataHost, storage, each, step);
}

async function removeScratches(ctx: BackupsContext, input: Input, step: StepContext): Promise<void> {
  const work = await backupWork(ctx, input, step);
  for (const { part } of await sourcedParts(ctx, work, step)) {
    await removeScratch(work.target.dataHost, part.id);
    await removeFolder(work.target.dataHost, part.id);
  }
}

async function removeStored(ctx: BackupsContext, { backupId }: Input, step: StepContext): Promise<void> {
  const backup = await findBackup(ctx.db, step.workspaceId, backupId);
  if (backup) await removeObjectsOrDefer(ctx, backup, step);
}

const statusAt: Readonly<Record<string, UnfinishedStatus>> = {
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
    return failBackup(tx, workspaceId, backupId, change.fault ?? cancelledFault('It was cancelled.'), now);
  const status = statusAt[change.step ?? ''];
  // The backup itself is done and verified by then: whoever waits for it need not wait for the retention.
  if (change.step === 'retain') return finishBackup(tx, workspaceId, backupId, now);
  if (status && (await setBackupStatus(tx, workspaceId, backupId, status)))
    await publishBackupUpdate(tx, workspaceId, { backupId, environmentId, status });
}
