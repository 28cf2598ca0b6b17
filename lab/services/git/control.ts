/** What the lab itself does with the host, from inside: it makes accounts and repositories, and trouble. */
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Fault, Faults } from './faults.ts';
import { type NewRepository, Refusal, type Registry } from './registry.ts';
import { commitFolder, makeCommit, type NewCommit } from './repository/make-commit.ts';
import type { Repositories } from './repository/repositories.ts';
import type { RateLimits } from './rest/rate-limits.ts';
import type { Repository } from './state.ts';
import type { Urls } from './views/urls.ts';
import type { Pushes } from './webhooks/pushes.ts';

export interface NewAccount {
  readonly login: string;
  readonly name?: string;
  readonly kind: 'user' | 'org';
}

export interface LabAccount extends NewAccount {
  readonly id: number;
  readonly email: string;
}

export interface LabRepository {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly private: boolean;
  readonly defaultBranch: string;
  readonly cloneUrl: string;
  readonly apiUrl: string;
  /** The first commit, where the repository was made from a folder. */
  readonly sha: string | null;
}

export interface RateLimit {
  readonly token: string;
  readonly limit: number;
  readonly remaining: number;
  /** For so many seconds every request is answered with 429 and `Retry-After`. */
  readonly secondarySeconds?: number;
}

export interface ControlParts {
  readonly registry: Registry;
  readonly repositories: Repositories;
  readonly pushes: Pushes;
  readonly limits: RateLimits;
  readonly faults: Faults;
  readonly urls: Urls;
}

export type Control = ReturnType<typeof controlOf>;

export function controlOf({ registry, repositories, pushes, limits, faults, urls }: ControlParts) {
  const beingMade = new Set<string>();

  async function makeRepository(repository: Repository, from: string | undefined): Promise<string | null> {
    if (from !== undefined && !(isAbsolute(from) && statSync(from, { throwIfNoEntry: false })?.isDirectory()))
      throw new Refusal(`${from} is not an absolute path of a folder.`);
    const bare = await repositories.create(repository);
    try {
      const sha = from === undefined ? null : await commitFolder(bare, repository.defaultBranch, from);
      await pushes.recount(repository, bare, sha ?? undefined);
      registry.addRepository(repository);
      return sha;
    } catch (error) {
      repositories.remove(repository);
      throw error;
    }
  }

  return {
    createAccount({ login, name, kind }: NewAccount): LabAccount {
      const { id, email } = registry.addAccount(login, name ?? null, kind);
      return { id, login, kind, email, ...(name === undefined ? {} : { name }) };
    },

    createToken(input: { login: string; scopes: readonly string[]; token?: string }): { token: string } {
      const { token } = registry.addToken(input.login, input.scopes, input.token);
      return { token };
    },

    revokeToken(token: string): void {
      registry.revokeToken(token);
    },

    addMember({ org, login }: { org: string; login: string }): void {
      registry.addMember(org, login);
    },

    async createRepository(input: NewRepository & { readonly from?: string }): Promise<LabRepository> {
      const repository = registry.draftRepository(input);
      const key = `${repository.owner}/${repository.name}`.toLowerCase();
      if (beingMade.has(key)) throw new Refusal(`The repository ${key} is being made already.`, 409);
      beingMade.add(key);
      try {
        const sha = await makeRepository(repository, input.from);
        const { id, owner, name, private: hidden, defaultBranch } = repository;
        const addresses = { cloneUrl: urls.clone(repository), apiUrl: urls.apiOf(repository) };
        return { id, owner, name, private: hidden, defaultBranch, ...addresses, sha };
      } finally {
        beingMade.delete(key);
      }
    },

    /** Announced like a push, by the given account or else by the owner. */
    commit(
      owner: string,
      name: string,
      input: NewCommit & { readonly login?: string },
    ): Promise<{ branch: string; sha: string }> {
      const repository = registry.knownRepository(owner, name);
      const pusher = registry.knownAccount(input.login ?? repository.owner);
      const author = { name: pusher.name ?? pusher.login, email: pusher.email };
      return pushes.during(repository, pusher, async () => {
        const sha = await makeCommit(repositories.of(repository), input, author);
        return { branch: input.branch, sha };
      });
    },

    protect(owner: string, name: string, input: { branch: string; protected: boolean }): void {
      const repository = registry.knownRepository(owner, name);
      const others = repository.protectedBranches.filter((branch) => branch !== input.branch);
      repository.protectedBranches = input.protected ? [...others, input.branch] : others;
      registry.store.save();
    },

    setRateLimit({ token, limit, remaining, secondarySeconds }: RateLimit): void {
      if (!registry.caller(token)) throw new Refusal('There is no such token.', 404);
      limits.set(token, limit, remaining);
      limits.block(token, secondarySeconds ?? 0);
    },

    setFault(fault: Fault): void {
      faults.set(fault);
    },
  };
}
