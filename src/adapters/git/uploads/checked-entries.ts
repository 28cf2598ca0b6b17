/**
 * Which entries of an archive become files of a commit, and under which names. Refuses what would lie or lead outside of
 * the folder, what no checkout could hold, and what is there twice; leaves out `.git`, which every working tree has.
 */
import { refusedArchive, refusedEntry, tooLarge } from './archive-faults.ts';
import { refuseLinksOut } from './link-targets.ts';
import type { ArchiveEntry } from './read-tar.ts';

export type CheckedEntry =
  | {
      readonly type: 'file';
      readonly path: string;
      readonly isExecutable: boolean;
      readonly size: number;
      readonly content: AsyncIterable<Buffer>;
    }
  | { readonly type: 'symlink'; readonly path: string; readonly target: string }
  /** The same content as a file before it. */
  | { readonly type: 'copy'; readonly path: string; readonly of: string };

/** As the disks of servers have it, and as the files of a commit are limited when they are sent there. */
const longestPart = 255;
const longestPath = 4_096;
const deepest = 100;
/** Of all paths together: they are held in memory while the archive is read. */
const mostPathBytes = 32 * 2 ** 20;

export async function* checkedEntries(
  entries: AsyncIterable<ArchiveEntry>,
  maxFiles: number,
): AsyncGenerator<CheckedEntry> {
  const seen = new SeenPaths();
  const links = new Map<string, string>();
  let count = 0;
  let files = 0;
  for await (const entry of entries) {
    count += 1;
    // Folders and what is left out cost time too.
    if (count > maxFiles * 2) throw tooManyFiles(maxFiles);
    const path = pathOf(entry.name);
    if (path === undefined) continue;
    if (entry.type === 'folder') {
      seen.addFolder(path);
      continue;
    }
    files += 1;
    if (files > maxFiles) throw tooManyFiles(maxFiles);
    seen.addFile(path);
    if (entry.type === 'symlink') {
      if (entry.target === '' || entry.target.length > longestPath)
        throw refusedEntry(path, 'is a link with a target that cannot be');
      links.set(path, entry.target);
      yield { type: 'symlink', path, target: entry.target };
    } else if (entry.type === 'hardlink')
      yield { type: 'copy', path, of: copied(path, entry.target, seen, links) };
    else
      yield {
        type: 'file',
        path,
        isExecutable: entry.isExecutable,
        size: entry.size,
        content: entry.content,
      };
  }
  if (files === 0) throw refusedArchive('There is no file in it.');
  await refuseLinksOut(links);
}

/** Undefined for the folder itself and for what is left out. */
function pathOf(name: string): string | undefined {
  if (name.startsWith('/')) throw refusedEntry(name, 'is an absolute path');
  const bare = name.replace(/^(\.\/+)+/, '').replace(/\/+$/, '');
  if (bare === '' || bare === '.') return undefined;
  const parts = bare.split('/');
  if (parts.includes('..')) throw refusedEntry(name, 'leads out of the folder');
  if (parts.some((part) => part === '' || part === '.'))
    throw refusedEntry(name, 'has an empty part in its path');
  if (bare.includes('\0')) throw refusedEntry(name, 'has a zero byte in its name');
  if (parts.some((part) => Buffer.byteLength(part) > longestPart))
    throw refusedEntry(name, `has a part of more than ${longestPart} bytes in its path`);
  if (Buffer.byteLength(bare) > longestPath)
    throw refusedEntry(name, `has a path of more than ${longestPath} bytes`);
  if (parts.length > deepest) throw refusedEntry(name, `lies deeper than ${deepest} folders`);
  if (parts.includes('.git')) return undefined;
  if (parts.some(isLikeGit)) throw refusedEntry(name, 'would be taken for `.git` on some systems');
  return bare;
}

/** Upper and lower case, characters that macOS passes over, and how Windows shortens and ends names. */
function isLikeGit(part: string): boolean {
  const plain = part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase();
  return /^(\.git|git~1)[ .]*(:.*)?$/.test(plain);
}

function copied(path: string, name: string, seen: SeenPaths, links: ReadonlyMap<string, string>): string {
  const of = pathOf(name);
  if (of === undefined || !seen.isFile(of) || links.has(of) || of === path)
    throw refusedEntry(
      path,
      `is a hard link to «${name.slice(0, 200)}», which is no file before it in the archive`,
    );
  return of;
}

/** A link and a folder of the same name would send what is unpacked later to wherever the link points. */
class SeenPaths {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();
  #bytes = 0;

  addFile(path: string): void {
    if (this.#files.has(path)) throw refusedEntry(path, 'is there twice');
    if (this.#folders.has(path)) throw refusedEntry(path, 'is there as a folder too');
    this.#files.add(path);
    this.#count(path);
    this.#addFoldersOf(path);
  }

  addFolder(path: string): void {
    if (this.#files.has(path)) throw refusedEntry(path, 'is there as a folder and as a file');
    this.#add(path);
    this.#addFoldersOf(path);
  }

  isFile(path: string): boolean {
    return this.#files.has(path);
  }

  #addFoldersOf(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      if (this.#folders.has(folder)) return;
      if (this.#files.has(folder)) throw refusedEntry(path, 'lies below something that is not a folder');
      this.#add(folder);
    }
  }

  #add(folder: string): void {
    if (this.#folders.has(folder)) return;
    this.#folders.add(folder);
    this.#count(folder);
  }

  #count(path: string): void {
    this.#bytes += path.length;
    if (this.#bytes > mostPathBytes)
      throw tooLarge(`its names take more than ${mostPathBytes / 2 ** 20} MB together`);
  }
}

function tooManyFiles(maxFiles: number) {
  return tooLarge(`it has more than ${maxFiles} files`, 'SLIPWAY_LIMIT_UPLOAD_FILES');
}
