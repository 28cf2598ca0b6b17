/** GitLab, by its best-kept client. The client builds requests and reads pages; the sending is ours. */
import { Branches, PersonalAccessTokens, ProjectHooks, Projects, Users } from '@gitbeaker/core';
import { createRequesterFn } from '@gitbeaker/requester-utils';
import Type, { type Static } from 'typebox';
import { Fault } from '../../fault.ts';
import {
  dateOrNull,
  Id,
  isNamed,
  MaybeBoolean,
  MaybeText,
  numberOf,
  partsOf,
  pictureOrNull,
  shaped,
  Text,
  textOrNull,
} from './foreign.ts';
import type { HostCore, HostRepository, ListQuery, RepositoryRef } from './git-hosts.ts';
import { gitlabScopes } from './gitlab-scopes.ts';
import { type HostCalls, noAccount, unlessMissing } from './host-calls.ts';
import { misunderstood } from './host-faults.ts';
import { holds, pick, readCursor, writeCursor } from './host-pages.ts';

export { gitlabDialect } from './gitlab-scopes.ts';

const User = Type.Object({ username: Text, name: MaybeText, avatar_url: MaybeText });
const Token = Type.Object({ scopes: Type.Array(Type.String()), expires_at: MaybeText });
const Access = Type.Optional(Type.Union([Type.Object({ access_level: Type.Integer() }), Type.Null()]));
const Project = Type.Object({
  id: Id,
  path_with_namespace: Text,
  path: Text,
  description: MaybeText,
  visibility: MaybeText,
  archived: MaybeBoolean,
  forked_from_project: Type.Optional(Type.Unknown()),
  default_branch: MaybeText,
  last_activity_at: MaybeText,
  permissions: Type.Optional(Type.Object({ project_access: Access, group_access: Access })),
});
const Branch = Type.Object({
  name: Text,
  commit: Type.Object({ id: Text }),
  default: MaybeBoolean,
  protected: MaybeBoolean,
});
const Hook = Type.Object({ id: Id, url: MaybeText });
const Paged = Type.Object({
  data: Type.Array(Type.Unknown()),
  paginationInfo: Type.Object({ next: Type.Union([Type.Integer(), Type.Null()]) }),
});

/** From this role on, GitLab lets one make hooks. */
const maintainer = 40;
/** Shorter words GitLab looks for as whole names only. */
const shortestSearch = 3;

export function openGitlab(calls: HostCalls): HostCore {
  const { label, access } = calls;

  const client = (signal?: AbortSignal) => ({
    host: access.baseUrl,
    queryTimeout: null,
    rateLimits: {},
    requesterFn: createRequesterFn(
      async (_service, options) => options,
      async (endpoint, options = {}) => {
        const { method, prefixUrl, searchParams, body } = options;
        const url = `${String(prefixUrl).replace(/\/$/, '')}/${endpoint}${searchParams ? `?${searchParams}` : ''}`;
        const response = await calls.call(url, {
          method: String(method),
          ...(typeof body === 'string' && { body, headers: { 'content-type': 'application/json' } }),
          ...(signal && { signal }),
        });
        const text = await response.text();
        const headers = Object.fromEntries(response.headers);
        return { status: response.status, headers, body: bodyOf(text === '' ? {} : JSON.parse(text), label) };
      },
    ),
  });

  const idOf = (ref: RepositoryRef) =>
    isNamed(ref) ? partsOf(ref.fullName, 2, 22).join('/') : numberOf(ref.id);

  const repositoryOf = (found: Static<typeof Project>): HostRepository => {
    const { project_access, group_access } = found.permissions ?? {};
    const fullName = found.path_with_namespace;
    return {
      id: String(found.id),
      fullName,
      name: found.path,
      owner: fullName.slice(0, Math.max(0, fullName.lastIndexOf('/'))),
      description: textOrNull(found.description),
      isPrivate: found.visibility !== 'public',
      isArchived: found.archived ?? false,
      isFork: found.forked_from_project != null,
      defaultBranch: textOrNull(found.default_branch),
      cloneUrl: `${access.baseUrl}/${fullName}.git`,
      webUrl: `${access.baseUrl}/${fullName}`,
      pushedAt: dateOrNull(found.last_activity_at),
      sizeKb: null,
      canAdmin: found.permissions
        ? Math.max(project_access?.access_level ?? 0, group_access?.access_level ?? 0) >= maintainer
        : null,
    };
  };

  function pageOf<T extends Type.TSchema>(schema: T, answer: unknown) {
    const { data, paginationInfo } = shaped(Paged, answer, label);
    const next = paginationInfo.next;
    return { items: shaped(Type.Array(schema), data, label), next: next === null ? null : String(next) };
  }

  async function projects(size: number, page: string, search: string | undefined, signal?: AbortSignal) {
    const found = await new Projects(client(signal)).all({
      membership: true,
      orderBy: 'last_activity_at',
      sort: 'desc',
      ...(search !== undefined && { search, searchNamespaces: true }),
      pagination: 'offset',
      perPage: size,
      page: Number(page),
      showExpanded: true,
    });
    const { items, next } = pageOf(Project, found);
    return { items: items.map(repositoryOf), next };
  }

  async function token(signal?: AbortSignal): Promise<Static<typeof Token> | undefined> {
    try {
      return shaped(Token, await new PersonalAccessTokens(client(signal)).show(), label);
    } catch (error) {
      // Tokens of other kinds, and older servers, do not tell; that the token is good was seen before.
      const silent = [
        'provider_rejected',
        'provider_scopes_missing',
        'repository_not_found',
        'provider_failed',
      ];
      if (error instanceof Fault && silent.includes(error.code)) return undefined;
      throw error;
    }
  }

  const hooks = (signal?: AbortSignal) => new ProjectHooks(client(signal));

  return {
    async account(signal) {
      const who = new Users(client(signal)).showCurrentUser();
      const { username, name, avatar_url } = shaped(
        User,
        await unlessMissing(who, () => noAccount(label)),
        label,
      );
      const found = await token(signal);
      return {
        login: username,
        name: textOrNull(name),
        avatarUrl: pictureOrNull(avatar_url),
        ...gitlabScopes(found?.scopes ?? null),
        tokenExpiresAt: dateOrNull(found?.expires_at),
      };
    },

    async repositories(query: ListQuery, signal) {
      const fits = holds(query.search ?? '');
      if (query.search && query.search.length < shortestSearch)
        return pick(
          query,
          100,
          ({ fullName }) => fits(fullName),
          ({ size, page }) => projects(size, page, undefined, signal),
        );
      const { size, page } = readCursor(query.page, query.limit, 100);
      const { items, next } = await projects(size, page, query.search || undefined, signal);
      return {
        // GitLab looks in descriptions too.
        items: items.filter(({ fullName }) => fits(fullName)),
        next: next === null ? null : writeCursor({ size, page: next }),
      };
    },

    async repository(ref, signal) {
      return repositoryOf(shaped(Project, await new Projects(client(signal)).show(idOf(ref)), label));
    },

    async branches(ref, query, signal) {
      const { size, page } = readCursor(query.page, query.limit, 100);
      const found = await new Branches(client(signal)).all(idOf(ref), {
        ...(query.search && { search: query.search }),
        pagination: 'offset',
        perPage: size,
        page: Number(page),
        showExpanded: true,
      });
      const { items, next } = pageOf(Branch, found);
      return {
        items: items.map((branch) => ({
          name: branch.name,
          sha: branch.commit.id,
          isDefault: branch.default ?? false,
          isProtected: branch.protected ?? null,
        })),
        next: next === null ? null : writeCursor({ size, page: next }),
      };
    },

    async createHook(ref, { url, secret }, signal) {
      const id = idOf(ref);
      const old: unknown = await hooks(signal).all(id, { perPage: 100 });
      for (const hook of shaped(Type.Array(Hook), old, label))
        if (hook.url === url) await hooks(signal).remove(id, Number(hook.id));
      const made: unknown = await hooks(signal).add(id, url, {
        pushEvents: true,
        tagPushEvents: true,
        enableSslVerification: true,
        token: secret.reveal(),
      });
      return { hookId: String(shaped(Hook, made, label).id) };
    },

    async hasHook(ref, hookId, signal) {
      const found = hooks(signal).show(idOf(ref), numberOf(hookId));
      return (await unlessMissing(found, () => undefined)) !== undefined;
    },

    async deleteHook(ref, hookId, signal) {
      await unlessMissing(hooks(signal).remove(idOf(ref), numberOf(hookId)), () => undefined);
    },
  };
}

const Item = Type.Record(Type.String(), Type.Unknown());

function bodyOf(value: unknown, label: string): Record<string, unknown> | Record<string, unknown>[] {
  if (Array.isArray(value)) return shaped(Type.Array(Item), value, label);
  if (typeof value === 'object' && value !== null) return shaped(Item, value, label);
  throw misunderstood(label, 'the answer is neither an object nor a list');
}
