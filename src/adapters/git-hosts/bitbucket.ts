/**
 * Bitbucket Cloud. Its lists over all workspaces were taken away: repositories are listed workspace by workspace,
 * newest first within each.
 */
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../fault.ts';
import { once } from '../../once.ts';
import {
  dateOrNull,
  idPart,
  isNamed,
  MaybeText,
  nameParts,
  pictureOrNull,
  scopesIn,
  Text,
  textOrNull,
} from './answer-schemas.ts';
import type { GitHostAccess, HostAccount, MissingScope, RepositoryRef } from './host.ts';
import type { FoundRepository, HostDialect } from './host-api.ts';
import { misunderstood } from './host-faults.ts';
import { containing, pageIn, readCursor, writeCursor } from './host-pages.ts';

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
  description: MaybeText,
  is_private: Type.Boolean(),
  parent: Type.Optional(Type.Unknown()),
  mainbranch: Type.Optional(Type.Union([Type.Object({ name: MaybeText }), Type.Null()])),
  updated_on: MaybeText,
});
const Branch = Type.Object({ name: Text, target: Type.Object({ hash: Text }) });
const Workspace = Type.Object({ slug: Text });
const Membership = Type.Union([Type.Object({ workspace: Workspace }), Workspace]);
const Page = Type.Object({ values: Type.Array(Type.Unknown()), next: MaybeText });
const Lacking = Type.Object({
  error: Type.Object({ detail: Type.Object({ required: Type.Array(Type.String()) }) }),
});

const most = 100;

export const bitbucket: HostDialect = {
  pageSize: { parameter: 'pagelen', most },
  authorization: ({ token, username }) =>
    username === undefined
      ? `Bearer ${token.reveal()}`
      : `Basic ${Buffer.from(`${username}:${token.reveal()}`).toString('base64')}`,
  missing: ({ body, headers }) => {
    if (Value.Check(Lacking, body)) return { scopes: body.error.detail.required };
    const accepted = scopesIn(headers.get('x-accepted-oauth-scopes') ?? '');
    const held = scopesIn(headers.get('x-oauth-scopes') ?? '');
    return accepted.some((scope) => held.includes(scope)) ? undefined : { scopes: accepted };
  },
  items: (body) => (Value.Check(Page, body) ? body.values : undefined),
  // A whole address, which has to be that of this very list.
  next({ body }, url, label) {
    if (!Value.Check(Page, body) || !body.next) return null;
    const [link, own] = [URL.parse(body.next), new URL(url)];
    if (link?.origin === own.origin && decodeURI(link.pathname) === decodeURI(own.pathname))
      return pageIn(body.next, label);
    const where = `${link?.origin ?? 'an unknown place'}${link?.pathname ?? ''}`;
    throw misunderstood(label, `the next page is at ${where}`);
  },
  hook: ({ url, secret }) => ({
    description: 'Slipway',
    url,
    active: true,
    secret: secret.reveal(),
    events: ['repo:push'],
  }),

  open(api) {
    const slugOf = (each: Static<typeof Membership>) =>
      'workspace' in each ? each.workspace.slug : each.slug;
    const workspaces = once(() => api.all({ path: '/user/workspaces', schema: Membership, of: slugOf }));
    const repository = async (ref: RepositoryRef, signal?: AbortSignal) =>
      repositoryOf(await api.get(Repository, pathOf(ref), signal));

    return {
      repository,
      pathOf: async (ref) => pathOf(ref),

      async account(signal) {
        try {
          const { user, headers } = await api.user(User, signal);
          return {
            login: user.username || user.nickname || user.uuid,
            name: textOrNull(user.display_name),
            avatarUrl: pictureOrNull(user.links?.avatar?.href),
            missing: missingIn(headers.get('x-oauth-scopes'), api.access),
            tokenExpiresAt: null,
          };
        } catch (error) {
          // A token of a repository or a workspace is nobody's: it may not ask who it is, and is good all the same.
          const isNobodys = error instanceof Fault && error.code === 'provider_scopes_missing';
          if (isNobodys && api.access.username === undefined) return accessTokenAccount;
          throw error;
        }
      },

      async repositories(query, signal) {
        const all = await workspaces();
        const place = readCursor(query.page, query.limit, most);
        const fits = containing(query.search);
        const word = query.search?.slice(query.search.lastIndexOf('/') + 1);
        const filter = word ? { q: `name ~ ${quoted(word)} OR slug ~ ${quoted(word)}` } : {};
        const parameters = { role: 'member', sort: '-updated_on', ...filter };
        let { page } = place;
        for (let index = Math.max(0, all.indexOf(place.part)); index < all.length; index++) {
          const part = all[index] ?? '';
          const path = `/repositories/${encodeURIComponent(part)}`;
          const list = { path, schema: Repository, parameters, of: repositoryOf, signal };
          const found = await api.piece(list, { size: place.size, page });
          const items = found.items.filter(({ fullName }) => fits(fullName));
          if (found.next !== null) return { items, next: writeCursor({ ...place, page: found.next, part }) };
          const after = all[index + 1];
          page = '1';
          if (after === undefined) return { items, next: null };
          if (items.length > 0) return { items, next: writeCursor({ ...place, page, part: after }) };
        }
        return { items: [], next: null };
      },

      async branches(ref, query, signal) {
        const parameters = query.search ? { q: `name ~ ${quoted(query.search)}` } : {};
        const of = ({ name, target }: Static<typeof Branch>) => ({
          name,
          sha: target.hash,
          isProtected: null,
        });
        const list = { path: `${pathOf(ref)}/refs/branches`, schema: Branch, parameters, of, signal };
        const [about, { items, next }] = await Promise.all([repository(ref, signal), api.page(list, query)]);
        const isDefault = (name: string) => name === about.defaultBranch;
        return { items: items.map((branch) => ({ ...branch, isDefault: isDefault(branch.name) })), next };
      },
    };
  },
};

/** An id names a repository in whatever workspace it is: Bitbucket takes empty braces for that. */
function pathOf(ref: RepositoryRef): string {
  const parts = isNamed(ref) ? nameParts(ref.fullName) : [encodeURIComponent('{}'), idPart(ref.id)];
  return `/repositories/${parts.join('/')}`;
}

function repositoryOf(found: Static<typeof Repository>): FoundRepository {
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
    pushedAt: dateOrNull(found.updated_on),
  };
}

const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

/** Tokens of the newer kind name the same scopes in another way. */
function missingIn(told: string | null, { username }: GitHostAccess): MissingScope[] {
  const reading = ['repository', 'repository:write', 'repository:admin', 'read:repository:bitbucket'];
  if (told === null || scopesIn(told).some((scope) => reading.includes(scope))) return [];
  const scope = username?.includes('@') ? 'read:repository:bitbucket' : 'repository';
  return [{ scope, needed: 'It is needed to find repositories and to fetch their source.' }];
}

/** Whom a token that belongs to no account stands for. */
const accessTokenAccount: HostAccount = {
  login: 'x-token-auth',
  name: 'Access token',
  avatarUrl: null,
  missing: [],
  tokenExpiresAt: null,
};
