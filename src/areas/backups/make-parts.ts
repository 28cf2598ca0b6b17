/** The work of a backup, piece by piece: for the operation that makes one, and for those that make one first. */
import { createHash } from 'node:crypto';
import type { Target } from '../../engine/engine.ts';
import { Fault } from '../../fault.ts';
import type { BackupId, EnvironmentId } from '../../ids.ts';
import type { StepContext } from '../../operations/definition.ts';
import { assertLease } from '../../operations/operations.ts';
import type { EnvironmentState } from '../environments/environment-state.ts';
import { environmentOf, targetOf } from '../upkeep/upkeep.ts';
import { type BackupsContext, notFound } from './backups.ts';
import { setToClear } from './deletion-queries.ts';
import { openDestination } from './destinations.ts';
import { listParts, type PartRow } from './part-queries.ts';
import { planParts } from './plan-parts.ts';
import * as queries from './queries.ts';
import { type BackupSource, sourcesOf } from './sources.ts';
import { storePart } from './store-part.ts';

export interface BackupWork {
  readonly backup: queries.BackupRow;
  readonly environment: EnvironmentState;
  readonly target: Target;
}

export async function workOf(
  ctx: BackupsContext,
  { backupId, environmentId }: { readonly backupId: BackupId; readonly environmentId: EnvironmentId },
  step: StepContext,
): Promise<BackupWork> {
  const backup = await queries.findBackup(ctx.db, step.workspaceId, backupId);
  if (!backup) throw notFound();
  const environment = await environmentOf(ctx, { environmentId }, step);
  return { backup, environment, target: await targetOf(ctx, environment, step) };
}

/** Decides the parts, and refuses where a database is down. */
export async function lookForParts(ctx: BackupsContext, work: BackupWork, step: StepContext): Promise<void> {
  const { backup, environment, target } = work;
  const wish = { serviceId: backup.serviceId, mustAnswer: true };
  const sources = await sourcesOf(ctx, target, environment, wish);
  if (sources.length === 0)
    throw new Fault('nothing_to_back_up', 'There is nothing left of what was to be backed up.');
  const parts = await planParts(ctx, step.workspaceId, backup, sources);
  step.log(`to be backed up: ${parts.map(({ name, kind }) => `${name} (${kind})`).join(', ')}`);
}

/** Each part that is not stored yet, one after the other: a server has its application to serve meanwhile. */
export async function storeParts(ctx: BackupsContext, work: BackupWork, step: StepContext): Promise<void> {
  const storage = await openDestination(ctx, step.workspaceId, work.backup.destinationId);
  const pairs = await pairsOf(ctx, work, step);
  for (const [done, pair] of pairs.entries()) {
    step.progress(done / pairs.length, `dumping ${pair.part.name}`);
    if (pair.part.storedAt === null) await storePart(ctx, work.target.dataHost, storage, pair, step);
  }
}

/** Each part with what it is made from, or was. */
export async function pairsOf(
  ctx: BackupsContext,
  { backup, environment, target }: BackupWork,
  step: StepContext,
): Promise<{ readonly part: PartRow; readonly source: BackupSource }[]> {
  const wish = { serviceId: backup.serviceId, mustAnswer: false };
  const sources = await sourcesOf(ctx, target, environment, wish);
  const parts = await listParts(ctx.db, step.workspaceId, [backup.id]);
  return parts.map((part) => ({ part, source: sourceFor(part, sources) }));
}

function sourceFor(part: PartRow, sources: readonly BackupSource[]): BackupSource {
  const found = sources.find(
    ({ type, serviceId, name }) =>
      type === part.sourceType && (type === 'service' ? serviceId === part.serviceId : name === part.name),
  );
  if (!found) throw new Fault('database_down', `${part.name} was taken away while it was backed up.`);
  return found;
}

/** What is known of the whole once all parts are stored: with one part its sum, with several the sum over theirs. */
export async function sumUp(ctx: BackupsContext, { backup }: BackupWork, step: StepContext): Promise<void> {
  const parts = await listParts(ctx.db, step.workspaceId, [backup.id]);
  const sums = parts.map(({ sha256 }) => sha256 ?? '');
  const [first = ''] = sums;
  const sha256 = sums.length === 1 ? first : createHash('sha256').update(sums.join('\n')).digest('hex');
  const sizeBytes = parts.reduce((sum, part) => sum + (part.sizeBytes ?? 0), 0);
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await queries.setStored(tx, step.workspaceId, backup.id, { sizeBytes, sha256 });
  });
}

/** Everything of it at its destination: for one that was not finished, or is to go. */
export async function removeObjects(
  ctx: BackupsContext,
  { id, destinationId }: Pick<queries.BackupRow, 'id' | 'destinationId'>,
  { workspaceId, signal }: Pick<StepContext, 'workspaceId' | 'signal'>,
): Promise<void> {
  const parts = await listParts(ctx.db, workspaceId, [id]);
  if (parts.length === 0) return;
  const storage = await openDestination(ctx, workspaceId, destinationId);
  for (const { objectName } of parts) {
    await storage.clearBroken(objectName, { signal });
    await storage.remove(objectName, { signal });
  }
}

/** For an undo: what cannot be taken away now is noted, and the schedule goes on with it. */
export async function removeObjectsOrNote(
  ctx: BackupsContext,
  backup: Pick<queries.BackupRow, 'id' | 'destinationId'>,
  step: StepContext,
): Promise<void> {
  try {
    await removeObjects(ctx, backup, step);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    step.log(`what was stored could not be taken away, and will be later: ${error.message}`);
    await setToClear(ctx.db, step.workspaceId, backup.id, ctx.clock.now());
  }
}
