/**
 * The dump of a part, from its destination: opened where it was sealed, and proven against the sum that was taken when it
 * was made. The last piece is held back until the sum is known, so that nobody takes a wrong one for whole.
 */
import { createHash } from 'node:crypto';
import { damaged } from '../../adapters/storage/sealed-header.ts';
import { openStream } from '../../adapters/storage/sealed-stream.ts';
import type { Storage } from '../../adapters/storage/storage.ts';
import type { DockerHost } from '../../engine/docker-host.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { BackupsContext } from './backups.ts';
import type { ServerFile } from './engines/engine.ts';
import type { PartRow } from './part-queries.ts';
import { keyOf } from './plan-parts.ts';
import { prepareFolder, writeServerFile } from './server-files.ts';

export async function readPart(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  storage: Storage,
  part: PartRow,
  signal: AbortSignal,
): Promise<AsyncGenerator<Buffer, void, undefined>> {
  const key = await keyOf(ctx, workspaceId, part);
  const stored = storage.read(part.objectName, { signal });
  return proven(key ? openStream(key, stored) : stored, part);
}

/** To the server, as a file of the work with this id. */
export async function fetchPart(
  ctx: BackupsContext,
  site: DockerHost,
  storage: Storage,
  part: PartRow,
  workId: string,
): Promise<ServerFile> {
  await prepareFolder(site, workId, part.dumpBytes ?? 0);
  const content = await readPart(ctx, site.placement.workspaceId, storage, part, site.signal);
  return writeServerFile(site, workId, part.id, content);
}

async function* proven(
  content: AsyncIterable<Buffer>,
  { sha256, dumpBytes }: Pick<PartRow, 'sha256' | 'dumpBytes'>,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  let bytes = 0;
  let held: Buffer | undefined;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    if (held) yield held;
    held = chunk;
  }
  if (bytes !== dumpBytes) throw damaged(`it has ${bytes} bytes, and had ${dumpBytes}`);
  if (hash.digest('hex') !== sha256) throw damaged('its SHA-256 is not the one of when it was made');
  if (held) yield held;
}
