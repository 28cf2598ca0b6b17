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
  /** False where the account can reach more than are kept: a search then has to ask the provider. */
  readonly isComplete: boolean;
}

interface Kept {
  readonly at: number;
  readonly reachable: Promise<Reachable>;
}

export type Load = (signal: AbortSignal) => Promise<Reachable>;

const freshMs = 60_000;
const usableMs = 10 * 60_000;
const mostAccounts = 64;
const loadLimitMs = 30_000;

export class RepositoryCache {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  readonly #loading = new Map<string, Promise<Reachable>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `what` tells a list of everything from the results of one search. */
  get(id: GitProviderId, what: string, load: Load): Promise<Reachable> {
    const key = `${id}\n${what}`;
    const now = this.#clock.now().getTime();
    const kept = this.#kept.get(key);
    if (kept && now - kept.at < freshMs) return kept.reachable;
    const loading = this.#load(key, now, load);
    return kept && now - kept.at < usableMs ? kept.reachable : loading;
  }

  forget(id: GitProviderId): void {
    for (const map of [this.#kept, this.#loading])
      for (const key of map.keys()) if (key.startsWith(`${id}\n`)) map.delete(key);
  }

  #load(key: string, now: number, load: Load): Promise<Reachable> {
    const underWay = this.#loading.get(key);
    if (underWay) return underWay;
    const loading = load(AbortSignal.timeout(loadLimitMs));
    this.#loading.set(key, loading);
    // A failure is told to those who wait for it, and is not kept.
    void loading.then(
      () => {
        if (this.#loading.get(key) === loading) this.#keep(key, { at: now, reachable: loading });
      },
      () => this.#loading.get(key) === loading && this.#loading.delete(key),
    );
    return loading;
  }

  #keep(key: string, kept: Kept): void {
    this.#loading.delete(key);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostAccounts && oldest !== undefined) this.#kept.delete(oldest);
  }
}
