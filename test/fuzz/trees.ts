/** Tree number n of a seed: the same one whenever and wherever it is made. */
import type { TreeEntry } from '../../src/analysis/tree.ts';
import { Random } from '../support/random.ts';
import { contentFor, hostileName, nameFor } from './pieces.ts';

export interface HostileTree {
  readonly entries: () => Iterable<TreeEntry>;
  readonly contents: ReadonlyMap<string, Buffer>;
}

export function hostileTree(seed: number, number: number): HostileTree {
  const random = randomOf(seed, number);
  const contents = new Map<string, Buffer>();
  const others: TreeEntry[] = [];
  const count = random.chance(0.1) ? random.between(20, 150) : random.between(1, 12);
  for (let at = 0; at < count; at += 1) {
    const path = `${folderFor(random)}${nameFor(random)}`;
    const roll = random.next();
    if (roll < 0.04) others.push({ path, type: 'symlink', size: 8 });
    else if (roll < 0.06) others.push({ path, type: 'submodule', size: 0 });
    else contents.set(path, Buffer.from(contentFor(random, nameIn(path))));
  }
  const crowd = random.chance(0.01) ? random.between(1_000, random.chance(0.2) ? 220_000 : 20_000) : 0;
  const spread = random.between(1, 400);
  return { contents, entries: () => entriesOf(contents, others, crowd, spread) };
}

export function rootDirectoryOf(seed: number, number: number): string {
  const random = randomOf(seed, ~number);
  return random.chance(0.05) ? random.pick('packages/a', 'nowhere', '../up', 'a/a/a') : '';
}

function randomOf(seed: number, number: number): Random {
  return new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
}

function folderFor(random: Random): string {
  return random.pick(
    () => '',
    () => '',
    () => 'packages/a/',
    () => `packages/${hostileName(random)}/`,
    () => `${hostileName(random)}/`,
    () => `apps/${random.pick('web', 'api')}/src/`,
    () => `${'a/'.repeat(random.between(1, random.chance(0.1) ? 1_500 : 20))}`,
  )();
}

function* entriesOf(
  contents: ReadonlyMap<string, Buffer>,
  others: readonly TreeEntry[],
  crowd: number,
  spread: number,
): Generator<TreeEntry> {
  for (const [path, { length: size }] of contents) yield { path, type: 'file', size };
  yield* others.filter(({ path }) => !contents.has(path));
  for (let at = 0; at < crowd; at += 1)
    yield { path: `crowd/d${at % spread}/e${at % 7}/package${at}.json`, type: 'file', size: 10 };
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
