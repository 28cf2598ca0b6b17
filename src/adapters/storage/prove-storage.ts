/** The proof that a storage can be used: something small is written, read, compared and removed. */
import { randomBytes } from 'node:crypto';
import { Fault } from '../../fault.ts';
import type { Storage, StorageOptions } from './storage.ts';

export async function proveStorage(storage: Omit<Storage, 'prove'>, options: StorageOptions): Promise<void> {
  const name = `slipway-proof-${randomBytes(8).toString('hex')}`;
  const bytes = randomBytes(1024);
  await storage.put(name, one(bytes), options);
  try {
    const read: Buffer[] = [];
    for await (const chunk of storage.read(name, options)) read.push(chunk);
    if (!Buffer.concat(read).equals(bytes))
      throw new Fault('storage_failed', 'The storage gives back something else than was written.', {
        hint: 'It cannot be used for backups.',
      });
  } catch (error) {
    // What cannot be read back may still be removed; what is wrong is the reading, so that is what is told.
    await storage.remove(name, options).catch(() => undefined);
    throw error;
  }
  await storage.remove(name, options);
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  yield bytes;
}
