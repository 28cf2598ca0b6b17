/** GitLab. Its projects are our repositories; they can be several groups deep. */
import Type, { type Static } from 'typebox';
import { Fault } from '../../fault.ts';
import {
  dateOrNull,
  Id,
  idPart,
  isNamed,
  MaybeBoolean,
  MaybeText,
  nameParts,
  pictureOrNull,
  scopesIn,
  Text,
  textOrNull,
} from './answer-schemas.ts';
import type { MissingScope, RepositoryRef } from './host.ts';
import type { FoundRepository, HostApi, HostDialect } from './host-api.ts';
import type { Answer, Refusal } from './host-faults.ts';
import { containing } from './host-pages.ts';

const User = Type.Object({ username: Text, name: MaybeText, avatar_url: MaybeText });
const Token = Type.Object({ scopes: Type.Array(Type.String()), expires_at: MaybeText });
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
});
const Branch = Type.Object({
  name: Text,
  commit: Type.Object({ id: Text }),
  default: MaybeBoolean,
  protected: MaybeBoolean,
});

/** Shorter words GitLab looks for as whole names only. */
const shortestSearch = 3;

export const gitlab: HostDialect = {
  pageSize: { parameter: 'per_page', most: 100 },
  authorization: ({ token }) => `Bearer ${token.reveal()}`,
  missing: refusalOf,
  next: ({ headers }) => headers.get('x-next-page') || null,
  hook: ({ url, secret }) => ({
    url,
    push_events: true,
    tag_push_events: true,
    enable_ssl_verification: true,
    token: secret.reveal(),
  }),

  open: (api) => ({
    pathOf: async (ref) => projectPath(ref),
    repository: async (ref, signal) => repositoryOf(await api.get(Project, projectPath(ref), signal)),

    async account(signal) {
      const { user } = await api.user(User, signal);
      const token = await tokenOf(api, signal);
      return {
        login: user.username,
        name: textOrNull(user.name),
        avatarUrl: pictureOrNull(user.avatar_url),
        missing: token ? missingIn(token.scopes) : [],
        tokenExpiresAt: dateOrNull(token?.expires_at),
      };
    },

    async repositories(query, signal) {
      const { search } = query;
      const fits = containing(search);
      const order = { membership: 'true', order_by: 'last_activity_at', sort: 'desc' };
      const list = { path: '/projects', schema: Project, of: repositoryOf, parameters: order, signal };
      if (search && search.length < shortestSearch)
        return api.filter(list, query, ({ fullName }) => fits(fullName));
      const parameters = { ...order, ...(search && { search, search_namespaces: 'true' }) };
      const { items, next } = await api.page({ ...list, parameters }, query);
      // GitLab looks in descriptions too.
      return { items: items.filter(({ fullName }) => fits(fullName)), next };
    },

    branches(ref, query, signal) {
      const of = (branch: Static<typeof Branch>) => ({
        name: branch.name,
        sha: branch.commit.id,
        isDefault: branch.default ?? false,
        isProtected: branch.protected ?? null,
      });
      const path = `${projectPath(ref)}/repository/branches`;
      const parameters = query.search ? { search: query.search } : {};
      return api.page({ path, schema: Branch, parameters, of, signal }, query);
    },
  }),
};

function projectPath(ref: RepositoryRef): string {
  return `/projects/${isNamed(ref) ? nameParts(ref.fullName, 22).join('%2F') : idPart(ref.id)}`;
}

function repositoryOf(found: Static<typeof Project>): FoundRepository {
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
    pushedAt: dateOrNull(found.last_activity_at),
  };
}

async function tokenOf(api: HostApi, signal?: AbortSignal): Promise<Static<typeof Token> | undefined> {
  try {
    return await api.get(Token, '/personal_access_tokens/self', signal);
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

function missingIn(scopes: readonly string[]): MissingScope[] {
  const has = (...any: readonly string[]) => any.some((scope) => scopes.includes(scope));
  const missing: MissingScope[] = [];
  if (!has('api', 'read_api'))
    missing.push({ scope: 'read_api', needed: 'It is needed to find repositories and their branches.' });
  if (!has('api', 'read_repository', 'write_repository'))
    missing.push({ scope: 'read_repository', needed: 'It is needed to fetch the source of repositories.' });
  return missing;
}

/** `insufficient_scope` comes with the scopes that would do, in the body and in a header. */
function refusalOf({ headers, text, body }: Answer): Refusal | undefined {
  const challenge = headers.get('www-authenticate') ?? '';
  if (!/insufficient_scope/.test(`${challenge} ${text}`)) return undefined;
  const told = typeof body === 'object' && body !== null && 'scope' in body ? body.scope : undefined;
  const named = typeof told === 'string' ? told : (/\bscope="([^"]*)"/.exec(challenge)?.[1] ?? '');
  return { scopes: scopesIn(named) };
}
