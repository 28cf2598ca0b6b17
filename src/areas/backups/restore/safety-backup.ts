/**
 * The safety backup: made before data is replaced, within the operation that replaces it, and stored as all others of the
 * environment. It is not verified: the replaced data itself is kept as well, and whoever restores is in a hurry.
 */
import { type BackupId, newId } from '../../../ids.ts';
import type { StepContext } from '../../../operations/definition.ts';
import { assertLease } from '../../../operations/operations.ts';
import { lockEnvironment } from '../../environments/environment-state.ts';
import { type BackupsContext, publishBackupUpdate, type UnfinishedStatus } from '../backups.ts';
import { backupConfigOf } from '../config.ts';
import { removeObjectsOrDefer } from '../destinations.ts';
import { backupWork, decideParts, storeParts, storeTotals } from '../make/backup-work.ts';
import { cancelledFault, failBackup, finishBackup } from '../make/finish-backup.ts';
import { findSafetyBackup, insertBackup, setBackupStatus } from '../queries.ts';
import type { RestoreWork } from './restore-work.ts';

export async function makeSafetyBackup(
  ctx: BackupsContext,
  { restore }: RestoreWork,
  step: StepContext,
): Promise<BackupId> {
  const { workspaceId, operationId } = step;
  const known = await findSafetyBackup(ctx.db, workspaceId, operationId);
  if (known?.status === 'succeeded') return known.id;
  const backupId = known?.id ?? (await insertSafetyBackup(ctx, restore, step));
  const { environmentId } = restore;
  const work = await backupWork(ctx, { backupId, environmentId }, step);
  const setStatus = async (status: UnfinishedStatus) =>
    ctx.db.transaction(async (tx) => {
      await assertLease(tx, step);
      if (await setBackupStatus(tx, workspaceId, backupId, status))
        await publishBackupUpdate(tx, workspaceId, { backupId, environmentId, status });
    });
  await decideParts(ctx, work, step);
  await setStatus('dumping');
  await storeParts(ctx, work, step);
  await setStatus('storing');
  await storeTotals(ctx, work, step);
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await finishBackup(tx, workspaceId, backupId, ctx.clock.now());
  });
  step.log(`the live data was backed up first: ${backupId}`);
  return backupId;
}

function insertSafetyBackup(
  ctx: BackupsContext,
  { environmentId, serviceId, source }: RestoreWork['restore'],
  { workspaceId, operationId }: StepContext,
): Promise<BackupId> {
  return ctx.db.transaction(async (tx) => {
    const { name } = await lockEnvironment(tx, workspaceId, environmentId);
    const { destinationId } = await backupConfigOf(tx, workspaceId, environmentId);
    const id = newId<BackupId>();
    const row = {
      id,
      environmentId,
      environmentName: name,
      serviceId,
      trigger: source === 'upload' ? 'pre_import' : 'pre_restore',
      verify: false,
      destinationId,
      operationId,
      requestedBy: null,
    } as const;
    await insertBackup(tx, workspaceId, row, ctx.clock.now());
    return id;
  });
}

/** One that is whole stays, whatever becomes of the restore. */
export async function removeUnfinishedSafetyBackup(ctx: BackupsContext, step: StepContext): Promise<void> {
  const backup = await findSafetyBackup(ctx.db, step.workspaceId, step.operationId);
  if (!backup || backup.finishedAt !== null) return;
  await removeObjectsOrDefer(ctx, backup, step);
  const fault = cancelledFault('The operation that it was made for ended before the backup was whole.');
  await ctx.db.transaction((tx) => failBackup(tx, step.workspaceId, backup.id, fault, ctx.clock.now()));
}
