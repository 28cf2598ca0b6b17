/** Streams a commit, with its gathered submodules, as one tar; holds on to the mirrors until it has ended. */
import { Readable } from 'node:stream';
import { errorText, Fault } from '../../fault.ts';
import type { Commit } from './commit.ts';
import { commitTar, type TarPart } from './commit-tar.ts';
import { readCommit } from './fetch-mirror.ts';
import type { LfsPointer } from './lfs-pointers.ts';
import type { MirrorFolder } from './mirror-folder.ts';
import { DamagedMirror } from './object-reader.ts';
import { GitFailure } from './run-git.ts';
import { listTree } from './tree-listing.ts';
import { isSha, notThere } from './want.ts';

export interface ReadLimits {
  readonly maxEntries: number;
  readonly maxContentBytes: number;
}

export interface StreamedPart {
  readonly folder: MirrorFolder;
  readonly sha: string;
  /** Empty for the commit itself, which comes first. */
  readonly prefix: string;
  readonly lfs: ReadonlyMap<string, LfsPointer>;
}

export interface TarWish {
  /** Only what lies below it, named from there. */
  readonly rootDirectory?: string;
  readonly signal?: AbortSignal;
}

/** A commit with everything that belongs to it, ready to be streamed. */
export interface BuildContext {
  /** What had to be left out, in words. */
  readonly warnings: readonly string[];
  tar(wish?: TarWish): Readable;
}

export function streamCommit(parts: readonly StreamedPart[], limits: ReadLimits, wish: TarWish): Readable {
  return Readable.from(bytesOf(parts, limits, wish), { objectMode: false });
}

async function* bytesOf(
  parts: readonly StreamedPart[],
  { maxEntries, maxContentBytes: maxBytes }: ReadLimits,
  { rootDirectory, signal }: TarWish,
): AsyncGenerator<Buffer> {
  const leases = parts.map(({ folder }) => ({ folder, ...leaseOf(folder) }));
  try {
    const listed: TarPart[] = [];
    const places = new Set(parts.map(({ prefix }) => prefix));
    let mtime = new Date(0);
    let left = maxEntries;
    for (const [index, { folder, sha, prefix, lfs }] of parts.entries()) {
      const dir = leases[index]?.dir ?? '';
      const commit = await mustHave(dir, sha, signal);
      if (index === 0) mtime = commit.committedAt;
      const { entries, isComplete } = await listTree(dir, sha, { maxEntries: left, signal });
      if (!isComplete) throw tooMany(maxEntries);
      left -= entries.length;
      // The place of a submodule that was gathered is filled by its own part.
      const own = entries.filter(
        ({ type, path }) => type !== 'submodule' || !places.has(`${prefix}${path}/`),
      );
      listed.push({ dir, prefix, entries: own, lfs, lfsFolder: folder.lfs });
    }
    yield* commitTar(listed, { rootDirectory, mtime, maxBytes, signal });
  } catch (error) {
    for (const { folder, dir } of leases) noteDamage(folder, dir, error);
    throw toldDamage(error);
  } finally {
    for (const { release } of leases) release();
  }
}

export function leaseOf(folder: MirrorFolder): { readonly dir: string; readonly release: () => void } {
  const leased = folder.lease();
  if (!leased) throw new Fault('commit_not_found', 'The repository was not fetched yet.');
  return leased;
}

/** Only what was fetched on purpose counts: of that we know that all its files are here. */
async function mustHave(dir: string, sha: string, signal?: AbortSignal): Promise<Commit> {
  const commit = isSha(sha) ? await readCommit(dir, { sha }, signal) : undefined;
  if (!commit) throw notThere({ sha }, 'It was not fetched.');
  return commit;
}

const damaged = 'Our copy of the repository is damaged; the next fetch builds it anew.';

export function isDamage(error: unknown): boolean {
  return error instanceof Fault && error.message === damaged;
}

/** The next fetch builds it anew. */
export function noteDamage(folder: MirrorFolder, dir: string, error: unknown): void {
  if (error instanceof DamagedMirror || error instanceof GitFailure) folder.markDamaged(dir);
}

export function toldDamage(error: unknown): unknown {
  if (!(error instanceof DamagedMirror) && !(error instanceof GitFailure)) return error;
  return new Fault('git_failed', damaged, {
    hint: 'Try again.',
    evidence: error instanceof GitFailure ? error.said.slice(-500) : errorText(error),
    cause: error,
  });
}

export function tooMany(maxEntries: number): Fault {
  return new Fault('repository_too_large', `The commit has more than ${maxEntries} files.`);
}
