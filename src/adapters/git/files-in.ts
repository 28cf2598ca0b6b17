/** What lies in folders that git writes to at the same moment: a file, or the folder itself, may be gone again. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../fault.ts';

/** Together, in bytes; folders in it do not count. */
export function bytesIn(folder: string): number {
  return namesIn(folder).reduce((sum, name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (found?.isFile() ? found.size : 0);
  }, 0);
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
