/**
 * The data folder: everything an instance keeps on disk. Owns its layout and the lock that lets one process
 * at a time use it. The lock is a name in the kernel, so a killed process leaves none behind.
 */
import { mkdirSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { errorCode, errorText, Fault } from '../fault.ts';

/** Where everything lies in it. */
export interface DataLayout {
  readonly path: string;
  readonly masterKeyFile: string;
  readonly postgresDir: string;
  readonly postgresPasswordFile: string;
  readonly postgresLogFile: string;
  readonly outboxDir: string;
  /** Mirrors of repositories. They can be thrown away: they are fetched again. */
  readonly gitDir: string;
  /** Working trees that were uploaded. They cannot be had again. */
  readonly uploadsDir: string;
}

export interface DataFolder extends DataLayout {
  release(): Promise<void>;
}

export function layoutOf(path: string): DataLayout {
  return {
    path,
    masterKeyFile: join(path, 'master.key'),
    postgresDir: join(path, 'postgres'),
    postgresPasswordFile: join(path, 'postgres.password'),
    postgresLogFile: join(path, 'postgres.log'),
    outboxDir: join(path, 'outbox'),
    gitDir: join(path, 'git'),
    uploadsDir: join(path, 'uploads'),
  };
}

export async function openDataFolder(path: string): Promise<DataFolder> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(path, error);
  }
  const lock = await takeLock(path);
  return {
    ...layoutOf(path),
    release: () => new Promise((resolve) => lock.close(() => resolve())),
  };
}

function takeLock(path: string): Promise<Server> {
  // Device and inode, not the path: two names of one folder are one folder.
  const { dev, ino } = statSync(path);
  const lock = createServer((socket) => socket.destroy());
  lock.unref();
  return new Promise((resolve, reject) => {
    lock.once('error', (error) => {
      if (errorCode(error) !== 'EADDRINUSE') return reject(unusable(path, error));
      const hint = 'Stop it first, or give this one a folder of its own with SLIPWAY_DATA_DIR.';
      reject(
        new Fault('data_folder_in_use', `Another Slipway is running on the data folder ${path}. ${hint}`),
      );
    });
    lock.listen(`\0slipway-data-${dev}-${ino}`, () => resolve(lock));
  });
}

function unusable(path: string, cause: unknown): Fault {
  return new Fault('data_folder_unusable', `The data folder ${path} cannot be used: ${errorText(cause)}.`, {
    cause,
  });
}
