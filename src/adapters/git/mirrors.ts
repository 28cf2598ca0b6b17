/**
 * Mirrors of Git repositories: one bare repository each in the data folder, holding the commits that were asked for with
 * all their files. Owns how they are fetched, read and thrown away. Refuses to run anything of a repository, to check one
 * out, to show a credential to any process, file or log, and to connect anywhere but to addresses that were checked.
 * Knows nothing of accounts, HTTP or what the files are for.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from '../../once.ts';
import type { Commit } from './commit.ts';
import { fetchMirror, readCommit } from './fetch-mirror.ts';
import { gather, type Source } from './gather.ts';
import { parseGitUrl } from './git-url.ts';
import { requireGit } from './git-version.ts';
import { HostPins } from './host-pins.ts';
import { downloadLfs } from './lfs-download.ts';
import type { LfsPointer } from './lfs-pointers.ts';
import { Mirror } from './mirror.ts';
import { checkKey, Leases, MirrorFolder } from './mirror-folder.ts';
import { MirrorLocks } from './mirror-lock.ts';
import { defaultLimits, type MirrorLimits, type MirrorsOptions, trustSettings } from './mirror-options.ts';
import { overTransport } from './over-transport.ts';
import type { Progress, RemoteGit, RemoteRefs } from './remote-git.ts';
import type { Setting } from './run-git.ts';
import {
  type BuildContext,
  isDamage,
  leaseOf,
  noteDamage,
  streamCommit,
  toldDamage,
} from './stream-commit.ts';
import type { Credentials } from './transport.ts';
import { checkRef, type Ref, type Want } from './want.ts';

export type { Commit } from './commit.ts';
export type { Mirror } from './mirror.ts';
export type { MirrorLimits, MirrorsOptions } from './mirror-options.ts';
export type { Progress, RemoteRefs } from './remote-git.ts';
export type { BuildContext } from './stream-commit.ts';
export type { Listing, TreeEntry } from './tree-listing.ts';
export type { Ref, Want } from './want.ts';

declare const brand: unique symbol;
/** Made of ids by whoever owns the mirror, never of a user's text; it names a folder. */
export type MirrorKey = string & { readonly [brand]: 'mirror' };

export interface MirrorSource {
  readonly url: string;
  readonly credentials?: Credentials;
}

export interface FetchOptions<W extends Want = Want> {
  readonly want: W;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Fetched {
  readonly commit: Commit;
  /** The branch that was asked for, or the default one; undefined for a tag or a commit. */
  readonly branch: string | undefined;
}

export class Mirrors {
  readonly #options: MirrorsOptions;
  readonly #limits: MirrorLimits;
  readonly #leases = new Leases();
  readonly #locks: MirrorLocks;
  readonly #pins: HostPins;
  readonly #settings: readonly Setting[];
  readonly #ready = once(() => requireGit());

  constructor(options: MirrorsOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    mkdirSync(this.#mirrorsDir, { recursive: true, mode: 0o700 });
    this.#locks = new MirrorLocks(this.#mirrorsDir);
    this.#pins = new HostPins(join(options.folder, 'hosts'));
    this.#settings = trustSettings(options);
  }

  /** What the repository has now, without fetching any of it. */
  async refs(source: MirrorSource, signal: AbortSignal): Promise<RemoteRefs> {
    await this.#ready();
    return this.#over(this.#checked(source), signal, (remote) => remote.refs());
  }

  /** Brings what is wanted into the mirror. A commit that is there already costs no connection. */
  fetch(
    key: MirrorKey,
    source: MirrorSource,
    options: FetchOptions<'default' | { readonly branch: string }>,
  ): Promise<Fetched & { branch: string }>;
  fetch(key: MirrorKey, source: MirrorSource, options: FetchOptions): Promise<Fetched>;
  async fetch(key: MirrorKey, source: MirrorSource, options: FetchOptions): Promise<Fetched> {
    checkKey(key);
    return this.#fetch(key, this.#checked(source), options);
  }

  open(key: MirrorKey): Mirror {
    checkKey(key);
    return new Mirror(this.#folder(key), this.#limits);
  }

  /** Fetches the commit with its submodules and LFS files. What is found damaged on the way is built anew, once. */
  async gather(
    key: MirrorKey,
    source: MirrorSource,
    sha: string,
    signal: AbortSignal,
  ): Promise<BuildContext> {
    checkKey(key);
    const checked = this.#checked(source);
    try {
      return await this.#gather(key, checked, sha, signal);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return await this.#gather(key, checked, sha, signal);
    }
  }

  /** Throws away mirrors, with those of their submodules, that nobody used since. Those in use stay. */
  async removeUnused(olderThan: Date, keep: ReadonlySet<MirrorKey>): Promise<number> {
    const kept = new Set<string>(keep);
    let removed = 0;
    for (const key of readdirSync(this.#mirrorsDir)) {
      const [owner = key] = key.split('.', 1);
      const folder = this.#folder(key);
      if (kept.has(owner) || folder.lastUsed() >= olderThan) continue;
      const isGone = await this.#locks.tryHold(key, async () => {
        if (this.#leases.hasUnder(folder.path)) return false;
        await rm(folder.path, { recursive: true, force: true });
        return true;
      });
      if (isGone) removed += 1;
    }
    return removed;
  }

  /** A host's key was changed for a good reason; the next contact pins the new one. */
  forgetHostKey(host: string, port = 22): void {
    this.#pins.forget(host, port);
  }

  async #gather(key: string, source: Source, sha: string, signal: AbortSignal): Promise<BuildContext> {
    const { maxEntries } = this.#limits;
    const { allowHttp = false } = this.#options;
    const leases: (ReturnType<typeof leaseOf> & { readonly folder: MirrorFolder })[] = [];
    const mirrored = {
      fetch: async (partKey: string, from: Source, commit: string) => {
        await this.#fetch(partKey, from, { want: { sha: commit }, signal });
        const folder = this.#folder(partKey);
        const leased = leaseOf(folder);
        leases.push({ ...leased, folder });
        return leased;
      },
      downloadLfs: this.#downloadLfs.bind(this, signal),
    };
    try {
      const limits = { allowHttp, maxEntries, signal };
      const { parts, warnings } = await gather(key, source, sha, mirrored, limits);
      const streamed = parts.map(({ key: partKey, ...part }) => ({ ...part, folder: this.#folder(partKey) }));
      return { warnings, tar: (wish = {}) => streamCommit(streamed, this.#limits, wish) };
    } catch (error) {
      for (const { folder, dir } of leases) noteDamage(folder, dir, error);
      throw toldDamage(error);
    } finally {
      for (const { release } of leases) release();
    }
  }

  async #fetch(key: string, source: Source, { want, signal, onProgress }: FetchOptions): Promise<Fetched> {
    await this.#ready();
    if (want !== 'default') checkRef(want);
    const folder = this.#folder(key);
    return this.#locks.hold(key, signal, () =>
      folder.busy(async () => {
        if (want !== 'default' && 'sha' in want) {
          const commit = await this.#present(folder, want);
          if (commit) return { commit, branch: undefined };
        }
        return this.#over(source, signal, async (remote, limited) => {
          const ref = want === 'default' ? { branch: await remote.defaultBranch() } : want;
          const onRebuild = (why: string) =>
            this.#options.log.warn({ mirror: key, why }, 'a mirror is built anew');
          const { maxBytes, maxPacks } = this.#limits;
          const wish = { folder, ref, remote, maxBytes, maxPacks, signal: limited, onProgress, onRebuild };
          return { commit: await fetchMirror(wish), branch: 'branch' in ref ? ref.branch : undefined };
        });
      }),
    );
  }

  /** Undefined too where it cannot be read: the fetch that follows will see to that. */
  async #present(folder: MirrorFolder, ref: Ref): Promise<Commit | undefined> {
    const dir = folder.current();
    if (dir === undefined || folder.isDamaged(dir)) return undefined;
    try {
      return await readCommit(dir, ref);
    } catch {
      folder.markDamaged(dir);
      return undefined;
    }
  }

  #over<T>(
    source: Source,
    signal: AbortSignal,
    work: (remote: RemoteGit, limited: AbortSignal) => Promise<T>,
  ) {
    const { resolve } = this.#options;
    const { timeoutMs } = this.#limits;
    return overTransport(
      source,
      { resolve, pins: this.#pins, timeoutMs, settings: this.#settings, signal },
      work,
    );
  }

  async #downloadLfs(
    signal: AbortSignal,
    key: string,
    source: Source,
    pointers: readonly LfsPointer[],
  ): Promise<void> {
    const folder = this.#folder(key);
    const { fetch } = this.#options;
    const wish = { source, folder: folder.lfs, pointers, ...this.#limits, fetch, signal };
    await this.#locks.hold(key, signal, () => folder.busy(() => downloadLfs(wish)));
  }

  #checked({ url, credentials }: MirrorSource): Source {
    const { allowHttp = false } = this.#options;
    return { url: parseGitUrl(url, { allowHttp }), credentials };
  }

  #folder(key: string): MirrorFolder {
    return new MirrorFolder(this.#mirrorsDir, key, this.#leases);
  }

  get #mirrorsDir(): string {
    return join(this.#options.folder, 'mirrors');
  }
}

export function createMirrors(options: MirrorsOptions): Mirrors {
  return new Mirrors(options);
}
