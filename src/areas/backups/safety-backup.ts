/**
 * The backup that is made before data is replaced, within the operation that replaces it. It goes where all others of the
 * environment go. It is not tried out: the data itself is kept beside as well, and whoever restores is in a hurry.
 */
import type { BackupId } from '../../ids.ts';
import type { StepContext } from '../../operations/definition.ts';
import { assertLease } from '../../operations/operations.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import { type BackupStatus, type BackupsContext, tellBackup } from './backups.ts';
import { configOf } from './config.ts';
import { failBackup, finishBackup } from './finish-backup.ts';
import { lookForParts, removeObjectsOrNote, storeParts, sumUp, workOf } from './make-parts.ts';
import * as queries from './queries.ts';
import { insertBackup } from './request-backup.ts';
import type { RestoreInput, RestoreWork } from './restores.ts';

export async function makeSafetyBackup(
  ctx: BackupsContext,
  input: RestoreInput,
  { restore }: RestoreWork,
  step: StepContext,
): Promise<BackupId> {
  const { workspaceId, operationId } = step;
  const known = await queries.findSafety(ctx.db, workspaceId, operationId);
  if (known?.status === 'succeeded') return known.id;
  const { environmentId } = input;
  const backupId =
    known?.id ??
    (await ctx.db.transaction(async (tx) => {
      const environment = await lockEnvironment(tx, workspaceId, environmentId);
      const { destinationId } = await configOf(tx, workspaceId, environmentId);
      return insertBackup(tx, ctx, workspaceId, {
        environment,
        serviceId: restore.serviceId,
        requestedBy: null,
        verify: false,
        trigger: restore.source === 'upload' ? 'pre_import' : 'pre_restore',
        destinationId,
        operationId,
      });
    }));
  const work = await workOf(ctx, { backupId, environmentId }, step);
  const status = async (next: Exclude<BackupStatus, 'succeeded' | 'failed'>) =>
    ctx.db.transaction(async (tx) => {
      await assertLease(tx, step);
      if (await queries.setStatus(tx, workspaceId, backupId, next))
        await tellBackup(tx, workspaceId, { backupId, environmentId, status: next });
    });
  await lookForParts(ctx, work, step);
  await status('dumping');
  await storeParts(ctx, work, step);
  await status('storing');
  await sumUp(ctx, work, step);
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await finishBackup(tx, workspaceId, backupId, ctx.clock.now());
  });
  step.log(`what is there now was backed up first: ${backupId}`);
  return backupId;
}

/** One that is whole stays, whatever becomes of the restore. */
export async function dropUnfinishedSafety(ctx: BackupsContext, step: StepContext): Promise<void> {
  const { workspaceId, operationId } = step;
  const known = await queries.findSafety(ctx.db, workspaceId, operationId);
  if (!known || known.status === 'succeeded' || known.status === 'failed') return;
  const backup = await queries.findBackup(ctx.db, workspaceId, known.id);
  if (backup) await removeObjectsOrNote(ctx, backup, step);
  const fault = {
    code: 'cancelled',
    step: null,
    hint: null,
    evidence: null,
    message: 'The work that it was made for ended before it was whole.',
  };
  await ctx.db.transaction((tx) => failBackup(tx, workspaceId, known.id, fault, ctx.clock.now()));
}
