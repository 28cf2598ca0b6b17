/**
 * One mirror on the disk: `<key>/g1` is a bare repository, a rebuilt one becomes `g2`, and the newest counts. A first
 * fetch and a rebuild happen in a draft that is renamed when it is whole, so a reader never sees half of one.
 */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, errorText, Fault } from '../../../fault.ts';
import { DamagedMirror } from '../objects/object-reader.ts';
import { GitFailure, stopOrphans } from '../run-git.ts';

const halfPacks = 'objects/pack/{tmp_,.tmp-}*';
const leftovers = ['new-*', 'lfs/*.half', 'g*/*.lock', 'g*/refs/**/*.{lock,new}', `g*/${halfPacks}`];

/** Generations that somebody reads from; they are removed when the last reader is done. */
export class Leases {
  readonly #readers = new Map<string, number>();

  take(dir: string): () => void {
    this.#readers.set(dir, (this.#readers.get(dir) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#readers.get(dir) ?? 1) - 1;
      if (left > 0) this.#readers.set(dir, left);
      else this.#readers.delete(dir);
    };
  }

  hasUnder(path: string): boolean {
    return [...this.#readers.keys()].some((dir) => dir.startsWith(`${path}/`) || dir === path);
  }
}

/** Of one reader: the repository that it reads from stays until it is released. */
export interface Lease {
  readonly dir: string;
  release(): void;
  markDamaged(): void;
}

export class MirrorFolder {
  readonly path: string;
  readonly #leases: Leases;

  constructor(root: string, key: string, leases: Leases) {
    this.path = join(root, key);
    this.#leases = leases;
  }

  get lfs(): string {
    return join(this.path, 'lfs');
  }

  /** The repository to read from. */
  current(): string | undefined {
    const newest = this.#generations().at(-1);
    return newest === undefined ? undefined : join(this.path, `g${newest}`);
  }

  lease(): Lease {
    const dir = this.current();
    if (dir === undefined) throw new Fault('commit_not_found', 'The repository was not fetched yet.');
    this.touch();
    return { dir, release: this.#leases.take(dir), markDamaged: () => this.markDamaged(dir) };
  }

  /** Reads under a lease. */
  async read<T>(work: (dir: string) => Promise<T>): Promise<T> {
    const lease = this.lease();
    try {
      return await work(lease.dir);
    } catch (error) {
      throw failedRead(error, [lease]);
    } finally {
      lease.release();
    }
  }

  isDamaged(dir: string): boolean {
    return existsSync(join(dir, 'damaged'));
  }

  markDamaged(dir: string): void {
    if (existsSync(dir)) writeFileSync(join(dir, 'damaged'), '');
  }

  /** When it was last fetched or opened. */
  touch(): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.path, 'used'), '');
  }

  /** Undefined where it is gone. */
  static lastUsedOf(path: string): Date | undefined {
    const found = [join(path, 'used'), path].map((each) => statSync(each, { throwIfNoEntry: false }));
    return found.find((each) => each !== undefined)?.mtime;
  }

  /** While `work` runs a mark lies in the folder; who finds it later knows that somebody was killed here. */
  async busy<T>(work: () => Promise<T>): Promise<T> {
    const mark = join(this.path, 'busy');
    this.touch();
    if (existsSync(mark)) await this.#sweep();
    writeFileSync(mark, '');
    try {
      return await work();
    } finally {
      rmSync(mark, { force: true });
    }
  }

  /** An empty repository, made by hand: nothing of the machine's templates gets into it. */
  draft(): string {
    const dir = join(this.path, `new-${randomBytes(6).toString('hex')}`);
    mkdirSync(join(dir, 'objects', 'pack'), { recursive: true, mode: 0o700 });
    mkdirSync(join(dir, 'refs', 'mirror', 'commits'), { recursive: true });
    writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
    writeFileSync(join(dir, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
    return dir;
  }

  /** The draft is the mirror from now on. */
  async adopt(draft: string): Promise<string> {
    const dir = join(this.path, `g${(this.#generations().at(-1) ?? 0) + 1}`);
    renameSync(draft, dir);
    await this.#dropOld();
    return dir;
  }

  /** What a fetch that was stopped has left: it would count as part of the mirror. */
  async clearHalfPacks(dir: string): Promise<void> {
    for (const name of globSync(halfPacks, { cwd: dir })) await rm(join(dir, name), { force: true });
  }

  async discard(draft: string): Promise<void> {
    await rm(draft, { recursive: true, force: true });
  }

  async #dropOld(): Promise<void> {
    for (const number of this.#generations().slice(0, -1)) {
      const dir = join(this.path, `g${number}`);
      if (!this.#leases.hasUnder(dir)) await rm(dir, { recursive: true, force: true });
    }
  }

  /** After a kill: processes that live on, drafts, half-written packs, locks of git that nobody holds. */
  async #sweep(): Promise<void> {
    await stopOrphans(`${this.path}/`);
    for (const name of globSync(leftovers, { cwd: this.path }))
      await rm(join(this.path, name), { recursive: true, force: true });
    await this.#dropOld();
  }

  #generations(): number[] {
    let names: string[];
    try {
      names = readdirSync(this.path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw error;
    }
    return names
      .filter((name) => /^g\d+$/.test(name))
      .map((name) => Number(name.slice(1)))
      .sort((one, other) => one - other);
  }
}

/** Keys come from ids; this is what keeps a mistake from naming another folder. */
export function checkKey(key: string): void {
  if (!/^[a-z0-9][a-z0-9_-]{0,99}$/.test(key)) throw new TypeError('a mirror key is not a safe name');
}

const damaged = 'Our copy of the repository is damaged; the next fetch builds it anew.';

export function isDamage(error: unknown): boolean {
  return error instanceof Fault && error.message === damaged;
}

/** What a read failed with. Where the mirrors are to blame they are marked, and the next fetch builds them anew. */
export function failedRead(error: unknown, leases: readonly Lease[]): unknown {
  if (!(error instanceof DamagedMirror) && !(error instanceof GitFailure)) return error;
  for (const lease of leases) lease.markDamaged();
  return new Fault('git_failed', damaged, {
    hint: 'Try again.',
    evidence: error instanceof GitFailure ? error.said.slice(-500) : errorText(error),
    cause: error,
  });
}
