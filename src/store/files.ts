/** Atomic writes of small files, also across a power cut. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../fault.ts';

export function writeFileAtomic(path: string, content: string | Buffer, mode: number): void {
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, 'w', mode);
  try {
    writeSync(file, typeof content === 'string' ? Buffer.from(content) : content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  fsyncFolder(dirname(path));
}

/** Makes a rename in this folder survive a power cut. */
export function fsyncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export function readFileIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
