/** The dump of a part as the database's own tool made it: decrypted, and checked against its hash while it is read. */
import { Readable } from 'node:stream';
import { Fault } from '../../fault.ts';
import type { BackupId, BackupPartId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import { type BackupsContext, backupNotFound } from './backups.ts';
import { openDestination } from './destinations.ts';
import { readPart } from './make/read-part.ts';
import { listParts, type PartRow } from './part-queries.ts';
import { type BackupRow, findVisible } from './queries.ts';

export interface Download {
  readonly fileName: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly content: Readable;
}

export async function downloadBackup(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { id, partId }: { readonly id: BackupId; readonly partId: BackupPartId | null },
  signal: AbortSignal,
): Promise<Download> {
  const backup = await findVisible(ctx.db, workspaceId, environmentId, id);
  if (!backup) throw backupNotFound();
  if (backup.status !== 'succeeded')
    throw new Fault('backup_unfinished', 'Only a backup that has succeeded can be downloaded.');
  const part = chosen(await listParts(ctx.db, workspaceId, [id]), partId);
  const storage = await openDestination(ctx, workspaceId, backup.destinationId);
  const content = await readPart(ctx, workspaceId, storage, part, signal);
  // The first chunk now: where the object is gone or cannot be decrypted, that is an answer and not a broken download.
  const first = await content.next();
  return {
    fileName: fileNameOf(backup, part),
    bytes: part.dumpBytes ?? 0,
    sha256: part.sha256 ?? '',
    content: Readable.from(all(first, content), { objectMode: false }),
  };
}

async function* all(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

function chosen(parts: readonly PartRow[], partId: BackupPartId | null): PartRow {
  const found = partId === null ? parts : parts.filter(({ id }) => id === partId);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (partId !== null) throw backupNotFound();
  const names = parts.map(({ id, name }) => `${id} (${name})`).join(', ');
  throw new Fault('invalid_input', 'The backup has several parts; name one of them.', {
    errors: [{ path: 'partId', message: `is required: one of ${names}` }],
  });
}

/** Of letters and digits alone: names are the user's. */
function fileNameOf({ environmentName, createdAt }: BackupRow, { name, kind }: PartRow): string {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 40);
  const at = createdAt.toISOString().slice(0, 19).replace(/[:T]/g, '-');
  const ending = kind === 'volume' ? 'tar.zst' : `${kind}.zst`;
  return `${plain(environmentName)}-${plain(name)}-${at}.${ending}`;
}
