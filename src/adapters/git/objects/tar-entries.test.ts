import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extract } from 'tar-stream';
import { type TarEntry, tarEnd, tarHeader, tarPadding } from './tar-entries.ts';

const mtime = new Date(1_700_000_000_000);

async function headersOf(entries: readonly TarEntry[]) {
  const reader = extract();
  reader.end(
    Buffer.concat([
      ...entries.flatMap((entry) => [tarHeader(entry), Buffer.alloc(entry.size), tarPadding(entry.size)]),
      tarEnd,
    ]),
  );
  const found = [];
  for await (const entry of reader) {
    entry.resume();
    found.push(entry.header);
  }
  return found;
}

test('files, folders and links of any length of name are read back as they were written', async () => {
  const long = 'ü'.repeat(300);
  const found = await headersOf([
    { path: Buffer.from('a'), type: 'file', mode: 0o755, size: 700, mtime },
    { path: Buffer.from('dir/'), type: 'folder', mode: 0o755, size: 0, mtime },
    {
      path: Buffer.from(long),
      type: 'symlink',
      mode: 0o777,
      size: 0,
      mtime,
      target: Buffer.from(`/${long}`),
    },
    { path: Buffer.from('x'.repeat(100)), type: 'file', mode: 0o644, size: 512, mtime },
    { path: Buffer.from('y'.repeat(101)), type: 'file', mode: 0o644, size: 1, mtime },
  ]);
  assert.deepEqual(
    found.map(({ name, type, mode, size, linkname }) => [name, type, mode, size, linkname]),
    [
      ['a', 'file', 0o755, 700, null],
      ['dir/', 'directory', 0o755, 0, null],
      [long, 'symlink', 0o777, 0, `/${long}`],
      ['x'.repeat(100), 'file', 0o644, 512, null],
      ['y'.repeat(101), 'file', 0o644, 1, null],
    ],
  );
  assert.ok(found.every((header) => header.mtime?.getTime() === mtime.getTime() && header.uid === 0));
});

test('a size that does not fit into the header is told beside it', () => {
  const header = tarHeader({
    path: Buffer.from('big'),
    type: 'file',
    mode: 0o644,
    size: 9_000_000_000,
    mtime,
  });
  assert.match(header.toString('latin1'), /19 size=9000000000\n/);
});
