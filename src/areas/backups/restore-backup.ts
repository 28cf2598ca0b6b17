/** Restores a backup. The application runs until the staging copy is whole, and is then stopped for the swap. */
import { Fault } from '../../fault.ts';
import {
  type AccountId,
  type BackupId,
  type BackupRestoreId,
  type EnvironmentId,
  newId,
  type ServiceId,
  type WorkspaceId,
} from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { SaveResponse } from '../../store/answer.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { type BackupsContext, backupNotFound, publishBackupUpdate, restoreKind } from './backups.ts';
import { listParts } from './part-queries.ts';
import { clearOperations, lockVisible } from './queries.ts';
import { noServer } from './request-backup.ts';
import { findRestore, insertRestore, setRestoreOperation } from './restore/restore-queries.ts';
import * as steps from './restore/restore-steps.ts';
import { followRestore, type RestoreInput, readRestoreInput } from './restore/restore-work.ts';

export interface RestoreRequest {
  readonly backupId: BackupId;
  readonly serviceId: ServiceId | null;
  readonly safetyBackup: boolean;
  readonly requestedBy: AccountId;
}

export function restoreBackup(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { backupId, serviceId: asked, safetyBackup, requestedBy }: RestoreRequest,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  return ctx.db.transaction(async (tx) => {
    const { serverId } = await lockEnvironment(tx, workspaceId, environmentId);
    const backup = await lockVisible(tx, workspaceId, environmentId, backupId);
    if (!backup) throw backupNotFound();
    if (serverId === null) throw noServer();
    if (backup.status !== 'succeeded') throw unfinished();
    const parts = await listParts(tx, workspaceId, [backupId]);
    if (asked !== null && !parts.some(({ serviceId }) => serviceId === asked)) throw notInBackup();
    const serviceId = asked ?? backup.serviceId;
    const id = newId<BackupRestoreId>();
    const source = { source: 'backup', status: 'queued', backupId, serviceId } as const;
    await insertRestore(tx, workspaceId, { id, environmentId, serverId, ...source }, ctx.clock.now());
    const operationId = await enqueueOperation(tx, ctx.queue, {
      workspaceId,
      kind: restoreKind,
      input: { restoreId: id, environmentId, safetyBackup },
      serverId,
      subject: { type: 'backup', id: backupId },
      queueKey: environmentId,
      requestedBy,
    });
    await setRestoreOperation(tx, workspaceId, id, operationId);
    return answerStarted(tx, workspaceId, operationId, saveResponse);
  });
}

export function restoreOperation(ctx: BackupsContext): OperationKind {
  return defineOperation<RestoreInput>({
    kind: restoreKind,
    readInput: readRestoreInput,
    onPrune: clearOperations,
    onStateChange: async (tx, { workspaceId, input }, change) => {
      await followRestore(tx, ctx, workspaceId, input, change);
      const { restoreId, environmentId } = input;
      const restore = await findRestore(tx, workspaceId, restoreId);
      if (change.state === 'running' || !restore || restore.backupId === null) return;
      const reason = change.state === 'succeeded' ? 'restored' : 'restore_failed';
      const { backupId } = restore;
      await publishBackupUpdate(tx, workspaceId, { backupId, environmentId, status: 'succeeded', reason });
    },
    steps: [
      steps.checkStep(ctx),
      steps.safetyStep(ctx),
      steps.loadStep(ctx),
      steps.stopStep(ctx),
      steps.swapStep(ctx),
      steps.startStep(ctx),
      steps.settleStep(ctx),
    ],
  });
}

function unfinished(): Fault {
  return new Fault('backup_unfinished', 'Only a backup that has succeeded can be restored.', {
    hint: 'Choose another one, or wait until this one has succeeded.',
  });
}

function notInBackup(): Fault {
  return new Fault('invalid_input', 'The backup has nothing of this service.', {
    errors: [{ path: 'serviceId', message: 'is not among the parts of the backup' }],
  });
}
