/**
 * GitHub and GitHub Enterprise, by GitHub's own client. Its search is not used for repositories: it finds whole words
 * only, lags behind, allows 30 requests a minute and wants the organisations named. The list of what the account
 * reaches has them all, private ones of organisations included.
 */
import { Octokit } from '@octokit/core';
import Type, { type Static } from 'typebox';
import {
  dateOrNull,
  Id,
  isNamed,
  MaybeBoolean,
  MaybeNumber,
  MaybeText,
  numberOf,
  partsOf,
  pictureOrNull,
  shaped,
  Text,
  textOrNull,
} from './foreign.ts';
import type { HostBranch, HostCore, HostRepository, ListQuery, RepositoryRef } from './git-hosts.ts';
import { githubScopes } from './github-scopes.ts';
import { type HostCalls, noAccount, unlessMissing, unwrapped } from './host-calls.ts';
import { holds, nextPage, pick, readCursor, slice, writeCursor } from './host-pages.ts';

export { githubDialect } from './github-scopes.ts';

const User = Type.Object({ login: Text, name: MaybeText, avatar_url: MaybeText });
const Repository = Type.Object({
  id: Id,
  full_name: Text,
  name: Text,
  owner: Type.Object({ login: Text }),
  description: MaybeText,
  private: Type.Boolean(),
  archived: MaybeBoolean,
  fork: MaybeBoolean,
  default_branch: MaybeText,
  pushed_at: MaybeText,
  size: MaybeNumber,
  permissions: Type.Optional(Type.Object({ admin: MaybeBoolean })),
});
const Branch = Type.Object({ name: Text, commit: Type.Object({ sha: Text }), protected: MaybeBoolean });
const Ref = Type.Object({ ref: Text, object: Type.Object({ sha: Text }) });
const Hook = Type.Object({ id: Id, config: Type.Object({ url: MaybeText }) });

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

interface Asked {
  readonly signal?: AbortSignal | undefined;
  readonly [parameter: string]: unknown;
}

export function openGithub(calls: HostCalls): HostCore {
  const { label, access } = calls;
  const octokit = new Octokit({
    baseUrl: calls.apiUrl,
    log: quiet,
    request: { fetch: calls.call, log: quiet },
  });
  const request = (route: string, { signal, ...parameters }: Asked = {}) =>
    unwrapped(octokit.request(route, { ...parameters, ...(signal && { request: { signal } }) }), signal);

  async function list<T extends Type.TSchema>(schema: T, route: string, parameters: Asked) {
    const { data, headers } = await request(route, parameters);
    return { items: shaped(Type.Array(schema), data, label), next: nextPage(headers.link, label) };
  }

  async function listAll<T extends Type.TSchema>(schema: T, route: string, parameters: Asked) {
    const page = (place: { page: string }) =>
      list(schema, route, { ...parameters, per_page: 100, page: place.page });
    return (await pick({ limit: Number.POSITIVE_INFINITY }, 100, () => true, page)).items;
  }

  async function repository(ref: RepositoryRef, signal?: AbortSignal): Promise<HostRepository> {
    const [route, parameters] = isNamed(ref)
      ? (['GET /repos/{owner}/{repo}', named(ref.fullName)] as const)
      : (['GET /repositories/{id}', { id: numberOf(ref.id) }] as const);
    const { data } = await request(route, { ...parameters, signal });
    return repositoryOf(shaped(Repository, data, label));
  }

  const place = async (ref: RepositoryRef, signal?: AbortSignal) =>
    named(isNamed(ref) ? ref.fullName : (await repository(ref, signal)).fullName);

  const repositoryOf = (found: Static<typeof Repository>): HostRepository => ({
    id: String(found.id),
    fullName: found.full_name,
    name: found.name,
    owner: found.owner.login,
    description: textOrNull(found.description),
    isPrivate: found.private,
    isArchived: found.archived ?? false,
    isFork: found.fork ?? false,
    defaultBranch: textOrNull(found.default_branch),
    cloneUrl: `${access.baseUrl}/${found.full_name}.git`,
    webUrl: `${access.baseUrl}/${found.full_name}`,
    pushedAt: dateOrNull(found.pushed_at),
    sizeKb: found.size ?? null,
    canAdmin: found.permissions?.admin ?? null,
  });

  /** All refs come in one answer, which says nothing of protection; the protected ones are few and asked for beside. */
  async function searchBranches(
    at: ReturnType<typeof named>,
    query: ListQuery,
    main: string | null,
    signal?: AbortSignal,
  ) {
    const fits = holds(query.search ?? '');
    const refs = request('GET /repos/{owner}/{repo}/git/matching-refs/heads', { ...at, signal });
    const found = await unlessMissing(refs, () => undefined);
    // Servers of some age do not have that; their list is gone through instead.
    if (found === undefined)
      return pick<HostBranch>(
        query,
        100,
        ({ name }) => fits(name),
        async ({ size, page }) => {
          const one = await list(Branch, 'GET /repos/{owner}/{repo}/branches', {
            ...at,
            per_page: size,
            page,
            signal,
          });
          return { ...one, items: one.items.map((branch) => branchOf(branch, main)) };
        },
      );
    const guarded = await listAll(Branch, 'GET /repos/{owner}/{repo}/branches', {
      ...at,
      protected: true,
      signal,
    });
    const isProtected = new Set(guarded.map(({ name }) => name));
    const all = shaped(Type.Array(Ref), found.data, label).flatMap(({ ref, object }) => {
      const [, name] = /^refs\/heads\/(.+)$/s.exec(ref) ?? [];
      if (name === undefined) return [];
      return { name, sha: object.sha, isDefault: name === main, isProtected: isProtected.has(name) };
    });
    return slice(
      all.filter(({ name }) => fits(name)),
      query,
    );
  }

  return {
    async account(signal) {
      const { data, headers } = await unlessMissing(request('GET /user', { signal }), () => noAccount(label));
      const { login, name, avatar_url } = shaped(User, data, label);
      const who = { login, name: textOrNull(name), avatarUrl: pictureOrNull(avatar_url) };
      return { ...who, ...githubScopes(headers) };
    },

    async repositories(query, signal) {
      const parameters = { sort: 'pushed', direction: 'desc', signal };
      const read = async (size: number, page: string) => {
        const one = await list(Repository, 'GET /user/repos', { ...parameters, per_page: size, page });
        return { ...one, items: one.items.map(repositoryOf) };
      };
      if (query.search) {
        const fits = holds(query.search);
        return pick(
          query,
          100,
          ({ fullName }) => fits(fullName),
          ({ size, page }) => read(size, page),
        );
      }
      const { size, page } = readCursor(query.page, query.limit, 100);
      const { items, next } = await read(size, page);
      return { items, next: next === null ? null : writeCursor({ size, page: next }) };
    },

    repository,

    async branches(ref, query, signal) {
      const about = await repository(ref, signal);
      const at = named(about.fullName);
      if (query.search) return searchBranches(at, query, about.defaultBranch, signal);
      const { size, page } = readCursor(query.page, query.limit, 100);
      const parameters = { ...at, per_page: size, page, signal };
      const { items, next } = await list(Branch, 'GET /repos/{owner}/{repo}/branches', parameters);
      return {
        items: items.map((branch) => branchOf(branch, about.defaultBranch)),
        next: next === null ? null : writeCursor({ size, page: next }),
      };
    },

    async createHook(ref, { url, secret }, signal) {
      const at = await place(ref, signal);
      const old = await listAll(Hook, 'GET /repos/{owner}/{repo}/hooks', { ...at, signal });
      for (const { id } of old.filter(({ config }) => config.url === url))
        await request('DELETE /repos/{owner}/{repo}/hooks/{id}', { ...at, id, signal });
      const config = { url, content_type: 'json', secret: secret.reveal(), insecure_ssl: '0' };
      const wish = { ...at, name: 'web', active: true, events: ['push'], config, signal };
      const { data } = await request('POST /repos/{owner}/{repo}/hooks', wish);
      return { hookId: String(shaped(Hook, data, label).id) };
    },

    async hasHook(ref, hookId, signal) {
      const at = await place(ref, signal);
      const found = request('GET /repos/{owner}/{repo}/hooks/{id}', { ...at, id: numberOf(hookId), signal });
      return (await unlessMissing(found, () => undefined)) !== undefined;
    },

    async deleteHook(ref, hookId, signal) {
      const at = await place(ref, signal);
      const gone = request('DELETE /repos/{owner}/{repo}/hooks/{id}', {
        ...at,
        id: numberOf(hookId),
        signal,
      });
      await unlessMissing(gone, () => undefined);
    },
  };
}

function named(fullName: string): { readonly owner: string; readonly repo: string } {
  const [owner = '', repo = ''] = partsOf(fullName);
  return { owner, repo };
}

function branchOf(branch: Static<typeof Branch>, main: string | null): HostBranch {
  const { name, commit } = branch;
  return { name, sha: commit.sha, isDefault: name === main, isProtected: branch.protected ?? null };
}
