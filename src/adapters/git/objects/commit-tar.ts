/**
 * A commit as a tar stream, in constant memory: what a checkout would give, byte for byte as it was committed.
 * Attributes that rewrite or leave out files (`export-subst`, `export-ignore`, `filter`, `eol`) have no effect; LFS
 * pointers are replaced by what they stand for where that was gathered.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Fault } from '../../../fault.ts';
import type { LfsPointer } from './lfs-pointers.ts';
import { contentOf, DamagedMirror, type FoundObject, readObjects } from './object-reader.ts';
import { tarEnd, tarHeader, tarPadding } from './tar-entries.ts';
import { checkPaths, type TreeEntry } from './tree-listing.ts';

/** The files of one repository within the whole: the commit itself, or one of its submodules. */
export interface TarPart {
  readonly dir: string;
  /** Where it lies, ending in a slash; empty for the commit itself. */
  readonly prefix: string;
  readonly entries: readonly TreeEntry[];
  readonly lfsFolder: string;
  /** By the blob that holds the pointer. */
  readonly lfs: ReadonlyMap<string, LfsPointer>;
}

export interface TarOptions {
  readonly mtime: Date;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

const chunkBytes = 64 * 1024;
const longestTarget = 4_096;

export function commitTar(parts: readonly TarPart[], options: TarOptions): Readable {
  return Readable.from(gathered(tarOf(parts, options)), { objectMode: false, highWaterMark: chunkBytes });
}

/** Refuses before the first byte what must not be sent at all. */
async function* tarOf(parts: readonly TarPart[], options: TarOptions): AsyncGenerator<Buffer> {
  await checkPaths(parts.flatMap((part) => part.entries.map((each) => atPlace(part, each))));
  const bytes = parts.flatMap(({ entries, lfs }) =>
    entries.map(({ oid, size }) => lfs.get(oid)?.size ?? size),
  );
  if (bytes.reduce((sum, size) => sum + size, 0) > options.maxBytes) {
    throw new Fault(
      'repository_too_large',
      `The files of the commit are larger than ${options.maxBytes} bytes.`,
    );
  }
  for (const part of parts) yield* partOf(part, options);
  yield tarEnd;
}

async function* partOf(part: TarPart, { mtime, signal }: TarOptions): AsyncGenerator<Buffer> {
  const { entries } = part;
  const stored = entries.filter(({ type, oid }) => type !== 'submodule' && !part.lfs.has(oid));
  let before: Buffer = Buffer.alloc(0);
  const objects = readObjects(
    part.dir,
    stored.map(({ oid }) => oid),
    signal,
  );
  try {
    for (const entry of entries) {
      const path = pathOf(part, entry);
      yield* newFolders(path, before, mtime);
      before = path;
      const pointer = part.lfs.get(entry.oid);
      if (entry.type === 'submodule') yield* newFolders(Buffer.concat([path, slash]), path, mtime);
      else if (pointer && entry.type === 'file') {
        yield tarHeader({ path, type: 'file', mode: modeOf(entry), size: pointer.size, mtime });
        yield* createReadStream(join(part.lfsFolder, pointer.oid), { ...(signal ? { signal } : {}) });
        yield tarPadding(pointer.size);
      } else yield* blobEntry(entry, path, await nextOf(objects, entry), mtime);
    }
  } finally {
    await objects.return(undefined);
  }
}

async function* blobEntry(
  entry: TreeEntry,
  path: Buffer,
  object: FoundObject,
  mtime: Date,
): AsyncGenerator<Buffer> {
  if (entry.type === 'symlink') {
    const target = await contentOf(object, longestTarget);
    yield tarHeader({ path, type: 'symlink', mode: 0o777, size: 0, mtime, target });
    return;
  }
  yield tarHeader({ path, type: 'file', mode: modeOf(entry), size: object.size, mtime });
  yield* object.content;
  yield tarPadding(object.size);
}

async function nextOf(
  objects: AsyncGenerator<FoundObject | undefined>,
  entry: TreeEntry,
): Promise<FoundObject> {
  const { value } = await objects.next();
  if (!value) throw new DamagedMirror(`${entry.oid} is missing`);
  return value;
}

/**
 * Named, so that they have the same mode wherever they are unpacked. Git lists what is in a folder in one stretch, so
 * those of the path before are known to be there without holding on to all of them.
 */
function* newFolders(path: Buffer, before: Buffer, mtime: Date): Generator<Buffer> {
  for (let at = path.indexOf(47); at >= 0; at = path.indexOf(47, at + 1)) {
    const folder = path.subarray(0, at + 1);
    if (before.subarray(0, at + 1).equals(folder)) continue;
    yield tarHeader({ path: folder, type: 'folder', mode: 0o755, size: 0, mtime });
  }
}

const slash = Buffer.from('/');

function modeOf({ isExecutable }: TreeEntry): number {
  return isExecutable ? 0o755 : 0o644;
}

function pathOf({ prefix }: TarPart, { path, rawPath }: TreeEntry): Buffer {
  return Buffer.concat([Buffer.from(prefix), rawPath ?? Buffer.from(path)]);
}

function atPlace(part: TarPart, entry: TreeEntry): TreeEntry {
  if (part.prefix === '') return entry;
  const raw = pathOf(part, entry);
  return { ...entry, path: raw.toString('utf8'), ...(entry.rawPath ? { rawPath: raw } : {}) };
}

/** Small pieces are handed on together: each hand-over costs more than copying them. */
async function* gathered(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    held.push(piece);
    size += piece.length;
    if (size < chunkBytes) continue;
    yield Buffer.concat(held);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held);
}
