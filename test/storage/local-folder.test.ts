import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLocalStorage } from '../../src/adapters/storage/local-folder.ts';
import { faultOf } from '../support/faults.ts';
import { checksum, content, scratch, signal } from './support.ts';

const everything = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map((each) => each.name);

test('what is put is read back byte for byte, and is closed to everyone else', async (t) => {
  const folder = join(scratch(t), 'made', 'by-us');
  const storage = createLocalStorage(folder);
  const expected = await checksum(content(3_000_000));
  assert.deepEqual(await storage.put('w-1/b-1.dump', content(3_000_000), { signal }), expected);
  assert.deepEqual(await checksum(storage.read('w-1/b-1.dump', { signal })), expected);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  assert.deepEqual(
    [mode(folder), mode(join(folder, 'w-1')), mode(join(folder, 'w-1', 'b-1.dump'))],
    ['700', '700', '600'],
  );
  assert.equal((await storage.put('empty', content(0), { signal })).bytes, 0);
  assert.deepEqual(await checksum(storage.read('empty', { signal })), await checksum(content(0)));
});

test('a put that breaks leaves neither a file nor a part, and the one before it as it was', async (t) => {
  const folder = scratch(t);
  const storage = createLocalStorage(folder);
  await storage.put('a', content(1000), { signal });
  async function* breaking() {
    yield Buffer.alloc(100_000);
    throw Object.assign(new Error('the source broke'), { code: 'ENOSPC' });
  }
  await assert.rejects(storage.put('a', breaking(), { signal }), /the source broke/);
  const stop = new AbortController();
  async function* stopped() {
    yield Buffer.alloc(100_000);
    stop.abort(new Error('enough'));
    yield Buffer.alloc(100_000);
  }
  await assert.rejects(storage.put('b', stopped(), { signal: stop.signal }), /enough/);
  assert.deepEqual(everything(folder), ['a']);
  assert.deepEqual(await checksum(storage.read('a', { signal })), await checksum(content(1000)));
  await storage.put('a', content(2000), { signal });
  assert.equal((await checksum(storage.read('a', { signal }))).bytes, 2000);
});

test('a full disk is told with how much was written, and the part is removed', async (t) => {
  // Taken down before the folder is removed: what is to be done after a test is done in its order.
  t.after(() => execFileSync('umount', [folder]));
  const folder = scratch(t);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'slipway-test', folder]);
  const storage = createLocalStorage(folder);
  await storage.put('small', content(1_000_000), { signal });
  const fault = await faultOf(() => storage.put('large', content(20_000_000), { signal }));
  assert.equal(fault.code, 'storage_full');
  const written = Number(/after (\d+) bytes/.exec(fault.message)?.[1]);
  assert.ok(written > 2_000_000 && written < 4_200_000, fault.message);
  assert.deepEqual(everything(folder), ['small']);
  await storage.put('again', content(1_000_000), { signal });
});

test('names that could leave the folder are refused before anything is touched', async (t) => {
  const folder = scratch(t);
  const inner = join(folder, 'inner');
  const storage = createLocalStorage(inner);
  const names = [
    '../a',
    'a/../../b',
    '/etc/passwd',
    '',
    '.',
    '..',
    'a//b',
    'a/',
    '.hidden',
    'a\0b',
    'a b',
    'ü',
  ];
  for (const name of names) {
    await assert.rejects(storage.put(name, content(1), { signal }), /is no name/, name);
    await assert.rejects(checksum(storage.read(name, { signal })), /is no name/, name);
    await assert.rejects(storage.remove(name, { signal }), /is no name/, name);
  }
  for (const prefix of ['..', '../', 'a/../', '/'])
    await assert.rejects(storage.clearBroken(prefix, { signal }), /is no beginning/, prefix);
  assert.deepEqual(readdirSync(folder), []);
});

test('what is missing, cut while it is read, or no folder at all is told as such', async (t) => {
  const folder = scratch(t);
  const storage = createLocalStorage(folder);
  assert.equal((await faultOf(() => checksum(storage.read('none', { signal })))).code, 'backup_missing');
  await storage.remove('none', { signal });
  await storage.remove('no/such/folder', { signal });
  await storage.put('a', content(2_000_000), { signal });
  const cut = await faultOf(async () => {
    for await (const _chunk of storage.read('a', { signal })) truncateSync(join(folder, 'a'), 300_000);
  });
  assert.equal(cut.code, 'storage_failed');
  assert.match(cut.message, /300000 of 2000000/);
  writeFileSync(join(folder, 'file'), '');
  const refused = await faultOf(() =>
    createLocalStorage(join(folder, 'file')).put('a', content(1), { signal }),
  );
  assert.equal(refused.code, 'storage_refused');
  await storage.remove('a', { signal });
  assert.deepEqual(everything(folder), ['file']);
});

test('what broken puts left is cleared under the names asked for, and nothing else', async (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, 'w-1', 'deep'), { recursive: true });
  mkdirSync(join(folder, 'w-2'));
  const left = ['w-1/.b-1.dump.0a.part', 'w-1/.b-2.dump.0b.part', 'w-1/deep/.x.1.part', 'w-2/.b-1.2.part'];
  for (const name of [...left, 'w-1/b-1.dump', 'w-1/.other']) writeFileSync(join(folder, name), 'x');
  const storage = createLocalStorage(folder);
  const now = () => everything(folder).sort();
  await storage.clearBroken('w-1/b-1', { signal });
  assert.deepEqual(now(), ['.b-1.2.part', '.b-2.dump.0b.part', '.other', '.x.1.part', 'b-1.dump']);
  await storage.clearBroken('w-1/', { signal });
  assert.deepEqual(now(), ['.b-1.2.part', '.other', 'b-1.dump']);
  await storage.clearBroken('', { signal });
  await storage.clearBroken('no/such', { signal });
  assert.deepEqual(now(), ['.other', 'b-1.dump']);
});

test('a folder is proven by use, and nothing of the proof stays', async (t) => {
  const folder = scratch(t);
  await createLocalStorage(folder).prove({ signal });
  assert.deepEqual(readdirSync(folder), []);
  writeFileSync(join(folder, 'file'), 'kept');
  const fault = await faultOf(() => createLocalStorage(join(folder, 'file')).prove({ signal }));
  assert.equal(fault.code, 'storage_refused');
  assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'kept');
});
