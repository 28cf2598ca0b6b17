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
import { parseGitUrl } from './git-url.ts';
import { fetchMirror } from './mirror/fetch-mirror.ts';
import { gather } from './mirror/gather.ts';
import { downloadLfs } from './mirror/lfs-download.ts';
import { Mirror } from './mirror/mirror.ts';
import { checkKey, failedRead, isDamage, type Lease, Leases, MirrorFolder } from './mirror/mirror-folder.ts';
import { MirrorLocks } from './mirror/mirror-lock.ts';
import { MirrorUsage } from './mirror/mirror-usage.ts';
import { type BuildContext, streamCommit } from './mirror/stream-commit.ts';
import { defaultLimits, type MirrorLimits, type MirrorsOptions, trustSettings } from './mirror-options.ts';
import { type Commit, readCommit } from './objects/commits.ts';
import type { LfsPointer } from './objects/lfs-pointers.ts';
import { isPossibleRef, notThere, type Ref, type Want } from './refs.ts';
import { requireGit, type Setting } from './run-git.ts';
import { KnownHosts } from './transport/known-hosts.ts';
import type { Progress, RemoteGit, RemoteRefs } from './transport/remote-git.ts';
import type { Credentials, Source } from './transport/transport.ts';
import { withRemote } from './transport/with-remote.ts';

export type { Mirror } from './mirror/mirror.ts';
export type { BuildContext } from './mirror/stream-commit.ts';
export type { MirrorLimits, MirrorsOptions } from './mirror-options.ts';
export type { Commit } from './objects/commits.ts';
export type { Listing, TreeEntry } from './objects/tree-listing.ts';
export type { Ref, Want } from './refs.ts';
export type { Progress, RemoteRefs } from './transport/remote-git.ts';

const nobody = '';

declare const brand: unique symbol;
/** Made of ids by whoever owns the mirror, never of a user's text; it names a folder. */
export type MirrorKey = string & { readonly [brand]: 'mirror' };

export interface MirrorSource {
  readonly url: string;
  readonly credentials?: Credentials;
  /** Whose share of the disk its mirror takes; those that name nobody share one. */
  readonly owner?: string;
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
  readonly #usage: MirrorUsage;
  readonly #locks: MirrorLocks;
  readonly #knownHosts: KnownHosts;
  readonly #settings: readonly Setting[];
  readonly #ready = once(() => requireGit());

  constructor(options: MirrorsOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    mkdirSync(this.#mirrorsDir, { recursive: true, mode: 0o700 });
    this.#usage = new MirrorUsage(this.#mirrorsDir, this.#limits);
    this.#locks = new MirrorLocks(this.#mirrorsDir);
    this.#knownHosts = new KnownHosts(join(options.folder, 'hosts'));
    this.#settings = trustSettings(options);
  }

  /** What the repository has now, without fetching any of it. */
  async refs(source: MirrorSource, signal: AbortSignal): Promise<RemoteRefs> {
    await this.#ready();
    return this.#withRemote(this.#checked(source), signal, (remote) => remote.refs());
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
    return this.#fetch(key, source.owner ?? nobody, this.#checked(source), options);
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
    try {
      return await this.#gather(key, source, sha, signal);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return await this.#gather(key, source, sha, signal);
    }
  }

  /** Throws away mirrors, with those of their submodules, that nobody used since. Those in use stay. */
  async removeUnused(olderThan: Date, keep: ReadonlySet<MirrorKey>): Promise<number> {
    const kept = new Set<string>(keep);
    let removed = 0;
    for (const key of readdirSync(this.#mirrorsDir)) {
      const [owner = key] = key.split('.', 1);
      const lastUsed = MirrorFolder.lastUsedOf(this.#folder(key).path);
      if (kept.has(owner) || lastUsed === undefined || lastUsed >= olderThan) continue;
      if (await this.#remove(key)) removed += 1;
    }
    return removed;
  }

  /** False where it is in use. */
  async #remove(key: string): Promise<boolean> {
    const { path } = this.#folder(key);
    const isGone = await this.#locks.tryHold(key, async () => {
      if (this.#leases.hasUnder(path)) return false;
      await rm(path, { recursive: true, force: true });
      this.#usage.forget(key);
      return true;
    });
    return isGone ?? false;
  }

  /** So that the largest repository would fit. */
  async #makeRoom(key: string, owner: string): Promise<void> {
    for (const old of this.#usage.superfluous(owner, key, this.#limits.maxBytes)) await this.#remove(old);
  }

  /** A host's key was changed for a good reason; the next contact pins the new one. */
  forgetHostKey(host: string, port = 22): void {
    this.#knownHosts.remove(host, port);
  }

  async #gather(
    key: string,
    { owner = nobody, ...given }: MirrorSource,
    sha: string,
    signal: AbortSignal,
  ): Promise<BuildContext> {
    const source = this.#checked(given);
    const { maxEntries, readMs } = this.#limits;
    const { allowHttp = false } = this.#options;
    const leases: Lease[] = [];
    const mirrored = {
      fetch: async (partKey: string, from: Source, commit: string) => {
        await this.#fetch(partKey, owner, from, { want: { sha: commit }, signal });
        const lease = this.#folder(partKey).lease();
        leases.push(lease);
        return lease;
      },
      downloadLfs: this.#downloadLfs.bind(this, owner, signal),
    };
    try {
      const limits = { allowHttp, maxEntries, readMs, signal };
      const { parts, warnings } = await gather(key, source, sha, mirrored, limits);
      const streamed = parts.map(({ key: partKey, ...part }) => ({ ...part, folder: this.#folder(partKey) }));
      return { warnings, tar: (request = {}) => streamCommit(streamed, this.#limits, request) };
    } catch (error) {
      throw failedRead(error, leases);
    } finally {
      for (const { release } of leases) release();
    }
  }

  async #fetch(
    key: string,
    owner: string,
    source: Source,
    { want, signal, onProgress }: FetchOptions,
  ): Promise<Fetched> {
    await this.#ready();
    if (want !== 'default' && !isPossibleRef(want)) throw notThere(want, 'This cannot be the name of one.');
    const folder = this.#folder(key);
    return this.#locks.hold(key, signal, () =>
      folder.busy(async () => {
        if (want !== 'default' && 'sha' in want) {
          const commit = await this.#present(folder, want);
          if (commit) return { commit, branch: undefined };
        }
        return this.#withRemote(source, signal, async (remote, limited) => {
          const ref = want === 'default' ? { branch: await remote.defaultBranch() } : want;
          const onRebuild = (why: string) =>
            this.#options.log.warn({ mirror: key, why }, 'a mirror is built anew');
          const { maxBytes, maxPacks } = this.#limits;
          await this.#makeRoom(key, owner);
          const limits = { maxBytes, maxPacks, watch: this.#usage.startOf(key, owner) };
          const request = { folder, ref, remote, ...limits, signal: limited, onProgress, onRebuild };
          const commit = await fetchMirror(request).finally(() => this.#usage.count(key, owner));
          return { commit, branch: 'branch' in ref ? ref.branch : undefined };
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

  #withRemote<T>(
    source: Source,
    signal: AbortSignal,
    work: (remote: RemoteGit, limited: AbortSignal) => Promise<T>,
  ) {
    const { resolve } = this.#options;
    const { timeoutMs, memoryBytes } = this.#limits;
    const [knownHosts, settings] = [this.#knownHosts, this.#settings];
    return withRemote(source, { resolve, knownHosts, timeoutMs, memoryBytes, settings, signal }, work);
  }

  async #downloadLfs(
    owner: string,
    signal: AbortSignal,
    key: string,
    source: Source,
    pointers: readonly LfsPointer[],
  ): Promise<void> {
    const folder = this.#folder(key);
    const { fetch } = this.#options;
    const request = { source, folder: folder.lfs, pointers, ...this.#limits, fetch, signal };
    await this.#locks.hold(key, signal, () =>
      folder.busy(async () => {
        await this.#makeRoom(key, owner);
        const watch = this.#usage.startOf(key, owner);
        await downloadLfs({ ...request, watch }).finally(() => this.#usage.count(key, owner));
      }),
    );
  }

  #checked({ url, credentials }: Pick<MirrorSource, 'url' | 'credentials'>): Source {
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
