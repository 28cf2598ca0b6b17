/**
 * The dump of a part, from its destination: decrypted where it was encrypted, and checked against the hash that was taken
 * when it was made. The last chunk is held back until the hash is known, so that nobody takes a damaged one for whole.
 */
import { createHash } from 'node:crypto';
import { damaged } from '../../../adapters/storage/sealed-header.ts';
import { openStream } from '../../../adapters/storage/sealed-stream.ts';
import type { Storage } from '../../../adapters/storage/storage.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import type { WorkspaceId } from '../../../ids.ts';
import type { BackupsContext } from '../backups.ts';
import type { ServerFile } from '../engines/engine.ts';
import { prepareFolder, writeServerFile } from '../engines/server-files.ts';
import type { PartRow } from '../part-queries.ts';
import { partKeyOf } from './plan-parts.ts';

export async function readPart(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  storage: Storage,
  part: PartRow,
  signal: AbortSignal,
): Promise<AsyncGenerator<Buffer, void, undefined>> {
  const key = await partKeyOf(ctx, workspaceId, part);
  const stored = storage.read(part.objectName, { signal });
  return checked(key ? openStream(key, stored) : stored, part);
}

/** To the server, as a file of the work with this id. */
export async function fetchPart(
  ctx: BackupsContext,
  host: DockerHost,
  storage: Storage,
  part: PartRow,
  workId: string,
): Promise<ServerFile> {
  await prepareFolder(host, workId, part.dumpBytes ?? 0);
  const content = await readPart(ctx, host.placement.workspaceId, storage, part, host.signal);
  return writeServerFile(host, workId, part.id, content);
}

async function* checked(
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
  if (bytes !== dumpBytes) throw damaged(`it has ${bytes} bytes instead of ${dumpBytes}`);
  if (hash.digest('hex') !== sha256) throw damaged('its SHA-256 is not the one that was recorded');
  if (held) yield held;
}
