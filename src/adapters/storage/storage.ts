/**
 * Where backups lie: a folder of this machine, or a bucket of any S3. Owns names, parts, checks and what a broken write
 * left; refuses to call anything stored that does not lie there as it was sent, and to leave its own prefix.
 * Knows nothing of databases, of workspaces, or of what the bytes mean.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Fault } from '../../fault.ts';

export interface Stored {
  /** As they lie there. */
  readonly bytes: number;
  /** Hexadecimal, over the same bytes. */
  readonly sha256: string;
}

export interface StorageOptions {
  readonly signal: AbortSignal;
}

/**
 * A name is made by us of ids: letters, digits, `-`, `.` and `/`. Failures are faults: `storage_refused` (keys, bucket or
 * rights), `storage_full`, `storage_unreachable` (worth another try), `storage_failed` (it broke its promise), and
 * `backup_missing` where there is no such object.
 */
export interface Storage {
  /**
   * Whole or not at all, with constant memory. A second put of the same name replaces the first, and what a broken one
   * left; a first that is there stays until the second is whole. What the content fails with is thrown as it is.
   */
  put(name: string, content: AsyncIterable<Buffer>, options: StorageOptions): Promise<Stored>;
  /** From its first byte on; ends with a fault where it is cut short. */
  read(name: string, options: StorageOptions): AsyncIterable<Buffer>;
  /** Does nothing where there is none. */
  remove(name: string, options: StorageOptions): Promise<void>;
  /** Takes away what broken puts left under names that begin like this. */
  clearBroken(prefix: string, options: StorageOptions): Promise<void>;
  /** Writes, reads and removes a small object: for whoever sets it up to hear at once what is wrong. */
  prove(options: StorageOptions): Promise<void>;
}

/** One that could lead elsewhere is a mistake in our own code. */
const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const beginning = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*(?:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/;
const longestName = 512;

export function checkName(name: string): void {
  if (name.length > longestName || !name.split('/').every((each) => segment.test(each)))
    throw new Error(`«${name.slice(0, 100)}» is no name for a stored object`);
}

/** The beginning of names; empty stands for all of them. */
export function checkBeginning(prefix: string): void {
  if (prefix.length > longestName || !beginning.test(prefix))
    throw new Error(`«${prefix.slice(0, 100)}» is no beginning of the name of a stored object`);
}

/** Hands bytes on as they come. `onEnd` is called once, after the last byte was taken; never where the content breaks off. */
export async function* hashing(
  content: AsyncIterable<Buffer>,
  onEnd: (seen: Stored) => void,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  onEnd({ bytes, sha256: hash.digest('hex') });
}

/** For bytes that end before those that were promised. */
export function cutShort(seen: number, expected: number): Fault {
  return new Fault('storage_failed', `The stored backup ended after ${seen} of ${expected} bytes.`, {
    hint: 'Try again. If it stays, use another backup.',
  });
}

/** The proof that a storage can be used: something small is written, read, compared and removed. */
export async function proveStorage(storage: Omit<Storage, 'prove'>, options: StorageOptions): Promise<void> {
  const name = `slipway-proof-${randomBytes(8).toString('hex')}`;
  const bytes = randomBytes(1024);
  await storage.put(name, Readable.from([bytes]), options);
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
