/**
 * One part from the database to its destination, as a stream: hashed, encrypted where it leaves this machine, and stored
 * whole or not at all. An object is there only where the tool that made the dump ended well.
 */
import { createHash } from 'node:crypto';
import { sealStream } from '../../../adapters/storage/sealed-stream.ts';
import type { Storage } from '../../../adapters/storage/storage.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import type { StepContext } from '../../../operations/definition.ts';
import { assertLease } from '../../../operations/operations.ts';
import type { BackupsContext } from '../backups.ts';
import type { Dump } from '../engines/engine.ts';
import { engines } from '../engines/engines.ts';
import { type PartRow, setPartStored } from '../part-queries.ts';
import { partKeyOf } from './plan-parts.ts';
import type { BackupSource } from './sources.ts';

const logEveryBytes = 32 * 1024 * 1024;

export interface SourcedPart {
  readonly part: PartRow;
  readonly source: BackupSource;
}

interface Seen {
  bytes: number;
  sha256: string;
  ended: Awaited<Dump['ended']> | undefined;
}

export async function storePart(
  ctx: BackupsContext,
  host: DockerHost,
  storage: Storage,
  { part, source }: SourcedPart,
  step: StepContext,
): Promise<void> {
  const { signal, workspaceId } = step;
  await storage.clearBroken(part.objectName, { signal });
  const key = await partKeyOf(ctx, workspaceId, part);
  const dump = await engines[part.kind].dump(host, source.source);
  const seen: Seen = { bytes: 0, sha256: '', ended: undefined };
  const plain = hashed(dump, seen, step);
  const stored = await storage.put(part.objectName, key ? sealStream(key, plain) : plain, { signal });
  if (!seen.ended) throw new Error('a dump was stored before it had ended');
  if (!key && stored.sha256 !== seen.sha256)
    throw new Fault('storage_failed', 'The stored object is not what was dumped.');
  const row = { ...seen.ended, sizeBytes: stored.bytes, dumpBytes: seen.bytes, sha256: seen.sha256 };
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await setPartStored(tx, workspaceId, part.id, row, ctx.clock.now());
  });
  if (row.warning !== null) step.log(`${part.name}: ${row.warning}`);
  step.log(`${part.name}: ${stored.bytes} bytes stored`);
}

/** Ends only after the tool has reported how it ended: a dump that failed must not look like one that is whole. */
async function* hashed(
  { content, ended }: Dump,
  seen: Seen,
  step: StepContext,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  let logged = 0;
  // Awaited below; where the content breaks first, its error says more.
  ended.catch(() => undefined);
  try {
    for await (const chunk of content) {
      const bytes: Buffer = chunk;
      hash.update(bytes);
      seen.bytes += bytes.length;
      if (seen.bytes - logged >= logEveryBytes) {
        logged = seen.bytes;
        step.log(`${Math.round(seen.bytes / 1024 / 1024)} MB so far`);
      }
      yield bytes;
    }
    seen.ended = await ended;
    seen.sha256 = hash.digest('hex');
  } finally {
    content.destroy();
  }
}
