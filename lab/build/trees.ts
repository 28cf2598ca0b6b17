/**
 * The trees that servers and images are made of: a minimal Debian per suite, and layers of packages and files over
 * it. Owns everything in the cache folder but the registry; refuses to leave anything half made there: each tree is
 * built beside its place and moved in whole. Mounts live in a namespace of the build and end with it.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended, spawnBound } from '../command.ts';
import { cacheDir } from '../places.ts';

export type Suite = 'trixie' | 'bookworm';

/** One or more folders that, laid over each other, are a root file system; the topmost first. */
export interface Tree {
  readonly key: string;
  readonly folders: readonly string[];
}

export interface LayerPlan {
  readonly name: string;
  readonly below: Tree;
  readonly packages: readonly string[];
  /** A folder whose files are laid over the tree, owned by root. */
  readonly files?: string;
  /** Single files of this machine: path inside → path here. */
  readonly fromHost?: Readonly<Record<string, string>>;
  /** Run inside by `sh -eu` after files and packages. */
  readonly setup?: string;
}

const scripts = dirname(fileURLToPath(import.meta.url));
const debianScript = join(scripts, 'make-debian.sh');
const layerScript = join(scripts, 'make-layer.sh');

export function debianTree(suite: Suite): Promise<Tree> {
  const key = `${suite}-${digest([suite, readFileSync(debianScript)])}`;
  return make(key, [], async (folder, log) => {
    await script(debianScript, [suite, folder], log);
  });
}

export function layer(plan: LayerPlan): Promise<Tree> {
  const { name, below, packages, files, fromHost = {}, setup = '' } = plan;
  const ingredients: (string | Buffer)[] = [below.key, ...packages, setup, readFileSync(layerScript)];
  if (files) ingredients.push(...contents(files));
  for (const [inside, here] of Object.entries(fromHost)) ingredients.push(inside, identity(here));
  const key = `${name}-${digest(ingredients)}`;
  return make(key, below.folders, async (folder, log) => {
    const copies = Object.entries(fromHost).flatMap(([inside, here]) => [here, inside]);
    const lower = below.folders.join(':');
    const args = [lower, folder, files ?? '', setup, packages.join(' '), ...copies];
    await script(layerScript, args, log);
  });
}

const underWay = new Map<string, Promise<Tree>>();

/** Whoever asks for a tree that is being made waits for that one. */
function make(
  key: string,
  below: readonly string[],
  build: (folder: string, log: string) => Promise<void>,
): Promise<Tree> {
  const making = underWay.get(key) ?? makeAlone(key, below, build).finally(() => underWay.delete(key));
  underWay.set(key, making);
  return making;
}

async function makeAlone(
  key: string,
  below: readonly string[],
  build: (folder: string, log: string) => Promise<void>,
): Promise<Tree> {
  const place = join(cacheDir, 'trees', key);
  const tree = { key, folders: [place, ...below] };
  if (existsSync(place)) return tree;
  const half = join(cacheDir, 'half', key);
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half, { recursive: true });
  mkdirSync(dirname(place), { recursive: true });
  await build(join(half, 'tree'), join(cacheDir, `${key}.log`));
  renameSync(join(half, 'tree'), place);
  rmSync(half, { recursive: true, force: true });
  rmSync(join(cacheDir, `${key}.log`), { force: true });
  return tree;
}

/** Its own mount and process namespace: whatever it mounts or starts is gone when it ends or is killed. */
async function script(file: string, args: readonly string[], log: string): Promise<void> {
  const output = openSync(log, 'w');
  const unshare = ['--mount', '--pid', '--fork', '--kill-child=KILL', '--propagation', 'private'];
  const child = spawnBound('unshare', [...unshare, 'sh', '-eu', file, ...args], {
    stdio: ['ignore', output, output],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
  });
  closeSync(output);
  await ended(child);
  if (child.exitCode === 0) return;
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  throw new Error(`${file} failed; its log is ${log}:\n${lines}`);
}

function digest(parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex').slice(0, 12);
}

function contents(folder: string): (string | Buffer)[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return files.flatMap((file) => [
    file.slice(folder.length),
    statSync(file).mode.toString(8),
    readFileSync(file),
  ]);
}

/** A folder carries its version in its name; a file is what is in it, wherever this checkout lies. */
function identity(path: string): string {
  return statSync(path).isDirectory() ? path : createHash('sha256').update(readFileSync(path)).digest('hex');
}
