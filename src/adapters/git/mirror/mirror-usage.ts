/**
 * How much of the disk mirrors take: those of one owner together, and so that enough is left free for everything else
 * that lies there, the database above all. Counted in memory, from what lies on the disk.
 */
import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../../fault.ts';
import { readFileIfExists } from '../../../store/files.ts';
import { bytesIn, namesIn } from '../files-in.ts';
import { MirrorFolder } from './mirror-folder.ts';

export interface UsageLimits {
  /** Of all mirrors of one owner. */
  readonly maxOwnerBytes: number;
  /** What is to stay free on the disk. */
  readonly keepFreeBytes: number;
}

interface Used {
  readonly owner: string;
  readonly bytes: number;
}

/** Its small files, however small they are: a thousand empty repositories are not nothing. */
const leastBytes = 64 * 1024;
/** One that was used so lately may be about to be read by who has fetched it. */
const recentMs = 10 * 60_000;

export class MirrorUsage {
  readonly #root: string;
  readonly #limits: UsageLimits;
  #known: Map<string, Used> | undefined;

  constructor(root: string, limits: UsageLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  /** From now on the mirror is this owner's. Called while it grows: counts, and fails where it has become too much. */
  startOf(key: string, owner: string): () => void {
    const path = join(this.#root, key);
    if (ownerIn(path) !== owner) writeFileSync(join(path, 'owner'), owner);
    return () => {
      this.count(key, owner);
      if (this.#of(owner) > this.#limits.maxOwnerBytes) throw tooMuch(this.#limits.maxOwnerBytes);
      if (this.#isShort()) throw nearlyFull();
    };
  }

  /** Once it grows no more: what failed is gone again. */
  count(key: string, owner: string): void {
    this.#all().set(key, { owner, bytes: bytesOf(join(this.#root, key)) });
  }

  /** Of all mirrors of an owner, but one. */
  #of(owner: string, except?: string): number {
    let sum = 0;
    for (const [key, used] of this.#all()) if (used.owner === owner && key !== except) sum += used.bytes;
    return sum;
  }

  /**
   * What may go so that the owner would have room for so many bytes more: the owner's other mirrors, those that were not
   * used for longest first, until enough of them has gone. They can be fetched again.
   */
  *superfluous(owner: string, except: string, bytes: number): Generator<string> {
    const most = Math.max(0, this.#limits.maxOwnerBytes - bytes);
    const before = Date.now() - recentMs;
    for (const { key, lastUsed } of this.#oldestOf(owner, except)) {
      const isEnough = this.#of(owner, except) <= most && !this.#isShort();
      if (isEnough || lastUsed.getTime() > before) return;
      yield key;
    }
  }

  forget(key: string): void {
    this.#known?.delete(key);
  }

  #isShort(): boolean {
    const { bavail, bsize } = statfsSync(this.#root);
    return bavail * bsize < this.#limits.keepFreeBytes;
  }

  #oldestOf(owner: string, except: string): { readonly key: string; readonly lastUsed: Date }[] {
    return [...this.#all()]
      .flatMap(([key, used]) => {
        const lastUsed = MirrorFolder.lastUsedOf(join(this.#root, key));
        return used.owner === owner && key !== except && lastUsed ? [{ key, lastUsed }] : [];
      })
      .sort((one, other) => one.lastUsed.getTime() - other.lastUsed.getTime());
  }

  #all(): Map<string, Used> {
    this.#known ??= new Map(
      namesIn(this.#root).map((key) => {
        const path = join(this.#root, key);
        return [key, { owner: ownerIn(path), bytes: bytesOf(path) }];
      }),
    );
    return this.#known;
  }
}

/** Empty for one from before owners were written down; its next fetch does. */
function ownerIn(path: string): string {
  return readFileIfExists(join(path, 'owner')) ?? '';
}

/** Of all its generations, drafts too, and of its LFS files, also of those that are still arriving. */
export function bytesOf(path: string): number {
  const packs = namesIn(path).filter((name) => /^(g\d+|new-[0-9a-f]+)$/.test(name));
  const folders = [...packs.map((name) => join(path, name, 'objects', 'pack')), join(path, 'lfs')];
  return folders.reduce((sum, folder) => sum + bytesIn(folder), leastBytes);
}

function tooMuch(maxBytes: number): Fault {
  return new Fault('mirrors_full', `The repositories together take more than ${inMiB(maxBytes)} MiB.`, {
    hint: 'Those that were not used lately were removed already. Delete projects that are not needed; whoever runs this instance can raise SLIPWAY_LIMIT_MIRRORS_MB.',
  });
}

function nearlyFull(): Fault {
  return new Fault('no_space', 'The disk of the service is nearly full, so nothing more is fetched.', {
    hint: 'Whoever runs this instance has to make room, or lower SLIPWAY_KEEP_FREE_MB.',
  });
}

function inMiB(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
