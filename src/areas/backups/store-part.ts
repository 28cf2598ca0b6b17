/**
 * One part from the database to its destination, as it comes: hashed, sealed where it leaves this machine, and stored
 * whole or not at all. An object is there only where the tool that made the dump ended well.
 */
import { createHash } from 'node:crypto';
import { sealStream } from '../../adapters/storage/sealed-stream.ts';
import type { Storage } from '../../adapters/storage/storage.ts';
import type { DockerHost } from '../../engine/docker-host.ts';
import { Fault } from '../../fault.ts';
import type { StepContext } from '../../operations/definition.ts';
import { assertLease } from '../../operations/operations.ts';
import type { BackupsContext } from './backups.ts';
import type { Dump } from './engines/engine.ts';
import { engineFor } from './engines/engines.ts';
import { type PartRow, type StoredPart, setStored } from './part-queries.ts';
import { keyOf } from './plan-parts.ts';
import type { BackupSource } from './sources.ts';

/** How often what has arrived is told. */
const tellEveryBytes = 32 * 1024 * 1024;

export async function storePart(
  ctx: BackupsContext,
  site: DockerHost,
  storage: Storage,
  { part, source }: { readonly part: PartRow; readonly source: BackupSource },
  step: StepContext,
): Promise<void> {
  const { signal, workspaceId } = step;
  await storage.clearBroken(part.objectName, { signal });
  const key = await keyOf(ctx, workspaceId, part);
  const dump = await engineFor(part.kind).dump(site, source.source);
  const seen = { bytes: 0, sha256: '', ended: undefined as Awaited<Dump['ended']> | undefined };
  const plain = watched(dump, seen, step);
  const stored = await storage.put(part.objectName, key ? sealStream(key, plain) : plain, { signal });
  if (!seen.ended) throw new Error('a dump was stored before it had ended');
  if (!key && stored.sha256 !== seen.sha256)
    throw new Fault('storage_failed', 'What was stored is not what was dumped.');
  const { figures, rawBytes, warning } = seen.ended;
  const row: StoredPart = {
    sizeBytes: stored.bytes,
    dumpBytes: seen.bytes,
    sha256: seen.sha256,
    figures,
    rawBytes,
    warning,
  };
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await setStored(tx, workspaceId, part.id, row, ctx.clock.now());
  });
  if (warning !== null) step.log(`${part.name}: ${warning}`);
  step.log(`${part.name}: ${stored.bytes} bytes stored`);
}

/** Ends only after the tool has said how it ended: a dump that failed must not look like one that is whole. */
async function* watched(
  { content, ended }: Dump,
  seen: { bytes: number; sha256: string; ended: Awaited<Dump['ended']> | undefined },
  step: StepContext,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  let told = 0;
  // Whoever waits for it hears of its failure below; where the content breaks first, that is the better word.
  ended.catch(() => undefined);
  try {
    for await (const chunk of content) {
      const bytes: Buffer = chunk;
      hash.update(bytes);
      seen.bytes += bytes.length;
      if (seen.bytes - told >= tellEveryBytes) {
        told = seen.bytes;
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
