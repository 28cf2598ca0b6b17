/** Gitea and Forgejo, by the client that is made from Gitea's own description. It does not encode what goes into paths. */
import { giteaApi } from 'gitea-js';
import Type, { type Static } from 'typebox';
import { Fault } from '../../fault.ts';
import { once } from '../../once.ts';
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
import type { HostCore, HostRepository, MissingScope, RepositoryRef } from './git-hosts.ts';
import { type Dialect, type HostCalls, noAccount, unlessMissing } from './host-calls.ts';
import { holds, nextPage, readCursor, slice, writeCursor } from './host-pages.ts';

const User = Type.Object({ id: Type.Integer(), login: Text, full_name: MaybeText, avatar_url: MaybeText });
const Repository = Type.Object({
  id: Id,
  full_name: Text,
  name: Text,
  owner: Type.Object({ login: Text }),
  description: MaybeText,
  private: MaybeBoolean,
  internal: MaybeBoolean,
  archived: MaybeBoolean,
  fork: MaybeBoolean,
  empty: MaybeBoolean,
  default_branch: MaybeText,
  updated_at: MaybeText,
  size: MaybeNumber,
  permissions: Type.Optional(Type.Union([Type.Object({ admin: MaybeBoolean }), Type.Null()])),
});
const Found = Type.Object({ data: Type.Union([Type.Array(Repository), Type.Null()]) });
const Branch = Type.Object({ name: Text, commit: Type.Object({ id: Text }), protected: MaybeBoolean });
const Ref = Type.Object({ ref: Text, object: Type.Object({ sha: Text }) });
const Hook = Type.Object({
  id: Id,
  config: Type.Optional(Type.Union([Type.Object({ url: MaybeText }), Type.Null()])),
});

/** What a server gives on a page unless it was set otherwise; asking for more gets no more. */
const mostOnPage = 50;

export const giteaDialect: Dialect = {
  authorization: ({ token }) => `token ${token.reveal()}`,
  isLimited: () => false,
  // «token does not have at least one of required scope(s): [read:user]», with `required=` before it in newer ones.
  missing: ({ text }) => {
    const named = /required scope\(s\)[^[]*\[([^\]]*)\]/.exec(text)?.[1];
    return named === undefined
      ? undefined
      : { scopes: named.split(/[\s,]+/).filter((scope) => scope !== '') };
  },
};

export function openGitea(calls: HostCalls): HostCore {
  const { label, access } = calls;
  const customFetch: typeof fetch = (input, { method, body, signal } = {}) =>
    calls.call(input instanceof Request ? input.url : String(input), {
      ...(method !== undefined && { method }),
      ...(typeof body === 'string' && { body, headers: { 'content-type': 'application/json' } }),
      ...(signal && { signal }),
    });
  const api = giteaApi(access.baseUrl, { customFetch });
  const stop = (signal?: AbortSignal) => (signal ? { signal } : {});

  const user = async (signal?: AbortSignal) =>
    shaped(
      User,
      (await unlessMissing(api.user.userGetCurrent(stop(signal)), () => noAccount(label))).data,
      label,
    );
  const ownId = once(async () => (await user()).id);

  async function repositories(size: number, page: string, search: string, signal?: AbortSignal) {
    // Only names are looked in; who owns it is held against the whole afterwards.
    const q = search.slice(search.lastIndexOf('/') + 1);
    const query = { uid: await ownId(), sort: 'updated', order: 'desc', limit: size, page: Number(page) };
    const found = await api.repos.repoSearch({ ...query, ...(q !== '' && { q }) }, stop(signal));
    const { data } = shaped(Found, found.data, label);
    return { items: (data ?? []).map(repositoryOf), next: nextPage(found.headers.get('link'), label) };
  }

  async function repository(ref: RepositoryRef, signal?: AbortSignal): Promise<HostRepository> {
    const found = isNamed(ref)
      ? await api.repos.repoGet(...encoded(ref.fullName), stop(signal))
      : await api.repositories.repoGetById(numberOf(ref.id), stop(signal));
    return repositoryOf(shaped(Repository, found.data, label));
  }

  const place = async (ref: RepositoryRef, signal?: AbortSignal) =>
    encoded(isNamed(ref) ? ref.fullName : (await repository(ref, signal)).fullName);

  const repositoryOf = (found: Static<typeof Repository>): HostRepository => ({
    id: String(found.id),
    fullName: found.full_name,
    name: found.name,
    owner: found.owner.login,
    description: textOrNull(found.description),
    isPrivate: (found.private ?? false) || (found.internal ?? false),
    isArchived: found.archived ?? false,
    isFork: found.fork ?? false,
    defaultBranch: found.empty ? null : textOrNull(found.default_branch),
    cloneUrl: `${access.baseUrl}/${found.full_name}.git`,
    webUrl: `${access.baseUrl}/${found.full_name}`,
    pushedAt: dateOrNull(found.updated_at),
    sizeKb: found.size ?? null,
    canAdmin: found.permissions?.admin ?? null,
  });

  /** The scopes of a token are not told; whether it may read is tried, whether it may make hooks shows when it does. */
  async function missing(signal?: AbortSignal): Promise<MissingScope[]> {
    try {
      await repositories(1, '1', '', signal);
      return [];
    } catch (error) {
      if (!(error instanceof Fault && error.code === 'provider_scopes_missing')) throw error;
      return [
        { scope: 'read:repository', needed: 'It is needed to find repositories and to fetch their source.' },
      ];
    }
  }

  return {
    async account(signal) {
      const { login, full_name, avatar_url } = await user(signal);
      return {
        login,
        name: textOrNull(full_name),
        avatarUrl: pictureOrNull(avatar_url),
        scopes: null,
        missing: await missing(signal),
        missingForHooks: [],
        tokenExpiresAt: null,
      };
    },

    async repositories(query, signal) {
      const { size, page } = readCursor(query.page, query.limit, mostOnPage);
      const fits = holds(query.search ?? '');
      const { items, next } = await repositories(size, page, query.search ?? '', signal);
      return {
        items: items.filter(({ fullName }) => fits(fullName)),
        next: next === null ? null : writeCursor({ size, page: next }),
      };
    },

    repository,

    async branches(ref, query, signal) {
      const about = await repository(ref, signal);
      const at = encoded(about.fullName);
      const isDefault = (name: string) => name === about.defaultBranch;
      if (query.search) {
        // All refs come in one answer, which says nothing of protection.
        const refs = api.repos.repoListGitRefs(...at, 'heads', stop(signal));
        const { data } = await unlessMissing(refs, () => ({ data: [] }));
        const fits = holds(query.search);
        const all = shaped(Type.Array(Ref), data, label).flatMap(({ ref: whole, object }) => {
          const [, name] = /^refs\/heads\/(.+)$/s.exec(whole) ?? [];
          return name === undefined
            ? []
            : { name, sha: object.sha, isDefault: isDefault(name), isProtected: null };
        });
        return slice(
          all.filter(({ name }) => fits(name)),
          query,
        );
      }
      const { size, page } = readCursor(query.page, query.limit, mostOnPage);
      const found = await api.repos.repoListBranches(
        ...at,
        { page: Number(page), limit: size },
        stop(signal),
      );
      const next = nextPage(found.headers.get('link'), label);
      return {
        items: shaped(Type.Array(Branch), found.data, label).map((branch) => ({
          name: branch.name,
          sha: branch.commit.id,
          isDefault: isDefault(branch.name),
          isProtected: branch.protected ?? null,
        })),
        next: next === null ? null : writeCursor({ size, page: next }),
      };
    },

    async createHook(ref, { url, secret }, signal) {
      const at = await place(ref, signal);
      const old = await api.repos.repoListHooks(...at, { limit: mostOnPage }, stop(signal));
      for (const { id, config } of shaped(Type.Array(Hook), old.data, label))
        if (config?.url === url) await api.repos.repoDeleteHook(...at, Number(id), stop(signal));
      const config = { url, content_type: 'json', secret: secret.reveal() };
      const wish = { type: 'gitea', active: true, events: ['push', 'delete'], config } as const;
      const made = await api.repos.repoCreateHook(...at, { ...wish, events: [...wish.events] }, stop(signal));
      return { hookId: String(shaped(Hook, made.data, label).id) };
    },

    async hasHook(ref, hookId, signal) {
      const found = api.repos.repoGetHook(...(await place(ref, signal)), numberOf(hookId), stop(signal));
      return (await unlessMissing(found, () => undefined)) !== undefined;
    },

    async deleteHook(ref, hookId, signal) {
      const gone = api.repos.repoDeleteHook(...(await place(ref, signal)), numberOf(hookId), stop(signal));
      await unlessMissing(gone, () => undefined);
    },
  };
}

function encoded(fullName: string): [owner: string, name: string] {
  const [owner = '', name = ''] = partsOf(fullName).map(encodeURIComponent);
  return [owner, name];
}
