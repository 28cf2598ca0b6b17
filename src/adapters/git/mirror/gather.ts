/**
 * All that a commit consists of: its own files, its submodules' (each from a mirror of its own, bounded in number and
 * depth), and what its LFS pointers stand for. Afterwards the whole can be streamed without asking anyone.
 */
import { createHash } from 'node:crypto';
import { findPointers, type LfsPointer } from '../objects/lfs-pointers.ts';
import { listTree } from '../objects/tree-listing.ts';
import type { Source } from '../transport/transport.ts';
import { tooMany } from './stream-commit.ts';
import { findSubmodules } from './submodules.ts';

/** What gathering needs of the mirrors. Keys of submodules begin with the key of the commit they belong to. */
export interface Mirrored {
  /** Brings the commit, and gives the folder to read it from. */
  fetch(key: string, source: Source, sha: string): Promise<{ readonly dir: string }>;
  downloadLfs(key: string, source: Source, pointers: readonly LfsPointer[]): Promise<void>;
}

export interface GatherLimits {
  readonly allowHttp: boolean;
  readonly maxEntries: number;
  readonly readMs: number;
  readonly signal: AbortSignal;
}

export interface GatheredPart {
  readonly key: string;
  readonly sha: string;
  readonly prefix: string;
  readonly lfs: ReadonlyMap<string, LfsPointer>;
}

export interface Gathered {
  /** The commit itself first. */
  readonly parts: readonly GatheredPart[];
  readonly warnings: readonly string[];
}

const mostSubmodules = 50;
const deepest = 5;

export async function gather(
  key: string,
  source: Source,
  sha: string,
  mirrored: Mirrored,
  { allowHttp, maxEntries, readMs, signal }: GatherLimits,
): Promise<Gathered> {
  const parts: GatheredPart[] = [];
  const warnings: string[] = [];
  let left = maxEntries;

  async function add(
    partKey: string,
    from: Source,
    commit: string,
    prefix: string,
    depth: number,
  ): Promise<void> {
    const { dir } = await mirrored.fetch(partKey, from, commit);
    const { entries, isComplete } = await listTree(dir, commit, { maxEntries: left, readMs, signal });
    if (!isComplete) throw tooMany(maxEntries);
    left -= entries.length;
    const lfs = await findPointers(dir, entries, signal);
    if (lfs.size > 0) await mirrored.downloadLfs(partKey, from, [...lfs.values()]);
    parts.push({ key: partKey, sha: commit, prefix, lfs });
    const found = await findSubmodules(dir, entries, from, { allowHttp, signal });
    warnings.push(...found.warnings);
    for (const { path, sha: pinned, ...submodule } of found.submodules) {
      const place = `${prefix}${path}`;
      if (parts.length > mostSubmodules || depth >= deepest) {
        const why =
          depth >= deepest ? `lies deeper than ${deepest} levels` : `is one of more than ${mostSubmodules}`;
        warnings.push(`The submodule ${JSON.stringify(place)} ${why}; its folder stays empty.`);
        continue;
      }
      const name = createHash('sha256').update(submodule.url.text).digest('hex').slice(0, 32);
      await add(`${key}.${name}`, submodule, pinned, `${place}/`, depth + 1);
    }
  }

  await add(key, source, sha, '', 0);
  return { parts, warnings };
}
