/**
 * What each account can reach, kept for a moment, so that typing costs no request per letter. A list is fetched once
 * for everyone who asks meanwhile; one that is a little old is shown while a new one is on its way. In the memory of
 * this instance only, bounded in accounts and in repositories.
 */
import type { HostRepository } from '../../adapters/git-hosts/git-hosts.ts';
import type { Clock } from '../../clock.ts';
import type { GitProviderId } from '../../ids.ts';

export interface Reachable {
  readonly repositories: readonly HostRepository[];
  /** False where the account can reach more than are cached: a search then has to ask the provider. */
  readonly isComplete: boolean;
}

interface Cached {
  readonly at: number;
  readonly reachable: Promise<Reachable>;
  readonly count: number;
}

export type Load = (signal: AbortSignal) => Promise<Reachable>;

const freshMs = 60_000;
const usableMs = 10 * 60_000;
const mostAccounts = 64;
/** Of all lists together. */
const mostRepositories = 20_000;
const loadLimitMs = 30_000;

export class RepositoryCache {
  readonly #clock: Clock;
  readonly #cached = new Map<string, Cached>();
  readonly #loading = new Map<string, Promise<Reachable>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `what` tells a list of everything from the results of one search. */
  get(id: GitProviderId, what: string, load: Load): Promise<Reachable> {
    const key = `${id}\n${what}`;
    const now = this.#clock.now().getTime();
    const cached = this.#cached.get(key);
    if (cached && now - cached.at < freshMs) return cached.reachable;
    const loading = this.#load(key, now, load);
    return cached && now - cached.at < usableMs ? cached.reachable : loading;
  }

  forget(id: GitProviderId): void {
    for (const map of [this.#cached, this.#loading])
      for (const key of map.keys()) if (key.startsWith(`${id}\n`)) map.delete(key);
  }

  #load(key: string, now: number, load: Load): Promise<Reachable> {
    const underWay = this.#loading.get(key);
    if (underWay) return underWay;
    const loading = load(AbortSignal.timeout(loadLimitMs));
    this.#loading.set(key, loading);
    // A failure is told to those who wait for it, and is not cached.
    void loading.then(
      ({ repositories: { length: count } }) => {
        if (this.#loading.get(key) === loading) this.#store(key, { at: now, reachable: loading, count });
      },
      () => this.#loading.get(key) === loading && this.#loading.delete(key),
    );
    return loading;
  }

  #store(key: string, cached: Cached): void {
    this.#loading.delete(key);
    this.#cached.delete(key);
    this.#cached.set(key, cached);
    let left = this.#cached.values().reduce((sum, { count }) => sum + count, 0);
    for (const [oldest, { count }] of this.#cached) {
      if (this.#cached.size <= mostAccounts && left <= mostRepositories) return;
      this.#cached.delete(oldest);
      left -= count;
    }
  }
}
