/** Streams a commit, with its gathered submodules, as one tar; holds on to the mirrors until it has ended. */
import { Readable } from 'node:stream';
import { Fault } from '../../../fault.ts';
import { commitTar, type TarPart } from '../objects/commit-tar.ts';
import { requireCommit } from '../objects/commits.ts';
import type { LfsPointer } from '../objects/lfs-pointers.ts';
import { listTree } from '../objects/tree-listing.ts';
import { failedRead, type MirrorFolder } from './mirror-folder.ts';

export interface ReadLimits {
  readonly maxEntries: number;
  readonly maxContentBytes: number;
  readonly readMs: number;
}

export interface StreamedPart {
  readonly folder: MirrorFolder;
  readonly sha: string;
  /** Empty for the commit itself, which comes first. */
  readonly prefix: string;
  readonly lfs: ReadonlyMap<string, LfsPointer>;
}

export interface TarRequest {
  readonly signal?: AbortSignal;
}

/** A commit with everything that belongs to it, ready to be streamed. */
export interface BuildContext {
  /** What had to be left out, in words. */
  readonly warnings: readonly string[];
  tar(request?: TarRequest): Readable;
}

export function streamCommit(
  parts: readonly StreamedPart[],
  limits: ReadLimits,
  { signal }: TarRequest,
): Readable {
  return Readable.from(tarOf(parts, limits, signal), { objectMode: false });
}

async function* tarOf(
  parts: readonly StreamedPart[],
  { maxEntries, maxContentBytes: maxBytes, readMs }: ReadLimits,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const leases = parts.map(({ folder }) => folder.lease());
  try {
    const listed: TarPart[] = [];
    const places = new Set(parts.map(({ prefix }) => prefix));
    let mtime = new Date(0);
    let left = maxEntries;
    for (const [index, { folder, sha, prefix, lfs }] of parts.entries()) {
      const dir = leases[index]?.dir ?? '';
      const commit = await requireCommit(dir, sha, signal);
      if (index === 0) mtime = commit.committedAt;
      const { entries, isComplete } = await listTree(dir, sha, { maxEntries: left, readMs, signal });
      if (!isComplete) throw tooMany(maxEntries);
      left -= entries.length;
      // The place of a submodule that was gathered is filled by its own part.
      const own = entries.filter(
        ({ type, path }) => type !== 'submodule' || !places.has(`${prefix}${path}/`),
      );
      listed.push({ dir, prefix, entries: own, lfs, lfsFolder: folder.lfs });
    }
    yield* commitTar(listed, { mtime, maxBytes, signal });
  } catch (error) {
    throw failedRead(error, leases);
  } finally {
    for (const { release } of leases) release();
  }
}

export function tooMany(maxEntries: number): Fault {
  return new Fault(
    'repository_too_large',
    `The commit has more than ${maxEntries} files, or too long paths.`,
  );
}
