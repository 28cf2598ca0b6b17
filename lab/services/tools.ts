/**
 * Programs that Debian packages and the lab runs as they are: the image registry and the ACME authority. They come
 * from a tree of their own, so that nothing has to be installed on this machine, and run in the lab's namespace of
 * processes, so that they end with it; on this machine's network, so that everybody reaches them.
 */
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { debianTree, layer, type Tree } from '../build/trees.ts';
import { spawnBound } from '../command.ts';
import type { LabNetwork } from '../network.ts';

export async function toolsTree(): Promise<Tree> {
  const below = await debianTree('trixie');
  return layer({ name: 'tools', below, packages: ['docker-registry', 'pebble'] });
}

/** Only what hangs takes so long; a busy machine may take most of it. */
const hangMs = 120_000;

export class Tools {
  readonly #network: LabNetwork;
  readonly #dir: string;

  private constructor(network: LabNetwork, dir: string) {
    this.#network = network;
    this.#dir = dir;
  }

  static async open(network: LabNetwork, dir: string): Promise<Tools> {
    const tree = await toolsTree();
    for (const each of ['upper', 'work', 'root']) mkdirSync(join(dir, each), { recursive: true });
    const layers = `lowerdir=${tree.folders.join(':')},upperdir=${dir}/upper,workdir=${dir}/work`;
    await network.run('mount', '-t', 'overlay', 'overlay', '-o', layers, join(dir, 'root'));
    return new Tools(network, dir);
  }

  /** A file that the programs see at that path. */
  put(path: string, text: string): void {
    const file = join(this.#dir, 'root-files', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
  }

  /** Makes the files and a folder of this machine visible inside; after that no `put` is seen. */
  async show(folders: Readonly<Record<string, string>>): Promise<void> {
    const all = { '/lab': join(this.#dir, 'root-files/lab'), ...folders };
    for (const [inside, here] of Object.entries(all)) {
      mkdirSync(here, { recursive: true });
      const place = join(this.#dir, 'root', inside);
      await this.#network.run('mkdir', '--parents', place);
      await this.#network.run('mount', '--bind', here, place);
    }
  }

  /** Starts it; it is up when `isUp` says so. */
  async start(
    name: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    isUp: () => Promise<boolean>,
  ): Promise<void> {
    const log = join(this.#dir, `${name}.log`);
    const output = openSync(log, 'a');
    const root = join(this.#dir, 'root');
    const [program, before] = this.#network.insideWithoutNetwork('chroot', root, name, ...args);
    const child = spawnBound(program, before, {
      stdio: ['ignore', output, output],
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
    });
    closeSync(output);
    const deadline = Date.now() + hangMs;
    while (!(await isUp().catch(() => false))) {
      if (child.exitCode !== null) throw new Error(`${name} did not start; its log is ${log}`);
      if (Date.now() > deadline) throw new Error(`${name} does not answer; its log is ${log}`);
      await sleep(30);
    }
  }
}
