/** Repositories that are made to take more of the machine than they show: its disk, its memory, its time. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { createLocalStorage } from '../../src/adapters/storage/local-folder.ts';
import { content, scratch } from '../storage/support.ts';
import {
  bareOf,
  commitFiles,
  commitTree,
  faultOf,
  git,
  hostileRepo,
  key,
  type OddEntry,
  openMirrors,
  type Setup,
  signal,
  withTree,
  writeTree,
} from './support.ts';

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0);
}

/** As if nobody had used it for an hour. */
function leaveAlone({ folder }: Setup, name: string): void {
  const before = new Date(Date.now() - 3_600_000);
  utimesSync(join(folder, 'mirrors', name, 'used'), before, before);
}

test('whoever fetches repository after repository cannot fill the disk of the service', async (t) => {
  const maxOwnerBytes = 2_000_000;
  const setup = await openMirrors(t, { limits: { maxBytes: 1_000_000, maxOwnerBytes } });
  const { bench, mirrors, folder } = setup;
  const names = ['a', 'b', 'c', 'd'];
  for (const name of names) {
    await bench.host.createRepository({ owner: 'ada', name });
    commitFiles(bareOf(setup, `ada/${name}`), { big: randomBytes(450_000) });
  }
  const fetchOf = (name: string, owner: string) => {
    const source = { ...setup.source(`ada/${name}`), owner };
    return mirrors.fetch(key(`${owner}-${name}`), source, { want: 'default', signal });
  };
  for (const name of names.slice(0, 3)) await fetchOf(name, 'ada');
  const fault = await faultOf(fetchOf('d', 'ada'));
  assert.equal(fault.code, 'mirrors_full');
  assert.match(fault.message, /together/);
  assert.ok(bytesBelow(join(folder, 'mirrors')) < maxOwnerBytes, 'and nothing is left of the one too many');
  // Others are not in the way of it, nor it of them.
  await fetchOf('d', 'grace');
  // What nobody has used for a while goes, and is fetched again when it is needed.
  leaveAlone(setup, 'ada-a');
  await fetchOf('d', 'ada');
  assert.ok(!existsSync(join(folder, 'mirrors', 'ada-a')));
  leaveAlone(setup, 'ada-b');
  const { commit } = await fetchOf('a', 'ada');
  assert.equal((await mirrors.open(key('ada-a')).tree(commit.sha)).entries.length, 1);
  assert.ok(existsSync(join(folder, 'mirrors', 'grace-d')), 'never what is another’s');
});

test('whoever fills the disk of the service finds that its last part is kept for the database', async (t) => {
  const all = 2 ** 50;
  const setup = await openMirrors(t, { limits: { keepFreeBytes: all } });
  await setup.bench.host.createRepository({ owner: 'ada', name: 'app' });
  commitFiles(bareOf(setup, 'ada/app'), { a: '1' });
  const fetched = setup.mirrors.fetch(key('app'), setup.source('ada/app'), { want: 'default', signal });
  assert.equal((await faultOf(fetched)).code, 'no_space');
  const folder = scratch(t);
  const stored = createLocalStorage(folder, all).put('a', content(1_000), { signal });
  assert.equal((await faultOf(stored)).code, 'storage_full');
  assert.deepEqual(readdirSync(folder), []);
  await createLocalStorage(folder, 1).put('a', content(1_000), { signal });
});

test('whoever hides endless empty folders in a commit cannot keep the service reading', async (t) => {
  const setup = await openMirrors(t, { limits: { readMs: 1_500 } });
  const deep = (bare: string, name: string) => {
    const nothing = writeTree(bare, []);
    let tree = writeTree(bare, [{ mode: '040000', name, content: nothing }]);
    for (let level = 0; level < 12; level += 1) {
      const folders = Array.from({ length: 10 }, (_, at): OddEntry => {
        return { mode: '040000', name: `d${at}`, content: tree };
      });
      tree = writeTree(bare, folders);
    }
    return tree;
  };
  const { bare, sha } = await withTree(setup, (dir) => deep(dir, 'a'));
  const mirror = setup.mirrors.open(hostileRepo);
  assert.equal((await faultOf(mirror.tree(sha, { signal }))).code, 'repository_too_large');
  const source = setup.source('ada/app');
  const gathered = setup.mirrors.gather(hostileRepo, source, sha, signal);
  assert.equal((await faultOf(gathered)).code, 'repository_too_large');
  const next = commitTree(bare, deep(bare, 'b'));
  await setup.mirrors.fetch(hostileRepo, source, { want: 'default', signal });
  assert.equal((await faultOf(mirror.changedPaths(sha, next, signal))).code, 'repository_too_large');
});

test('whoever sends a pack that unfolds without end cannot take all memory of the machine', async (t) => {
  const megabyte = 1024 * 1024;
  const setup = await openMirrors(t, { limits: { memoryBytes: 256 * megabyte } });
  const { bench, mirrors } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'plain' });
  commitFiles(bareOf(setup, 'ada/plain'), { a: '1', big: randomBytes(20 * megabyte) });
  await mirrors.fetch(key('plain'), setup.source('ada/plain'), { want: 'default', signal });

  await bench.host.createRepository({ owner: 'ada', name: 'bomb' });
  const bare = bareOf(setup, 'ada/bomb');
  commitTree(bare, unfolding(bare, 300));
  const packed = git(bare, ['count-objects', '-v']).match(/size-pack: (\d+)/)?.[1];
  assert.ok(Number(packed) < 2_000, `${packed} KiB`);
  const fetched = mirrors.fetch(key('bomb'), setup.source('ada/bomb'), { want: 'default', signal });
  const fault = await faultOf(fetched);
  assert.equal(fault.code, 'repository_too_large');
  assert.match(fault.message, /memory/);
});

/** A tree with a file of so many megabytes, stored as a delta of a few hundred bytes over another of one megabyte. */
function unfolding(dir: string, megabytes: number): string {
  const base = randomBytes(1024 * 1024);
  const size = base.length * megabytes;
  const hash = createHash('sha1').update(`blob ${size}\0`);
  for (let count = 0; count < megabytes; count += 1) hash.update(base);
  const oid = createHash('sha1').update(`blob ${base.length}\0`).update(base).digest();
  // Copies from offset 0: one byte that says which bytes of the length follow, then those.
  const copy = Buffer.from([0b1100_0000, (base.length >> 16) & 0xff]);
  const delta = Buffer.concat([
    varint(base.length),
    varint(size),
    ...Array.from({ length: megabytes }, () => copy),
  ]);
  const objects = [
    Buffer.concat([head(3, base.length), deflateSync(base, { level: 1 })]),
    Buffer.concat([head(7, delta.length), oid, deflateSync(delta)]),
  ];
  const start = Buffer.from('PACK\0\0\0\x02\0\0\0\x02', 'latin1');
  const pack = Buffer.concat([start, ...objects]);
  git(dir, ['index-pack', '--stdin'], Buffer.concat([pack, createHash('sha1').update(pack).digest()]));
  const record = (name: string, id: Buffer) => Buffer.concat([Buffer.from(`100644 ${name}\0`), id]);
  // With its base beside it, a host hands the delta on as it is.
  const tree = Buffer.concat([record('base', oid), record('big', hash.digest())]);
  return git(dir, ['hash-object', '-w', '-t', 'tree', '--stdin'], tree);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left % 128) | 0x80);
  }
}

/** Of an object in a pack: its type, and its size in seven bits at a time after the first four. */
function head(type: number, size: number): Buffer {
  const rest = Math.floor(size / 16);
  const first = (type << 4) | (size % 16);
  return rest === 0 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 0x80]), varint(rest)]);
}
