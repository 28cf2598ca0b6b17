/** What a server boots from: the layers of its root, and Docker's folder where it is not to begin empty. */
import { globSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../command.ts';

export interface Disk {
  /** Laid over each other, the topmost first. */
  readonly folders: readonly string[];
  /** To be copied to `/var/lib/docker`. */
  readonly docker?: string;
}

/**
 * The layers of images are never written to, so they are shared by links instead of being copied; all else is copied,
 * what containers have written too.
 */
export async function copyDocker(from: string, to: string): Promise<void> {
  const layers = globSync('image/overlay2/layerdb/sha256/*/cache-id', { cwd: from });
  const shared = new Set(layers.map((file) => readFileSync(join(from, file), 'utf8').trim()));
  const entries = readdirSync(from).filter((name) => name !== 'overlay2');
  await run('cp', ['--archive', '--target-directory', to, ...entries.map((name) => join(from, name))]);
  mkdirSync(join(to, 'overlay2'), { mode: 0o710 });
  const [linked, copied] = [[] as string[], [] as string[]];
  for (const name of readdirSync(join(from, 'overlay2')))
    (shared.has(name) ? linked : copied).push(join(from, 'overlay2', name));
  const target = ['--target-directory', join(to, 'overlay2')];
  await run('cp', ['--archive', '--link', ...target, ...linked]);
  await run('cp', ['--archive', ...target, ...copied]);
}
