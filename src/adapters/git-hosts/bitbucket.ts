/**
 * Bitbucket Cloud. It has no client that is kept well, so this is one, as small as what is asked of it. Its lists over
 * all workspaces were taken away: repositories are listed workspace by workspace, newest first within each.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { Fault } from '../../fault.ts';
import { once } from '../../once.ts';
import { accessTokenAccount, bitbucketScopes } from './bitbucket-scopes.ts';
import {
  dateOrNull,
  isNamed,
  MaybeBoolean,
  MaybeNumber,
  MaybeText,
  partsOf,
  pictureOrNull,
  shaped,
  Text,
  textOrNull,
} from './foreign.ts';
import type { HostCore, HostPage, HostRepository, RepositoryRef } from './git-hosts.ts';
import { type HostCalls, noAccount, unlessMissing } from './host-calls.ts';
import { misunderstood } from './host-faults.ts';
import { holds, pageIn, readCursor, writeCursor } from './host-pages.ts';

export { bitbucketDialect } from './bitbucket-scopes.ts';

const User = Type.Object({
  username: MaybeText,
  nickname: MaybeText,
  display_name: MaybeText,
  uuid: Text,
  links: Type.Optional(Type.Object({ avatar: Type.Optional(Type.Object({ href: MaybeText })) })),
});
const Repository = Type.Object({
  uuid: Text,
  full_name: Text,
  slug: MaybeText,
  description: MaybeText,
  is_private: Type.Boolean(),
  parent: Type.Optional(Type.Unknown()),
  mainbranch: Type.Optional(Type.Union([Type.Object({ name: MaybeText }), Type.Null()])),
  updated_on: MaybeText,
  size: MaybeNumber,
});
const Branch = Type.Object({ name: Text, target: Type.Object({ hash: Text }) });
const Hook = Type.Object({ uuid: Text, url: MaybeText, active: MaybeBoolean });
const Workspace = Type.Object({ slug: Text });
const Membership = Type.Union([Type.Object({ workspace: Workspace }), Workspace]);

const mostOnPage = 100;

export function openBitbucket(calls: HostCalls): HostCore {
  const { label, access } = calls;

  async function ask(path: string, signal?: AbortSignal, init: { method?: string; body?: string } = {}) {
    const sent = init.body === undefined ? {} : { headers: { 'content-type': 'application/json' } };
    const response = await calls.call(`${calls.apiUrl}${path}`, {
      ...init,
      ...sent,
      ...(signal && { signal }),
    });
    const text = await response.text();
    const json: unknown = text === '' ? undefined : JSON.parse(text);
    return { json, headers: response.headers };
  }

  async function list<T extends TSchema>(
    schema: T,
    path: string,
    query: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<{ items: Static<T>[]; next: string | null }> {
    const Page = Type.Object({ values: Type.Array(Type.Unknown()), next: MaybeText });
    const { json } = await ask(`${path}?${new URLSearchParams(query)}`, signal);
    const page = shaped(Page, json, label);
    const next = page.next ? nextOf(page.next, path) : null;
    return { items: page.values.map((each) => shaped(schema, each, label)), next };
  }

  /** The link to the next page is a whole address; it has to be that of this very list. */
  function nextOf(url: string, path: string): string {
    const [link, own] = [URL.parse(url), new URL(`${calls.apiUrl}${path}`)];
    if (link?.origin === own.origin && decodeURI(link.pathname) === decodeURI(own.pathname))
      return pageIn(url, label);
    throw misunderstood(
      label,
      `the next page is at ${link?.origin ?? 'an unknown place'}${link?.pathname ?? ''}`,
    );
  }

  async function listAll<T extends TSchema>(
    schema: T,
    path: string,
    signal?: AbortSignal,
  ): Promise<Static<T>[]> {
    const all: Static<T>[] = [];
    for (let page: string | null = '1', count = 0; page !== null && count < 20; count++) {
      const found: { items: Static<T>[]; next: string | null } = await list(
        schema,
        path,
        { pagelen: String(mostOnPage), page },
        signal,
      );
      all.push(...found.items);
      page = found.next;
    }
    return all;
  }

  const workspaces = once(async () => {
    const found = await listAll(Membership, '/user/workspaces');
    return found.map((each) => ('workspace' in each ? each.workspace.slug : each.slug));
  });

  const repositoryOf = (found: Static<typeof Repository>): HostRepository => {
    const [owner = '', name = ''] = found.full_name.split('/');
    return {
      id: found.uuid,
      fullName: found.full_name,
      name,
      owner,
      description: textOrNull(found.description),
      isPrivate: found.is_private,
      isArchived: false,
      isFork: found.parent != null,
      defaultBranch: textOrNull(found.mainbranch?.name),
      cloneUrl: `${access.baseUrl}/${found.full_name}.git`,
      webUrl: `${access.baseUrl}/${found.full_name}`,
      pushedAt: dateOrNull(found.updated_on),
      sizeKb: found.size == null ? null : Math.ceil(found.size / 1024),
      canAdmin: null,
    };
  };

  async function repository(ref: RepositoryRef, signal?: AbortSignal): Promise<HostRepository> {
    const { json } = await ask(pathOf(ref), signal);
    return repositoryOf(shaped(Repository, json, label));
  }

  return {
    async account(signal) {
      try {
        const { json, headers } = await unlessMissing(ask('/user', signal), () => noAccount(label));
        const { username, nickname, display_name, uuid, links } = shaped(User, json, label);
        return {
          login: username || nickname || uuid,
          name: textOrNull(display_name),
          avatarUrl: pictureOrNull(links?.avatar?.href),
          ...bitbucketScopes(headers.get('x-oauth-scopes'), access),
        };
      } catch (error) {
        // A token of a repository or a workspace is nobody's: it may not ask who it is, and is good all the same.
        const isNobodys = error instanceof Fault && error.code === 'provider_scopes_missing';
        if (isNobodys && access.username === undefined) return accessTokenAccount;
        throw error;
      }
    },

    async repositories(query, signal): Promise<HostPage<HostRepository>> {
      const all = await workspaces();
      let { size, page, part } = readCursor(query.page, query.limit, mostOnPage);
      const fits = holds(query.search ?? '');
      const word = query.search?.slice(query.search.lastIndexOf('/') + 1);
      for (let index = Math.max(0, all.indexOf(part)); index < all.length; index++) {
        part = all[index] ?? '';
        const wish = { role: 'member', sort: '-updated_on', pagelen: String(size), page };
        const path = `/repositories/${encodeURIComponent(part)}`;
        const filter = word ? { q: `name ~ ${quoted(word)} OR slug ~ ${quoted(word)}` } : {};
        const found = await list(Repository, path, { ...wish, ...filter }, signal);
        const items = found.items.map(repositoryOf).filter(({ fullName }) => fits(fullName));
        const after = all[index + 1];
        const next =
          found.next !== null
            ? writeCursor({ size, page: found.next, part })
            : after === undefined
              ? null
              : writeCursor({ size, page: '1', part: after });
        if (items.length > 0 || next === null) return { items, next };
        if (found.next !== null) return { items, next };
        page = '1';
      }
      return { items: [], next: null };
    },

    repository,

    async branches(ref, query, signal) {
      const { size, page } = readCursor(query.page, query.limit, mostOnPage);
      const filter = query.search ? { q: `name ~ ${quoted(query.search)}` } : {};
      const path = `${pathOf(ref)}/refs/branches`;
      const [about, found] = await Promise.all([
        repository(ref, signal),
        list(Branch, path, { pagelen: String(size), page, ...filter }, signal),
      ]);
      return {
        items: found.items.map(({ name, target }) => ({
          name,
          sha: target.hash,
          isDefault: name === about.defaultBranch,
          isProtected: null,
        })),
        next: found.next === null ? null : writeCursor({ size, page: found.next }),
      };
    },

    async createHook(ref, { url, secret }, signal) {
      const path = `${pathOf(ref)}/hooks`;
      for (const hook of await listAll(Hook, path, signal))
        if (hook.url === url)
          await ask(`${path}/${encodeURIComponent(hook.uuid)}`, signal, { method: 'DELETE' });
      const wish = {
        description: 'Slipway',
        url,
        active: true,
        secret: secret.reveal(),
        events: ['repo:push'],
      };
      const { json } = await ask(path, signal, { method: 'POST', body: JSON.stringify(wish) });
      return { hookId: shaped(Hook, json, label).uuid };
    },

    async hasHook(ref, hookId, signal) {
      const found = ask(`${pathOf(ref)}/hooks/${encodeURIComponent(hookId)}`, signal);
      return (await unlessMissing(found, () => undefined)) !== undefined;
    },

    async deleteHook(ref, hookId, signal) {
      const path = `${pathOf(ref)}/hooks/${encodeURIComponent(hookId)}`;
      await unlessMissing(ask(path, signal, { method: 'DELETE' }), () => undefined);
    },
  };
}

/** An id names a repository in whatever workspace it is: Bitbucket takes empty braces for that. */
function pathOf(ref: RepositoryRef): string {
  const parts = isNamed(ref) ? partsOf(ref.fullName) : partsOf(`{}/${ref.id}`);
  return `/repositories/${parts.map(encodeURIComponent).join('/')}`;
}

const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
