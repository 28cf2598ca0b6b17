/**
 * Backups in a folder of this machine. A file has its name only once it lies on the disk whole: it is written beside
 * under a name that no object can have, flushed, and renamed. Refuses names that would leave the folder.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, errorText, Fault } from '../../fault.ts';
import {
  checkBeginning,
  checkName,
  cutShort,
  hashing,
  proveStorage,
  type Storage,
  type Stored,
} from './storage.ts';

const readBytes = 256 * 1024;

/** How much is written between two looks at what is left. */
const lookEveryBytes = 16 * 1024 * 1024;

/** `keepFreeBytes` stay free on the disk: what else lies there, the database above all, has to go on. */
export function createLocalStorage(folder: string, keepFreeBytes = 0): Storage {
  const placeOf = (name: string) => {
    checkName(name);
    return join(folder, name);
  };

  const storage: Storage = {
    async put(name, content, { signal }) {
      const path = placeOf(name);
      const parent = dirname(path);
      const beside = join(parent, `.${basename(path)}.${randomBytes(6).toString('hex')}.part`);
      let written = 0;
      const onDisk = <T>(work: () => Promise<T>) => disk(work, folder, written);
      signal.throwIfAborted();
      const made = await onDisk(() => mkdir(parent, { recursive: true, mode: 0o700 }));
      const file = await onDisk(() => open(beside, 'wx', 0o600));
      try {
        let stored: Stored | undefined;
        const keep = (seen: Stored) => {
          stored = seen;
        };
        let lookAt = 0;
        for await (const chunk of hashing(content, keep)) {
          if (written >= lookAt) {
            await onDisk(() => requireFree(parent, keepFreeBytes));
            lookAt = written + lookEveryBytes;
          }
          for (let offset = 0; offset < chunk.length; ) {
            signal.throwIfAborted();
            const { bytesWritten } = await onDisk(() => file.write(chunk, offset));
            offset += bytesWritten;
            written += bytesWritten;
          }
        }
        await onDisk(() => file.sync());
        const { size } = await onDisk(() => file.stat());
        if (stored === undefined || size !== stored.bytes)
          throw new Fault('storage_failed', `The file has ${size} bytes, and not those that were written.`);
        await onDisk(() => file.close());
        signal.throwIfAborted();
        await onDisk(() => rename(beside, path));
        await onDisk(() => syncFolders(parent, made === undefined ? parent : dirname(made)));
        return stored;
      } catch (error) {
        // Closing twice does no harm, nor does a name that the rename has taken already.
        await file.close();
        await rm(beside, { force: true });
        throw error;
      }
    },

    async *read(name, { signal }) {
      const path = placeOf(name);
      signal.throwIfAborted();
      const file = await open(path, 'r').catch((error: unknown) => {
        throw errorCode(error) === 'ENOENT' ? missing(error) : localFault(error, folder, 0);
      });
      try {
        const { size } = await disk(() => file.stat(), folder, 0);
        for (let seen = 0; seen < size; ) {
          signal.throwIfAborted();
          const room = Buffer.allocUnsafe(readBytes);
          const { bytesRead } = await disk(() => file.read(room, 0, readBytes, seen), folder, 0);
          if (bytesRead === 0) throw cutShort(seen, size);
          seen += bytesRead;
          yield room.subarray(0, bytesRead);
        }
      } finally {
        await file.close();
      }
    },

    async remove(name, { signal }) {
      const path = placeOf(name);
      signal.throwIfAborted();
      try {
        await rm(path, { force: true });
        await syncFolders(dirname(path), dirname(path));
      } catch (error) {
        // A folder that is not there holds nothing that could be left.
        if (errorCode(error) !== 'ENOENT') throw localFault(error, folder, 0);
      }
    },

    async clearBroken(prefix, { signal }) {
      checkBeginning(prefix);
      const slash = prefix.lastIndexOf('/') + 1;
      try {
        await clear(join(folder, prefix.slice(0, slash)), prefix.slice(slash), signal);
      } catch (error) {
        signal.throwIfAborted();
        throw localFault(error, folder, 0);
      }
    },

    prove: (options) => proveStorage(storage, options),
  };
  return storage;
}

async function requireFree(folder: string, keepFreeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= keepFreeBytes) return;
  throw new Fault('storage_full', 'The disk of the service is nearly full, so no more is stored there.', {
    hint: 'Make room there, keep fewer backups, or choose another destination. Whoever runs this instance can lower SLIPWAY_KEEP_FREE_MB.',
  });
}

/** Only what the disk says is judged as such: the content may fail with the same codes, for reasons of its own. */
async function disk<T>(work: () => Promise<T>, folder: string, written: number): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw localFault(error, folder, written);
  }
}

/** Names are kept by folders: without this, a file that was flushed may be gone after a loss of power. */
async function syncFolders(from: string, upTo: string): Promise<void> {
  for (let path = from; ; path = dirname(path)) {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
    if (path === upTo || path === dirname(path)) return;
  }
}

async function clear(path: string, begins: string, signal: AbortSignal): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  for (const entry of entries) {
    signal.throwIfAborted();
    const inside = join(path, entry.name);
    if (entry.isDirectory() && entry.name.startsWith(begins)) await clear(inside, '', signal);
    else if (entry.isFile() && entry.name.startsWith(`.${begins}`) && entry.name.endsWith('.part'))
      await rm(inside, { force: true });
  }
}

/** A code that says nothing of disks is a mistake of ours, and goes on as it is. */
function localFault(error: unknown, folder: string, written: number): unknown {
  const code = errorCode(error);
  const words = { evidence: errorText(error), cause: error };
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new Fault('storage_full', `The disk was full after ${written} bytes of the backup.`, {
        hint: 'Make room there, keep fewer backups, or choose another destination.',
        ...words,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ELOOP':
    case 'EEXIST':
      return new Fault('storage_refused', `The folder ${folder} cannot be used for backups.`, {
        hint: 'The service needs a folder of its own that it may write to.',
        ...words,
      });
    case 'EIO':
    case 'ENOENT':
    case 'ESTALE':
    case 'EMFILE':
    case 'ENFILE':
      return new Fault('storage_failed', 'The disk of the backups failed.', {
        hint: 'Look at the disk of the machine that Slipway runs on.',
        ...words,
      });
    default:
      return error;
  }
}

function missing(error: unknown): Fault {
  return new Fault('backup_missing', 'There is no such backup in the folder.', {
    hint: 'It was removed by someone else. Use another one.',
    evidence: errorText(error),
  });
}
