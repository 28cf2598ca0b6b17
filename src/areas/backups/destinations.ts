/** Where backups are stored: shown without secrets, and opened as storage. */
import { createS3Storage } from '../../adapters/storage/s3/s3-storage.ts';
import type { Storage } from '../../adapters/storage/storage.ts';
import { Fault } from '../../fault.ts';
import type { BackupDestinationId, WorkspaceId } from '../../ids.ts';
import type { StepContext } from '../../operations/definition.ts';
import type { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { type BackupsContext, destinationCredentialsPlace } from './backups.ts';
import { listParts } from './part-queries.ts';
import type { BackupRow } from './queries.ts';
import { setCleanup } from './retention/deletion-queries.ts';
import { type DestinationRow, listDestinations } from './schedule/config-queries.ts';

export type S3Settings = Pick<DestinationRow, 'endpoint' | 'region' | 'bucket' | 'prefix' | 'accessKeyId'>;

export type DestinationView = { readonly type: 'local' } | ({ readonly type: 's3' } & S3Settings);

export function openS3(
  { fetch }: Pick<BackupsContext, 'fetch'>,
  settings: S3Settings,
  secretAccessKey: Secret,
): Storage {
  const { endpoint, region, bucket, prefix, accessKeyId } = settings;
  return createS3Storage({ endpoint, region, bucket, prefix, accessKeyId, secretAccessKey, fetch });
}

/** Of a backup, however old: the destination of a config is never changed, only replaced. */
export async function openDestination(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  id: BackupDestinationId | null,
): Promise<Storage> {
  if (id === null) return ctx.localStorage;
  const row = await findDestination(ctx.db, workspaceId, id);
  const secret = await ctx.sealer.open(
    ctx.db,
    destinationCredentialsPlace(workspaceId, id),
    row.credentialsSealed,
  );
  return openS3(ctx, row, secret);
}

export async function findDestination(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: BackupDestinationId,
): Promise<DestinationRow> {
  const [row] = await listDestinations(db, workspaceId, [id]);
  if (!row) throw new Error('a destination that is referenced is not there');
  return row;
}

export async function destinationViews(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly (BackupDestinationId | null)[],
): Promise<(id: BackupDestinationId | null) => DestinationView> {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const rows = wanted.length > 0 ? await listDestinations(db, workspaceId, wanted) : [];
  const views = new Map(
    rows.map(({ id, endpoint, region, bucket, prefix, accessKeyId }) => [
      id,
      { type: 's3' as const, endpoint, region, bucket, prefix, accessKeyId },
    ]),
  );
  return (id) => (id === null ? undefined : views.get(id)) ?? { type: 'local' };
}

type StoredBackup = Pick<BackupRow, 'id' | 'destinationId'>;

/** Everything that a backup has stored, finished or not. */
export async function removeObjects(
  ctx: BackupsContext,
  { id, destinationId }: StoredBackup,
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

/** For an undo: what cannot be removed now is left to the schedule. */
export async function removeObjectsOrDefer(
  ctx: BackupsContext,
  backup: StoredBackup,
  step: StepContext,
): Promise<void> {
  try {
    await removeObjects(ctx, backup, step);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    step.log(`what was stored could not be removed, and will be later: ${error.message}`);
    await setCleanup(ctx.db, step.workspaceId, backup.id, ctx.clock.now());
  }
}
