import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type UploadLimits, Uploads } from '../../src/adapters/git/uploads/uploads.ts';
import { newId, type UploadId, type WorkspaceId } from '../../src/ids.ts';
import { archive, filesArchive, inPieces, tarOf } from '../support/archives.ts';
import { faultOf, signal, unpack } from './support.ts';

const megabyte = 2 ** 20;
const generous: UploadLimits = {
  maxSentBytes: 64 * megabyte,
  maxUnpackedBytes: 512 * megabyte,
  maxFiles: 1_000,
  maxOwnerBytes: 512 * megabyte,
  keepFreeBytes: 0,
};

function openUploads(t: TestContext, limits: Partial<UploadLimits> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-uploads-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const uploads = new Uploads(folder, { ...generous, ...limits });
  const owner = newId<WorkspaceId>();
  const receive = async (bytes: Buffer, message = 'A try') => {
    const place = { owner, id: newId<UploadId>() };
    const at = new Date('2026-01-02T03:04:05Z');
    const commit = await uploads.receive(place, inPieces(bytes), { author: 'Ada <b>', message, at }, signal);
    return { place, commit };
  };
  return { uploads, owner, receive, folder };
}

test('what tar makes of a working tree becomes a commit of the same files', async (t) => {
  const { uploads, receive } = openUploads(t);
  const tree = mkdtempSync(join(tmpdir(), 'slipway-tree-'));
  t.after(() => rmSync(tree, { recursive: true, force: true }));
  const deep = `${'a folder with a long name/'.repeat(8)}leaf.txt`;
  mkdirSync(join(tree, deep, '..'), { recursive: true });
  mkdirSync(join(tree, '.git', 'objects'), { recursive: true });
  mkdirSync(join(tree, 'empty'));
  const files: Readonly<Record<string, string>> = {
    [deep]: 'deep',
    'quote".txt': 'q',
    'back\\slash\n.txt': 'b',
    'größe-漢字.txt': 'u',
    'readme.md': 'small',
    'README.md': 'LARGE',
    run: '#!/bin/sh\n',
    nothing: '',
    '.gitignore': 'node_modules\n',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(tree, name), content);
  writeFileSync(join(tree, '.git', 'config'), '[core]\n');
  writeFileSync(join(tree, 'large.bin'), Buffer.alloc(20 * megabyte, 'x'));
  chmodSync(join(tree, 'run'), 0o755);
  symlinkSync('readme.md', join(tree, 'link'));
  symlinkSync('nowhere/at/all', join(tree, 'dangling'));
  linkSync(join(tree, 'run'), join(tree, 'twin'));
  for (const options of [['cz'], ['c'], ['cz', '--format=pax'], ['cz', '--format=gnu']]) {
    const bytes = execFileSync('tar', [...options, '-C', tree, '.'], { maxBuffer: 100 * megabyte });
    const { place, commit } = await receive(bytes);
    assert.equal(commit.message, 'A try');
    assert.equal(commit.authorName, 'Ada b');
    const found = await unpack(uploads.open(place).tar(commit.sha));
    const inside = new Map([...found].filter(([, { type }]) => type !== 'directory'));
    const expected = [...Object.keys(files), 'large.bin', 'link', 'dangling', 'twin'].sort();
    assert.deepEqual([...inside.keys()].sort(), expected, options.join(' '));
    for (const [name, content] of Object.entries(files))
      assert.equal(inside.get(name)?.content.toString(), content, name);
    assert.equal(inside.get('large.bin')?.content.length, 20 * megabyte);
    assert.deepEqual([inside.get('run')?.mode, inside.get('readme.md')?.mode], [0o755, 0o644]);
    assert.deepEqual([inside.get('twin')?.mode, inside.get('twin')?.content.toString()], [0o755, files.run]);
    assert.deepEqual(
      [inside.get('link')?.target, inside.get('dangling')?.target],
      ['readme.md', 'nowhere/at/all'],
    );
  }
});

test('the same files are the same tree, whenever they are uploaded', async (t) => {
  const { receive } = openUploads(t);
  const one = await receive(filesArchive({ 'a.txt': '1', 'b/c.txt': '2' }));
  const other = await receive(
    archive([
      { name: 'b/c.txt', content: '2' },
      { name: 'a.txt', content: '1' },
    ]),
    'Another',
  );
  assert.equal(one.commit.tree, other.commit.tree);
  assert.notEqual(one.commit.sha, other.commit.sha);
});

test('each limit is named, and nothing is left of what passes one', async (t) => {
  const many = Array.from({ length: 11 }, (_, index) => ({ name: `f${index}`, content: 'x' }));
  const noise = randomBytes(2 * megabyte);
  const large = tarOf([{ name: 'large', content: noise }]);
  const cases: readonly (readonly [limits: Partial<UploadLimits>, bytes: Buffer, sentence: RegExp])[] = [
    [{ maxSentBytes: megabyte }, large, /larger than 1 MB as it is sent/],
    [
      { maxUnpackedBytes: megabyte },
      archive([{ name: 'large', content: noise }]),
      /unpacked it is larger than 1 MB/,
    ],
    [{ maxFiles: 10 }, archive(many), /more than 10 files/],
    [{}, archive([{ name: 'zeros', content: Buffer.alloc(100 * megabyte) }]), /more than 200 times its size/],
  ];
  for (const [limits, bytes, sentence] of cases) {
    const { uploads, receive, owner } = openUploads(t, limits);
    const fault = await faultOf(receive(bytes));
    assert.equal(fault.code, 'payload_too_large');
    assert.match(fault.message, sentence);
    assert.deepEqual(uploads.listOf(owner), []);
  }
  const { receive, uploads, owner } = openUploads(t, { maxOwnerBytes: megabyte });
  const full = await faultOf(receive(large));
  assert.deepEqual([full.code, uploads.listOf(owner).length], ['uploads_full', 0]);
  const { receive: onFullDisk } = openUploads(t, { keepFreeBytes: Number.MAX_SAFE_INTEGER });
  assert.equal((await faultOf(onFullDisk(large))).code, 'no_space');
});

test('one that breaks off, or is aborted, leaves nothing, and no process', async (t) => {
  const { uploads, owner, receive } = openUploads(t);
  const whole = filesArchive({ 'a.txt': 'one', 'b.txt': 'two' });
  for (const cut of [0, 1, 10, whole.length - 9]) {
    const fault = await faultOf(receive(whole.subarray(0, cut)));
    assert.equal(fault.code, 'archive_invalid', String(cut));
  }
  const plain = tarOf([{ name: 'a', content: 'x'.repeat(2_000) }]);
  for (const cut of [100, 512, 1_000, plain.length - 1_024])
    assert.equal((await faultOf(receive(plain.subarray(0, cut)))).code, 'archive_invalid', String(cut));
  const stop = new AbortController();
  const place = { owner, id: newId<UploadId>() };
  async function* endless(): AsyncGenerator<Buffer> {
    yield plain.subarray(0, 1_024);
    stop.abort(new Error('gone'));
    yield plain.subarray(1_024);
  }
  const commit = { author: 'Ada', message: 'x', at: new Date(0) };
  await assert.rejects(uploads.receive(place, endless(), commit, stop.signal), /gone/);
  assert.deepEqual(uploads.list(), []);
});

test('one owner has so many uploads under way at once, and one that was removed is told to be gone', async (t) => {
  const { uploads, owner, receive } = openUploads(t);
  const held = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<Buffer> {
    await held.promise;
    yield* inPieces(filesArchive({ a: '1' }));
  }
  const commit = { author: 'Ada', message: 'x', at: new Date(0) };
  const begin = (id = newId<UploadId>()) => uploads.receive({ owner, id }, slow(), commit, signal);
  const three = [begin(), begin(), begin()];
  assert.equal((await faultOf(begin())).code, 'rate_limited');
  held.resolve();
  await Promise.all(three);
  const { place, commit: made } = await receive(filesArchive({ a: '1' }));
  await uploads.remove(place);
  assert.equal((await faultOf((async () => uploads.open(place))())).code, 'upload_gone');
  assert.equal(
    (await faultOf((async () => uploads.readCommit(place, made.sha, signal))())).code,
    'upload_gone',
  );
});
