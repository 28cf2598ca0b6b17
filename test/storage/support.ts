/** What the tests of storages share: content of any length that costs no memory, and an S3 of the lab on loopback. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { bucket, type LabS3, region, startS3 } from '../../lab/services/s3.ts';
import { createEgress } from '../../src/adapters/egress/egress.ts';
import { createS3Storage, type S3Options } from '../../src/adapters/storage/s3/s3-storage.ts';
import type { Storage, Stored } from '../../src/adapters/storage/storage.ts';
import { Secret } from '../../src/secret.ts';

export const signal = new AbortController().signal;

/** The same bytes for the same length, different everywhere, in pieces of an awkward size. */
export async function* content(bytes: number, piece = 300_007): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0, index = 0; at < bytes; at += piece, index += 1) {
    const part = Buffer.alloc(Math.min(piece, bytes - at), `${index} of ${bytes}; `);
    yield part;
  }
}

export async function checksum(of: AsyncIterable<Buffer>): Promise<Stored> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of of) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

export function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-test-storage-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Scene {
  readonly s3: LabS3;
  readonly storage: Storage;
  /** How long it would have waited before each further try, in milliseconds. */
  readonly waits: number[];
  with(change: Partial<S3Options>): Storage;
}

export const keys = { accessKeyId: 'LABKEY', secretAccessKey: 'a secret/of+the lab' };

export async function startScene(t: TestContext): Promise<Scene> {
  const s3 = await startS3({ address: '127.0.0.1', port: 0, dir: scratch(t), keys, page: 5 });
  const egress = createEgress({ allowPrivate: true });
  t.after(async () => {
    await egress.close();
    await s3.close();
  });
  const waits: number[] = [];
  const wait = async (ms: number, stop: AbortSignal) => {
    stop.throwIfAborted();
    waits.push(ms);
  };
  const make = (change: Partial<S3Options>) =>
    createS3Storage(
      {
        endpoint: s3.endpoint,
        region,
        bucket,
        prefix: 'of slipway',
        fetch: egress.fetch,
        accessKeyId: keys.accessKeyId,
        secretAccessKey: new Secret(keys.secretAccessKey),
        ...change,
      },
      { wait },
    );
  return { s3, storage: make({}), waits, with: make };
}

/** That nothing of a broken write is left: neither an object nor parts of one. */
export function assertEmpty({ objects }: LabS3): void {
  assert.deepEqual(
    [objects.list().map(({ key }) => key), objects.uploads().map(({ key }) => key), objects.usedBytes()],
    [[], [], 0],
  );
}
