/** Archives for uploads: good ones, and ones that no `tar` would write. */
import { gzipSync } from 'node:zlib';

export interface RawEntry {
  readonly name: string | Buffer;
  /** Of the header; '0' is a file. */
  readonly flag?: string;
  readonly content?: string | Buffer;
  readonly target?: string;
  readonly mode?: number;
  /** In place of the length of the content. */
  readonly size?: number;
}

const end = Buffer.alloc(1024);

/** Each header as it is told, right or wrong, with the checksum that belongs to it. */
export function tarOf(entries: readonly RawEntry[]): Buffer {
  return Buffer.concat([...entries.map(entryBytes), end]);
}

export function archive(entries: readonly RawEntry[]): Buffer {
  return gzipSync(tarOf(entries));
}

export function filesArchive(files: Readonly<Record<string, string>>): Buffer {
  return archive(Object.entries(files).map(([name, content]) => ({ name: `./${name}`, content })));
}

/** A header of the pax form, for the entry after it. */
export function pax(records: Readonly<Record<string, string>>): RawEntry {
  const content = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest) + 1;
    while (String(length).length + Buffer.byteLength(rest) !== length)
      length = String(length).length + Buffer.byteLength(rest);
    return `${length}${rest}`;
  });
  return { name: 'pax', flag: 'x', content: content.join('') };
}

export function entryBytes({
  name,
  flag = '0',
  content = '',
  target = '',
  mode = 0o644,
  size,
}: RawEntry): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(512);
  Buffer.from(name).copy(header, 0, 0, 100);
  header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1');
  header.write(`${octal(size ?? body.length, 11)}\0${octal(1_700_000_000, 11)}\0`, 124, 'latin1');
  header.write(`        ${flag}`, 148, 'latin1');
  header.write(target, 157, 100, 'utf8');
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** In pieces of an odd size, as a network has them. */
export async function* inPieces(bytes: Buffer, size = 777): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
