import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../test/support/postgres.ts';
import { readFileIfExists, writeFileAtomic } from './files.ts';

function folderOf(t: TestContext): string {
  const folder = temporaryFolder('files');
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a file is written with its mode, and nothing is left beside it', (t) => {
  const folder = folderOf(t);
  writeFileAtomic(join(folder, 'key'), 'grüße', 0o600);
  assert.equal(readFileSync(join(folder, 'key'), 'utf8'), 'grüße');
  assert.equal(statSync(join(folder, 'key')).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['key']);
});

test('a file that was there is replaced, content and mode', (t) => {
  const path = join(folderOf(t), 'key');
  writeFileSync(path, 'a longer text than the new one');
  chmodSync(path, 0o644);
  writeFileAtomic(path, Buffer.from([0, 255]), 0o600);
  assert.deepEqual(readFileSync(path), Buffer.from([0, 255]));
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a large file arrives whole', (t) => {
  const path = join(folderOf(t), 'large');
  const bytes = Buffer.alloc(5_000_000, 'abc');
  writeFileAtomic(path, bytes, 0o600);
  assert.ok(readFileSync(path).equals(bytes));
});

test('a file that cannot take its place leaves the one that is there as it was', (t) => {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'taken', 'inside'), { recursive: true });
  assert.throws(() => writeFileAtomic(join(folder, 'taken'), 'x', 0o600), { code: 'EISDIR' });
  assert.deepEqual(readdirSync(join(folder, 'taken')), ['inside']);
});

test('a file that is not there is undefined, and any other failure is told', (t) => {
  const folder = folderOf(t);
  assert.equal(readFileIfExists(join(folder, 'none')), undefined);
  assert.throws(() => readFileIfExists(folder), { code: 'EISDIR' });
});
