/** The work of a backup, piece by piece: for the operation that makes one, and for those that make a safety backup. */
import { createHash } from 'node:crypto';
import type { Target } from '../../../engine/engine.ts';
import { Fault } from '../../../fault.ts';
import type { BackupId, EnvironmentId } from '../../../ids.ts';
import type { StepContext } from '../../../operations/definition.ts';
import { assertLease } from '../../../operations/operations.ts';
import type { EnvironmentState } from '../../environments/environment-state.ts';
import { environmentOf, targetOf } from '../../reconcile/reconcile.ts';
import { type BackupsContext, backupNotFound } from '../backups.ts';
import { openDestination } from '../destinations.ts';
import { listParts } from '../part-queries.ts';
import { type BackupRow, findBackup, setBackupTotals } from '../queries.ts';
import { planParts } from './plan-parts.ts';
import { type BackupSource, matchingSource, sourcesOf } from './sources.ts';
import { type SourcedPart, storePart } from './store-part.ts';

export interface BackupWork {
  readonly backup: BackupRow;
  readonly environment: EnvironmentState;
  readonly target: Target;
}

export async function backupWork(
  ctx: BackupsContext,
  { backupId, environmentId }: { readonly backupId: BackupId; readonly environmentId: EnvironmentId },
  step: StepContext,
): Promise<BackupWork> {
  const backup = await findBackup(ctx.db, step.workspaceId, backupId);
  if (!backup) throw backupNotFound();
  const environment = await environmentOf(ctx, { environmentId }, step);
  return { backup, environment, target: await targetOf(ctx, environment, step) };
}

function sourcesFor(
  ctx: BackupsContext,
  { target, environment, backup: { serviceId } }: BackupWork,
  mustAnswer: boolean,
): Promise<BackupSource[]> {
  return sourcesOf(ctx, target, environment, { serviceId, mustAnswer });
}

/** Decides the parts, and refuses where a database is down. */
export async function decideParts(ctx: BackupsContext, work: BackupWork, step: StepContext): Promise<void> {
  const sources = await sourcesFor(ctx, work, true);
  if (sources.length === 0)
    throw new Fault('nothing_to_back_up', 'What was to be backed up does not exist any more.');
  const parts = await planParts(ctx, step.workspaceId, work.backup, sources);
  step.log(`to be backed up: ${parts.map(({ name, kind }) => `${name} (${kind})`).join(', ')}`);
}

/** Each part that is not stored yet, one after the other: a server has its application to serve meanwhile. */
export async function storeParts(ctx: BackupsContext, work: BackupWork, step: StepContext): Promise<void> {
  const storage = await openDestination(ctx, step.workspaceId, work.backup.destinationId);
  const parts = await sourcedParts(ctx, work, step);
  for (const [done, each] of parts.entries()) {
    step.progress(done / parts.length, `dumping ${each.part.name}`);
    if (each.part.storedAt === null) await storePart(ctx, work.target.dataHost, storage, each, step);
  }
}

/** Each part with the live data that it is made from. */
export async function sourcedParts(
  ctx: BackupsContext,
  work: BackupWork,
  step: StepContext,
): Promise<SourcedPart[]> {
  const sources = await sourcesFor(ctx, work, false);
  const parts = await listParts(ctx.db, step.workspaceId, [work.backup.id]);
  return parts.map((part) => {
    const source = matchingSource(part, sources);
    if (!source) throw new Fault('database_down', `${part.name} was removed while it was backed up.`);
    return { part, source };
  });
}

/** Size and hash of the whole once all parts are stored: with one part its hash, with several the hash over theirs. */
export async function storeTotals(
  ctx: BackupsContext,
  { backup }: BackupWork,
  step: StepContext,
): Promise<void> {
  const parts = await listParts(ctx.db, step.workspaceId, [backup.id]);
  const hashes = parts.map((part) => part.sha256 ?? '');
  const [first = ''] = hashes;
  const sha256 = hashes.length === 1 ? first : createHash('sha256').update(hashes.join('\n')).digest('hex');
  const sizeBytes = parts.reduce((sum, part) => sum + (part.sizeBytes ?? 0), 0);
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await setBackupTotals(tx, step.workspaceId, backup.id, { sizeBytes, sha256 });
  });
}
