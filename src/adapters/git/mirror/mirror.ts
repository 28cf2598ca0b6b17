/** Reads from one mirror: commits, lists of files, files, a tar. Never changes it, and never makes a checkout. */
import type { Readable } from 'node:stream';
import { Turns } from '../../../turns.ts';
import { checkFetched } from '../objects/commits.ts';
import { contentOf, DamagedMirror, readObjects } from '../objects/object-reader.ts';
import { type Listing, listTree, readLimit, type TreeEntry } from '../objects/tree-listing.ts';
import { runGit, TooMuchOutput } from '../run-git.ts';
import { failedRead, type MirrorFolder } from './mirror-folder.ts';
import { type ReadLimits, streamCommit, type TarRequest } from './stream-commit.ts';

export interface ReadOptions {
  /** A larger file is left out. Default 4 MiB. */
  readonly maxFileBytes?: number;
  readonly signal?: AbortSignal;
}

export interface FileContent {
  readonly path: string;
  readonly content: Buffer;
}

/** Of all files that are read together. What would go beyond it is left out. */
const mostContentBytes = 64 * 2 ** 20;
const mostChangedBytes = 4 * 2 ** 20;

export class Mirror {
  readonly #folder: MirrorFolder;
  readonly #limits: ReadLimits;
  /** The last one: what is listed is read next. */
  #listed: { readonly sha: string; readonly byPath: ReadonlyMap<string, TreeEntry> } | undefined;

  constructor(folder: MirrorFolder, limits: ReadLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  tree(
    sha: string,
    options: { readonly maxEntries?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Listing> {
    const { maxEntries = this.#limits.maxEntries, signal } = options;
    const { readMs } = this.#limits;
    return this.#folder.read(async (dir) => {
      await checkFetched(dir, sha, signal);
      const listing = await listTree(dir, sha, { maxEntries, readMs, signal });
      if (listing.isComplete) this.#listed = { sha, byPath: await byPath(listing.entries) };
      return listing;
    });
  }

  /** In the order asked for. What is not there, is no file, or is too large is left out. */
  async *readFiles(
    sha: string,
    paths: Iterable<string>,
    options: ReadOptions = {},
  ): AsyncGenerator<FileContent> {
    const { maxFileBytes = 4 * 2 ** 20, signal } = options;
    if (this.#listed?.sha !== sha) await this.tree(sha, signal ? { signal } : {});
    let left = mostContentBytes;
    const wanted: TreeEntry[] = [];
    for (const path of paths) {
      const entry = this.#listed?.sha === sha ? this.#listed.byPath.get(path) : undefined;
      if (entry?.type !== 'file' || entry.rawPath || entry.size > maxFileBytes || entry.size > left) continue;
      left -= entry.size;
      wanted.push(entry);
    }
    const lease = this.#folder.lease();
    try {
      let at = 0;
      const oids = wanted.map(({ oid }) => oid);
      for await (const object of readObjects(lease.dir, oids, signal)) {
        const entry = wanted[at];
        at += 1;
        if (!object || !entry) throw new DamagedMirror('a file is missing');
        yield { path: entry.path, content: await contentOf(object, maxFileBytes) };
      }
    } catch (error) {
      throw failedRead(error, [lease]);
    } finally {
      lease.release();
    }
  }

  /**
   * Paths that differ between the two, of files that came, went or changed; null where they are more than anyone looks
   * at. Both must have been fetched.
   */
  changedPaths(from: string, to: string, signal?: AbortSignal): Promise<string[] | null> {
    return this.#folder.read(async (dir) => {
      for (const sha of [from, to]) await checkFetched(dir, sha, signal);
      const args = ['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff', '--name-only', from, to, '--'];
      const limit = readLimit(this.#limits.readMs, signal);
      const output = await runGit({ args, dir, signal: limit.signal, maxOutputBytes: mostChangedBytes })
        .catch(nullWhereTooMuch)
        .finally(limit.done);
      return output === null ? null : output.toString('utf8').split('\0').filter(Boolean);
    });
  }

  /** The commit alone; `Mirrors.gather` brings submodules and LFS files along. */
  tar(sha: string, request: TarRequest = {}): Readable {
    return streamCommit([{ folder: this.#folder, sha, prefix: '', lfs: new Map() }], this.#limits, request);
  }
}

async function byPath(entries: readonly TreeEntry[]): Promise<ReadonlyMap<string, TreeEntry>> {
  const found = new Map<string, TreeEntry>();
  const turns = new Turns();
  for (const entry of entries) {
    const turn = turns.next();
    if (turn) await turn;
    found.set(entry.path, entry);
  }
  return found;
}

function nullWhereTooMuch(error: unknown): null {
  if (error instanceof TooMuchOutput) return null;
  throw error;
}
