/** One builder at a time on this machine: two would make the same tree twice, and each half as fast. */
import { mkdirSync } from 'node:fs';
import { hold } from '../held-name.ts';
import { cacheDir } from '../places.ts';

export async function building<T>(work: () => Promise<T>, told?: () => void): Promise<T> {
  const held = await hold('build', told);
  try {
    mkdirSync(cacheDir, { recursive: true, mode: 0o755 });
    return await work();
  } finally {
    await held.release();
  }
}
