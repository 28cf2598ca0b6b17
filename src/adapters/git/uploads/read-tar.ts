/**
 * The entries of a tar file as it arrives: ustar, with the long names of pax and of GNU. Nothing of it is held but one
 * header. Written by hand because what an upload says of its own sizes cannot be trusted, and the usual readers hold a
 * header of any size in memory.
 */
import { refusedArchive, refusedEntry } from './archive-faults.ts';

export interface ArchiveEntry {
  /** As the archive has it. */
  readonly name: string;
  readonly type: 'file' | 'folder' | 'symlink' | 'hardlink';
  readonly isExecutable: boolean;
  readonly size: number;
  /** Of a link. */
  readonly target: string;
  /** Has to be read before the next entry is asked for; what is left of it is passed over. */
  readonly content: AsyncIterable<Buffer>;
}

const block = 512;
/** Of one extended header. Attributes of files stand there beside their names. */
const largestHeader = 1024 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const refusedTypes: Readonly<Record<string, string>> = {
  '3': 'is a character device',
  '4': 'is a block device',
  '6': 'is a named pipe',
  S: 'is a sparse file',
  M: 'is the rest of a file of another archive',
  D: 'is a list of names, as incremental archives have it',
};

const types: Readonly<Record<string, ArchiveEntry['type']>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'symlink',
  '5': 'folder',
};

/** What an extended header says of the entry after it. */
interface Extension {
  path?: Buffer;
  linkpath?: Buffer;
  size?: Buffer;
}

export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<ArchiveEntry> {
  const bytes = new ByteReader(source);
  let extension: Extension = {};
  for (;;) {
    const header = await bytes.take(block);
    if (header === undefined) throw refusedArchive('It breaks off: the end of a tar file is not there.');
    if (isZero(header)) break;
    requireChecksum(header);
    const flag = String.fromCharCode(header[156] ?? 0);
    const announced = numberAt(header, 124, 12);
    if (flag === 'x' || flag === 'g' || flag === 'L' || flag === 'K' || flag === 'V') {
      const body = await headerBody(bytes, announced);
      if (flag === 'x') Object.assign(extension, paxRecords(body));
      else if (flag === 'L') extension.path = untilZero(body);
      else if (flag === 'K') extension.linkpath = untilZero(body);
      continue;
    }
    const name = textOf(extension.path ?? nameIn(header));
    const target = textOf(extension.linkpath ?? untilZero(header.subarray(157, 257)));
    const size = extension.size ? decimal(extension.size, name) : announced;
    extension = {};
    const type = types[flag];
    if (type === undefined) throw refusedEntry(name, refusedTypes[flag] ?? 'is of a kind that is not known');
    const isFolder = type === 'folder' || (flag === '\0' && name.endsWith('/'));
    // Only files have a content; some writers tell the size of what a link leads to.
    const length = type === 'file' && !isFolder ? size : 0;
    const content = bytes.part(length);
    const isExecutable = (numberAt(header, 100, 8) & 0o100) !== 0;
    yield { name, type: isFolder ? 'folder' : type, isExecutable, size: length, target, content };
    for await (const _ of content);
    await bytes.skip(paddingOf(length));
  }
  // What fills up the last record: read, because whoever sends it waits for that.
  await bytes.skip(Number.POSITIVE_INFINITY);
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Undefined at the end. Held as a whole: only for what is small. */
  async take(size: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    for await (const piece of this.part(size, 'may end')) pieces.push(piece);
    if (size > 0 && pieces.length === 0) return undefined;
    const taken = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
    if (taken.length < size) throw brokenOff();
    return taken;
  }

  async skip(size: number): Promise<void> {
    for await (const _ of this.part(size, 'may end'));
  }

  async *part(size: number, end?: 'may end'): AsyncGenerator<Buffer> {
    let left = size;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#source.next();
        if (done) {
          if (end) return;
          throw brokenOff();
        }
        this.#rest = value;
        continue;
      }
      const piece = this.#rest.subarray(0, Math.min(left, this.#rest.length));
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
}

async function headerBody(bytes: ByteReader, size: number): Promise<Buffer> {
  if (size > largestHeader)
    throw refusedArchive(`It has a header of ${size} bytes; ${largestHeader} is the most.`);
  const body = (await bytes.take(size)) ?? Buffer.alloc(0);
  if (body.length < size) throw brokenOff();
  await bytes.skip(paddingOf(size));
  return body;
}

/** `<length> <key>=<value>\n`, where the length counts itself. */
function paxRecords(body: Buffer): Extension {
  const found: Extension = {};
  let at = 0;
  while (at < body.length) {
    const space = body.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(body.toString('latin1', at, space));
    const equals = body.indexOf(0x3d, space);
    const end = at + length;
    const isWhole = Number.isInteger(length) && equals > space && equals < end && end <= body.length;
    if (!isWhole) throw refusedArchive('An extended header of it is malformed.');
    const key = body.toString('latin1', space + 1, equals);
    const value = body.subarray(equals + 1, end - 1);
    if (key.startsWith('GNU.sparse.')) throw refusedEntry(textOf(value), 'is a sparse file');
    if (key === 'path' || key === 'linkpath' || key === 'size') found[key] = Buffer.from(value);
    at = end;
  }
  return found;
}

function nameIn(header: Buffer): Buffer {
  const name = untilZero(header.subarray(0, 100));
  // Of POSIX; GNU's own form has times there.
  const prefix =
    header.toString('latin1', 257, 263) === 'ustar\0' ? untilZero(header.subarray(345, 500)) : '';
  return prefix.length === 0 ? name : Buffer.concat([Buffer.from(prefix), Buffer.from('/'), name]);
}

/** Octal digits, or what is too large for them in base 256. */
function numberAt(header: Buffer, from: number, length: number): number {
  const field = header.subarray(from, from + length);
  const isBinary = ((field[0] ?? 0) & 0x80) !== 0;
  const text = field
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .trim();
  const isOctal = /^[0-7]*$/.test(text);
  const value = isBinary
    ? field.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & 0x7f : byte), 0)
    : Number.parseInt(text || '0', 8);
  if ((!isBinary && !isOctal) || !Number.isSafeInteger(value))
    throw refusedArchive('A header of it has a number that cannot be read.');
  return value;
}

function decimal(value: Buffer, name: string): number {
  const text = value.toString('latin1');
  if (!/^\d{1,15}$/.test(text)) throw refusedEntry(name, 'has a size that cannot be read');
  return Number(text);
}

/** Of all bytes of the header, its own field taken as spaces. */
function requireChecksum(header: Buffer): void {
  const told = numberAt(header, 148, 8);
  let sum = 8 * 0x20;
  for (const [index, byte] of header.entries()) if (index < 148 || index >= 156) sum += byte;
  if (sum !== told)
    throw refusedArchive('It is no tar file, or is damaged: the checksum of a header is wrong.');
}

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusedEntry(bytes.toString('utf8'), 'has a name that is not UTF-8');
  }
}

function untilZero(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

function isZero(header: Buffer): boolean {
  return header.every((byte) => byte === 0);
}

function paddingOf(size: number): number {
  return (block - (size % block)) % block;
}

function brokenOff() {
  return refusedArchive('It breaks off in the middle.');
}
