/** The end of a backup, with its notices and events. In the transaction in which it ends. */
import { raiseNotice } from '../../../events/notices.ts';
import type { BackupId, WorkspaceId } from '../../../ids.ts';
import type { OperationFault } from '../../../operations/operations.ts';
import type { Queryable } from '../../../store/database.ts';
import { readEnvironmentState } from '../../environments/environment-state.ts';
import { isSafetyBackup, publishBackupUpdate } from '../backups.ts';
import { listParts, type PartRow } from '../part-queries.ts';
import { type BackupRow, findBackup, findPrevious, setBackupFailed, setBackupSucceeded } from '../queries.ts';

export async function finishBackup(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  now: Date,
): Promise<void> {
  const row = await findBackup(tx, workspaceId, id);
  if (!row) return;
  const parts = await listParts(tx, workspaceId, [id]);
  const isVerified = parts.every(({ verification }) => verification.status === 'verified');
  if (!(await setBackupSucceeded(tx, workspaceId, id, isVerified ? now : null, now))) return;
  const unverifiable = parts.filter(({ verification }) => verification.status === 'unverifiable');
  if (!isSafetyBackup(row)) {
    const previous = await findPrevious(tx, workspaceId, row);
    if (previous?.status === 'failed') await notice(tx, workspaceId, row, 'backup_recovered', {});
    if (unverifiable.length > 0)
      await notice(tx, workspaceId, row, 'backup_failed', unverified(unverifiable));
  }
  await publishBackupUpdate(tx, workspaceId, {
    backupId: id,
    environmentId: row.environmentId,
    status: 'succeeded',
  });
}

/** It was stored, and is kept; but its owner has to know that this one is not verified. */
function unverified(parts: readonly PartRow[]): Record<string, unknown> {
  const evidence = parts.map(({ name, verification }) => `${name}: ${verification.reason}`).join('\n');
  const message = 'The backup was stored, but could not be verified.';
  return { fault: { code: 'backup_unverified', message, evidence } };
}

export async function failBackup(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  fault: OperationFault,
  now: Date,
): Promise<void> {
  const row = await findBackup(tx, workspaceId, id);
  if (!row || !(await setBackupFailed(tx, workspaceId, id, fault, now))) return;
  if (!isSafetyBackup(row) && fault.code !== 'cancelled')
    await notice(tx, workspaceId, row, 'backup_failed', { fault });
  await publishBackupUpdate(tx, workspaceId, {
    backupId: id,
    environmentId: row.environmentId,
    status: 'failed',
  });
}

export function cancelledFault(message: string): OperationFault {
  return { code: 'cancelled', step: null, message, hint: null, evidence: null };
}

/** Not for a safety backup: the restore that makes it reports its own end. */
async function notice(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, environmentId, environmentName, serviceId, trigger }: BackupRow,
  kind: 'backup_failed' | 'backup_recovered',
  more: Record<string, unknown>,
): Promise<void> {
  const environment = await readEnvironmentState(tx, workspaceId, environmentId);
  const [part] = serviceId === null ? [] : await listParts(tx, workspaceId, [id]);
  await raiseNotice(tx, {
    workspaceId,
    kind,
    key: `${kind}:${id}`,
    subject: { type: 'backup', id },
    environmentId,
    projectId: environment?.projectId,
    data: { backupId: id, environmentName, serviceId, serviceName: part?.name, trigger, ...more },
  });
}
