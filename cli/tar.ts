/** Files as a tar archive, read one after the other while it is sent: nothing is kept in memory or on disk. */
import { lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from './command.ts';

const block = 512;
const longestPlain = 100;

export async function* tarOf(folder: string, paths: readonly string[]): AsyncGenerator<Buffer> {
  for (const path of paths) {
    const at = join(folder, path);
    const is = await lstat(at);
    if (is.isSymbolicLink()) yield* header(path, 0o777, 0, await readlink(at));
    else if (is.isFile()) yield* fileOf(at, path);
  }
  yield Buffer.alloc(2 * block);
}

async function* fileOf(at: string, path: string): AsyncGenerator<Buffer> {
  const file = await open(at);
  try {
    const { size, mode } = await file.stat();
    yield* header(path, mode & 0o100 ? 0o755 : 0o644, size);
    let left = size;
    if (size > 0)
      // What was added meanwhile is no part of what the header told.
      for await (const chunk of file.createReadStream({ end: size - 1, autoClose: false })) {
        left -= chunk.length;
        yield chunk;
      }
    if (left > 0) throw new CliError(`${path} became shorter while it was sent.`, 'Run it once more.');
    yield padding(size);
  } finally {
    await file.close();
  }
}

function* header(path: string, mode: number, size: number, target = ''): Generator<Buffer> {
  const long = { ...(isLong(path) && { path }), ...(isLong(target) && { linkpath: target }) };
  if (Object.keys(long).length > 0) {
    const records = Buffer.from(Object.entries(long).map(record).join(''));
    yield Buffer.concat([
      headerBlock('pax', 0o644, records.length, '', 'x'),
      records,
      padding(records.length),
    ]);
  }
  yield headerBlock(path, mode, size, target, target === '' ? '0' : '2');
}

const isLong = (text: string) => Buffer.byteLength(text) > longestPlain;

/** Of the pax form: its own length comes first and counts itself. */
function record([key, value]: [string, string]): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest;
  while (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function headerBlock(path: string, mode: number, size: number, target: string, kind: string): Buffer {
  const bytes = Buffer.alloc(block);
  const number = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  Buffer.from(path).copy(bytes, 0, 0, longestPlain);
  // Nobody's, and of no time: the same files are the same archive.
  bytes.write(`${number(mode, 7)}${number(0, 7)}${number(0, 7)}${number(size, 11)}${number(0, 11)}`, 100);
  bytes.write(`        ${kind}`, 148);
  Buffer.from(target).copy(bytes, 157, 0, longestPlain);
  bytes.write('ustar\x0000', 257);
  bytes.write(
    `${number(
      bytes.reduce((sum, byte) => sum + byte, 0),
      6,
    )} `,
    148,
  );
  return bytes;
}

function padding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block);
}
