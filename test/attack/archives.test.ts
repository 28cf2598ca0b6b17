/** Archives that were made to harm: each is refused by the name of the entry, and leaves nothing. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Uploads } from '../../src/adapters/git/uploads/uploads.ts';
import { newId, type UploadId, type WorkspaceId } from '../../src/ids.ts';
import { faultOf } from '../git/support.ts';
import { archive, entryBytes, inPieces, pax, type RawEntry } from '../support/archives.ts';
import { Random } from '../support/random.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-hostile-'));
const owner = newId<WorkspaceId>();
const megabyte = 2 ** 20;
const uploads = new Uploads(folder, {
  maxSentBytes: 16 * megabyte,
  maxUnpackedBytes: 256 * megabyte,
  maxFiles: 5_000,
  maxOwnerBytes: 64 * megabyte,
  keepFreeBytes: 0,
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

function receive(bytes: Buffer) {
  const commit = { author: 'Ada', message: 'x', at: new Date(0) };
  const place = { owner, id: newId<UploadId>() };
  return uploads.receive(place, inPieces(bytes, 4_096), commit, AbortSignal.timeout(60_000));
}

const good: RawEntry = { name: 'index.js', content: 'ok' };
const link = (name: string, target: string): RawEntry => ({ name, flag: '2', target });

const refused: readonly (readonly [
  what: string,
  entries: readonly RawEntry[],
  named: string,
  why: RegExp,
])[] = [
  ['an absolute path', [{ name: '/etc/passwd' }], '/etc/passwd', /absolute/],
  ['a way up', [{ name: '../evil' }], '../evil', /leads out/],
  ['a way up further in', [{ name: 'a/b/../../../evil' }], 'a/b/../../../evil', /leads out/],
  ['a way up behind a dot', [{ name: './../evil' }], './../evil', /leads out/],
  ['a way up in a pax header', [pax({ path: '../evil' }), good], '../evil', /leads out/],
  [
    'a way up in a GNU long name',
    [{ name: 'x', flag: 'L', content: '../evil\0' }, good],
    '../evil',
    /leads out/,
  ],
  ['an empty part', [{ name: 'a//b' }], 'a//b', /empty part/],
  ['a folder that leads out', [{ name: '../out/', flag: '5' }], '../out/', /leads out/],
  ['an absolute link', [link('key', '/etc/shadow')], 'key', /leads out.*\/etc\/shadow/],
  ['a link up', [link('a/up', '../../x')], 'a/up', /leads out/],
  ['a link out over another', [link('d/e/root', '../..'), link('x', 'd/e/root/../y')], 'x', /leads out/],
  [
    'a link out over one that comes later',
    [link('x', 'd/root/../y'), link('d/root', '..')],
    'x',
    /leads out/,
  ],
  ['a file below a link', [link('a', 'b'), { name: 'a/f' }], 'a/f', /below something/],
  ['a link in the place of a folder', [{ name: 'a/f' }, link('a', 'b')], 'a', /folder too/],
  [
    'a folder in the place of a link',
    [link('a', 'b'), { name: 'a/', flag: '5' }],
    'a',
    /folder and as a file/,
  ],
  ['a file twice', [good, { ...good, content: 'evil' }], 'index.js', /twice/],
  ['a file twice, by two names', [good, { name: './index.js' }], 'index.js', /twice/],
  ['a hard link out', [{ name: 'h', flag: '1', target: '/etc/passwd' }], '/etc/passwd', /absolute/],
  ['a hard link up', [{ name: 'h', flag: '1', target: '../x' }], '../x', /leads out/],
  ['a hard link to nothing', [good, { name: 'h', flag: '1', target: 'later' }], 'h', /hard link to «later»/],
  ['a hard link to a link', [link('l', 'x'), { name: 'h', flag: '1', target: 'l' }], 'h', /hard link/],
  [
    'a hard link into .git',
    [{ name: '.git/c' }, { name: 'h', flag: '1', target: '.git/c' }],
    'h',
    /hard link/,
  ],
  ['a character device', [{ name: 'null', flag: '3' }], 'null', /character device/],
  ['a block device', [{ name: 'sda', flag: '4' }], 'sda', /block device/],
  ['a pipe', [{ name: 'pipe', flag: '6' }], 'pipe', /named pipe/],
  ['a sparse file', [{ name: 'sparse', flag: 'S' }], 'sparse', /sparse/],
  ['a sparse file of pax', [pax({ 'GNU.sparse.name': 'sparse' }), good], 'sparse', /sparse/],
  ['a kind that is not known', [{ name: 'odd', flag: 'Z' }], 'odd', /not known/],
  ['.git in other letters', [{ name: '.GIT/config' }], '.GIT/config', /taken for/],
  ['.git as Windows shortens it', [{ name: 'git~1/config' }], 'git~1/config', /taken for/],
  ['.git with a dot behind', [{ name: '.git./config' }], '.git./config', /taken for/],
  ['.git with what macOS passes over', [{ name: '.g\u200cit/config' }], '.g\u200cit/config', /taken for/],
  ['a name that is no text', [{ name: Buffer.from([0x61, 0xff]) }], 'a\ufffd', /UTF-8/],
  ['a long part', [pax({ path: 'x'.repeat(256) }), good], 'x'.repeat(200), /255 bytes/],
  [
    'a long path',
    [pax({ path: Array(30).fill('x'.repeat(200)).join('/') }), good],
    'x'.repeat(200),
    /4096 bytes/,
  ],
  ['many folders', [pax({ path: `${'d/'.repeat(150)}f` }), good], 'd/d/d', /deeper than 100/],
  ['a size that is no number', [pax({ size: '-1' }), good], 'index.js', /size/],
];

test('what lies or leads out, or is no file, is refused by name', async () => {
  for (const [what, entries, named, why] of refused) {
    const fault = await faultOf(receive(archive(entries)));
    assert.equal(fault.code, 'archive_invalid', what);
    assert.match(fault.message, why, what);
    assert.ok(fault.message.includes(named), `${what}: ${fault.message}`);
    assert.ok(fault.message.length < 1_000, what);
    assert.deepEqual(uploads.list(), [], what);
  }
});

test('what only looks odd is taken', async () => {
  const loops = [
    link('a', 'b'),
    link('b', 'a'),
    link('self', './self'),
    link('d/here', '..'),
    link('in', 'd/../index.js'),
  ];
  const entries = [good, ...loops, { name: '.git/hooks/x' }, { name: 'sub/.git', content: 'gitdir: ../x' }];
  const odd = [
    { name: '.gitmodules', content: '[submodule "x"]\n\tpath = ../..\n\turl = file:///etc\n' },
    { name: '-rf' },
  ];
  const upper = [
    { name: 'INDEX.js', content: 'other' },
    { name: 'folder/', flag: '5' },
    { name: 'folder/', flag: '5' },
  ];
  const { sha } = await receive(archive([...entries, ...odd, ...upper]));
  assert.match(sha, /^[0-9a-f]{40}$/);
  const [stored] = uploads.list();
  assert.ok(stored);
  await uploads.remove(stored);
});

test('what a header announces is not believed', async () => {
  const huge = { name: 'x', flag: 'x', content: '', size: 0o77777777777 };
  const header = await faultOf(receive(gzipSync(entryBytes(huge))));
  assert.match(header.message, /header of \d+ bytes/);
  const file = await faultOf(receive(gzipSync(entryBytes({ name: 'x', size: 0o77777777777 }))));
  assert.match(file.message, /breaks off/);
  const negative = entryBytes(good);
  negative.fill(0xff, 124, 136);
  assert.equal((await faultOf(receive(negative))).code, 'archive_invalid');
  const malformed = { name: 'pax', flag: 'x', content: '999 path=a\n' };
  assert.match((await faultOf(receive(archive([malformed, good])))).message, /malformed/);
  assert.match((await faultOf(receive(archive([])))).message, /no file/);
  assert.match((await faultOf(receive(archive([{ name: '.git/x' }])))).message, /no file/);
});

test('links that lead through each other take no time', async () => {
  const chain = Array.from({ length: 4_000 }, (_, index) =>
    link(`l${index}`, `${'d/../'.repeat(15)}l${(index + 1) % 4_000}`),
  );
  const outcome = await receive(archive(chain)).catch((error: unknown) => error);
  assert.ok(outcome);
});

test('whatever bytes come, the answer is a fault or a commit, and nothing is left of a fault', async () => {
  const random = new Random(7);
  const whole = archive([
    good,
    link('l', 'index.js'),
    { name: 'd/f', content: 'x'.repeat(3_000) },
    pax({ path: 'long' }),
    good,
  ]);
  const plain = Buffer.concat([entryBytes(good), entryBytes(link('l', 'index.js')), Buffer.alloc(1_024)]);
  for (let round = 0; round < 60; round += 1) {
    const bytes = Buffer.from(round % 2 === 0 ? whole : plain);
    for (let change = 0; change < 3; change += 1) {
      const at = random.between(0, bytes.length - 1);
      bytes[at] = random.between(0, 255);
    }
    const outcome = await receive(bytes).then(
      () => 'taken',
      (error: unknown) => String(Object(error).code),
    );
    assert.ok(['taken', 'archive_invalid', 'payload_too_large'].includes(outcome), outcome);
    for (const stored of uploads.list()) await uploads.remove(stored);
  }
  assert.deepEqual(readdirSync(join(folder, owner)), []);
});
