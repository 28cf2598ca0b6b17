/**
 * Entries of a tar file. Written by hand because names are bytes in git and in tar, and the library at hand has only
 * text; a name that is not UTF-8 would come out as another one. Owner and group are root, and no time but the commit's.
 */
export interface TarEntry {
  readonly path: Buffer;
  readonly type: 'file' | 'symlink' | 'folder';
  readonly mode: number;
  readonly size: number;
  readonly mtime: Date;
  readonly target?: Buffer;
}

const block = 512;
const typeFlags = { file: '0', symlink: '2', folder: '5' } as const;
const longestName = 100;
/** Eleven octal digits. */
const largestSize = 0o77777777777;

/** Two blocks of zeros. */
export const tarEnd: Buffer = Buffer.alloc(2 * block);

/** What does not fit into the header goes into one of the pax form ahead of it. */
export function tarHeader(entry: TarEntry): Buffer {
  const records: Buffer[] = [];
  if (entry.path.length > longestName) records.push(record('path', entry.path));
  if (entry.target && entry.target.length > longestName) records.push(record('linkpath', entry.target));
  if (entry.size > largestSize) records.push(record('size', Buffer.from(String(entry.size))));
  const own = ustar(entry, typeFlags[entry.type]);
  if (records.length === 0) return own;
  const body = Buffer.concat(records);
  const pax = {
    path: Buffer.from('pax'),
    type: 'file',
    mode: 0o644,
    size: body.length,
    mtime: entry.mtime,
  } as const;
  return Buffer.concat([ustar(pax, 'x'), body, tarPadding(body.length), own]);
}

/** What fills up the last block of a content. */
export function tarPadding(size: number): Buffer {
  return tarEnd.subarray(0, (block - (size % block)) % block);
}

function ustar({ path, mode, size, mtime, target }: TarEntry, flag: string): Buffer {
  const header = Buffer.alloc(block);
  path.copy(header, 0, 0, longestName);
  header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, 'latin1');
  const seconds = Math.max(0, Math.floor(mtime.getTime() / 1000));
  header.write(`${octal(size > largestSize ? 0 : size, 11)}\0${octal(seconds, 11)}\0`, 124, 'latin1');
  header.write(`        ${flag}`, 148, 'latin1');
  target?.copy(header, 157, 0, longestName);
  header.write('ustar\x0000root', 257, 'latin1');
  header.write('root', 297, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** Its length counts itself. */
function record(name: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${name}=`), value, Buffer.from('\n')]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
