/** The places that backups go to: shown without their secrets, and opened as storage. */
import { createS3Storage } from '../../adapters/storage/s3/s3-storage.ts';
import type { Storage } from '../../adapters/storage/storage.ts';
import type { BackupDestinationId, WorkspaceId } from '../../ids.ts';
import type { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { type BackupsContext, credentialsPlace } from './backups.ts';
import * as queries from './config-queries.ts';

export interface S3Place {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
}

export type ShownDestination = { readonly type: 'local' } | ({ readonly type: 's3' } & S3Place);

export function openS3(ctx: Pick<BackupsContext, 'fetch'>, place: S3Place, secretAccessKey: Secret): Storage {
  const { endpoint, region, bucket, prefix, accessKeyId } = place;
  return createS3Storage({
    endpoint,
    region,
    bucket,
    prefix,
    accessKeyId,
    secretAccessKey,
    fetch: ctx.fetch,
  });
}

/** Where a backup lies, also one of long ago: the place of a config is never changed, only replaced. */
export async function openDestination(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  id: BackupDestinationId | null,
): Promise<Storage> {
  if (id === null) return ctx.localStorage;
  const row = await findDestination(ctx.db, workspaceId, id);
  const secret = await ctx.sealer.open(ctx.db, credentialsPlace(workspaceId, id), row.credentialsSealed);
  return openS3(ctx, row, secret);
}

export async function findDestination(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: BackupDestinationId,
): Promise<queries.DestinationRow> {
  const [row] = await queries.listDestinations(db, workspaceId, [id]);
  if (!row) throw new Error('a destination that is pointed to is not there');
  return row;
}

export async function showDestinations(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly (BackupDestinationId | null)[],
): Promise<(id: BackupDestinationId | null) => ShownDestination> {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const rows = wanted.length > 0 ? await queries.listDestinations(db, workspaceId, wanted) : [];
  const shown = new Map(rows.map((row) => [row.id, shownS3(row)]));
  return (id) => (id === null ? { type: 'local' } : (shown.get(id) ?? { type: 'local' }));
}

function shownS3({ endpoint, region, bucket, prefix, accessKeyId }: S3Place): ShownDestination {
  return { type: 's3', endpoint, region, bucket, prefix, accessKeyId };
}
