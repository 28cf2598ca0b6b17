/** The end of a backup, good or bad, with who hears of it. In the transaction in which it ends. */
import { raiseNotice } from '../../events/notices.ts';
import type { BackupId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { tellBackup } from './backups.ts';
import { listParts, type PartRow } from './part-queries.ts';
import * as queries from './queries.ts';

export async function finishBackup(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupId,
  now: Date,
): Promise<void> {
  const row = await queries.findBackup(tx, workspaceId, id);
  if (!row) return;
  const parts = await listParts(tx, workspaceId, [id]);
  const isVerified = parts.every(({ verification }) => verification.status === 'verified');
  if (!(await queries.setSucceeded(tx, workspaceId, id, isVerified ? now : null, now))) return;
  const untried = parts.filter(({ verification }) => verification.status === 'unverifiable');
  if (isOwnSake(row)) {
    const previous = await queries.findPrevious(tx, workspaceId, row);
    if (previous?.status === 'failed') await notice(tx, workspaceId, row, 'backup_recovered', {});
    if (untried.length > 0) await notice(tx, workspaceId, row, 'backup_failed', unverified(untried));
  }
  await tellBackup(tx, workspaceId, { backupId: id, environmentId: row.environmentId, status: 'succeeded' });
}

/** It was stored, and is kept; but whoever wants proven backups has to hear that this one is not. */
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
  const row = await queries.findBackup(tx, workspaceId, id);
  if (!row || !(await queries.setFailed(tx, workspaceId, id, fault, now))) return;
  if (isOwnSake(row) && fault.code !== 'cancelled')
    await notice(tx, workspaceId, row, 'backup_failed', { fault });
  await tellBackup(tx, workspaceId, { backupId: id, environmentId: row.environmentId, status: 'failed' });
}

/** Of one that a restore makes first, the restore tells. */
function isOwnSake({ trigger }: queries.BackupRow): boolean {
  return trigger === 'manual' || trigger === 'schedule';
}

async function notice(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, environmentId, environmentName, serviceId, trigger }: queries.BackupRow,
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
