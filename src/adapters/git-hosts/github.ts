/**
 * GitHub and GitHub Enterprise. Its search is not used for repositories: it finds whole words only, lags behind, allows
 * 30 requests a minute and wants the organisations named. The list of what the account reaches has them all, private
 * ones of organisations included. Gitea follows this API, and its file takes from here what is the same.
 */
import Type, { type Static } from 'typebox';
import {
  checkedAnswer,
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
import type { HostBranch, ListQuery, MissingScope, RepositoryRef } from './host.ts';
import { type FoundRepository, type HostApi, type HostDialect, unlessMissing } from './host-api.ts';
import type { Answer, Refusal } from './host-faults.ts';
import { containing, pageOfAll } from './host-pages.ts';

const User = Type.Object({ login: Text, name: MaybeText, avatar_url: MaybeText });
export const Repository = Type.Object({
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
});
const Branch = Type.Object({ name: Text, commit: Type.Object({ sha: Text }), protected: MaybeBoolean });
const Refs = Type.Array(Type.Object({ ref: Text, object: Type.Object({ sha: Text }) }));

export const github: HostDialect = {
  accept: 'application/vnd.github+json',
  pageSize: { parameter: 'per_page', most: 100 },
  authorization: ({ token }) => `Bearer ${token.reveal()}`,
  isLimited: ({ status, headers, text }) =>
    status === 403 &&
    (headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0' || /rate limit/i.test(text)),
  missing: refusalOf,
  hook: ({ url, secret }) => ({
    name: 'web',
    active: true,
    events: ['push'],
    config: { url, content_type: 'json', secret: secret.reveal(), insecure_ssl: '0' },
  }),

  open(api) {
    const repository = async (ref: RepositoryRef, signal?: AbortSignal) =>
      repositoryOf(await api.get(Repository, repositoryPath(ref), signal));

    return {
      repository,
      pathOf: (ref, signal) => namedPath(ref, repository, signal),

      async account(signal) {
        const { user, headers } = await api.user(User, signal);
        return {
          login: user.login,
          name: textOrNull(user.name),
          avatarUrl: pictureOrNull(user.avatar_url),
          missing: missingIn(headers),
          // `2026-01-31 12:00:00 UTC`, or with an offset such as +0200.
          tokenExpiresAt: dateOrNull(headers.get('github-authentication-token-expiration')),
        };
      },

      repositories(query, signal) {
        const parameters = { sort: 'pushed', direction: 'desc' };
        const list = { path: '/user/repos', schema: Repository, parameters, of: repositoryOf, signal };
        const fits = containing(query.search);
        return query.search
          ? api.filter(list, query, ({ fullName }) => fits(fullName))
          : api.page(list, query);
      },

      async branches(ref, query, signal) {
        const { fullName, defaultBranch } = await repository(ref, signal);
        const at = repositoryPath({ fullName });
        const of = ({ name, commit, protected: isProtected }: Static<typeof Branch>): HostBranch => ({
          name,
          sha: commit.sha,
          isDefault: name === defaultBranch,
          isProtected: isProtected ?? null,
        });
        const list = { path: `${at}/branches`, schema: Branch, of, signal };
        if (!query.search) return api.page(list, query);
        const found = await matchingBranches(
          api,
          `${at}/git/matching-refs/heads`,
          query,
          defaultBranch,
          signal,
        );
        // Servers of some age do not have that; their list is gone through instead.
        const fits = containing(query.search);
        if (found === undefined) return api.filter(list, query, ({ name }) => fits(name));
        // The refs say nothing of protection; the protected branches are few and asked for beside.
        const guarded = await api.all({ ...list, parameters: { protected: 'true' } });
        const names = new Set(guarded.map(({ name }) => name));
        const items = found.items.map((branch) => ({ ...branch, isProtected: names.has(branch.name) }));
        return { items, next: found.next };
      },
    };
  },
};

export function repositoryPath(ref: RepositoryRef): string {
  return isNamed(ref) ? `/repos/${nameParts(ref.fullName).join('/')}` : `/repositories/${idPart(ref.id)}`;
}

/** What lies below a repository is found by its name only. */
export async function namedPath(
  ref: RepositoryRef,
  repository: (ref: RepositoryRef, signal?: AbortSignal) => Promise<FoundRepository>,
  signal?: AbortSignal,
): Promise<string> {
  return repositoryPath(isNamed(ref) ? ref : { fullName: (await repository(ref, signal)).fullName });
}

export function repositoryOf(found: Static<typeof Repository>): FoundRepository {
  return {
    id: String(found.id),
    fullName: found.full_name,
    name: found.name,
    owner: found.owner.login,
    description: textOrNull(found.description),
    isPrivate: found.private,
    isArchived: found.archived ?? false,
    isFork: found.fork ?? false,
    defaultBranch: textOrNull(found.default_branch),
    pushedAt: dateOrNull(found.pushed_at),
  };
}

/** All refs come in one answer, however many there are; undefined where the host has no such list. */
export async function matchingBranches(
  api: HostApi,
  path: string,
  query: ListQuery,
  defaultBranch: string | null,
  signal?: AbortSignal,
) {
  const answer = await unlessMissing(api.request(path, { signal }), () => undefined);
  if (answer === undefined) return undefined;
  const fits = containing(query.search);
  const all = checkedAnswer(Refs, answer.body, api.label).flatMap(({ ref, object }): HostBranch[] => {
    const [, name] = /^refs\/heads\/(.+)$/s.exec(ref) ?? [];
    if (name === undefined || !fits(name)) return [];
    return [{ name, sha: object.sha, isDefault: name === defaultBranch, isProtected: null }];
  });
  return pageOfAll(all, query);
}

/** Fine-grained tokens have permissions that GitHub never tells; they are taken as they are. */
function missingIn(headers: Headers): MissingScope[] {
  const told = headers.get('x-oauth-scopes');
  if (told === null || scopesIn(told).some((scope) => ['repo', 'public_repo'].includes(scope))) return [];
  return [{ scope: 'repo', needed: 'It is needed to find and read private repositories.' }];
}

function refusalOf({ headers }: Answer): Refusal {
  if (headers.get('x-github-sso')?.startsWith('required'))
    return {
      scopes: [],
      hint: 'The organisation asks for single sign-on: authorize the token for it in the settings of the account at GitHub.',
    };
  const told = headers.get('x-oauth-scopes');
  if (told === null) {
    // `contents=read; hooks=write`, or without it what all of this needs.
    const named = headers.get('x-accepted-github-permissions')?.replaceAll('=', ': ').replaceAll(';', ',');
    const needed = named ?? 'Contents: read, Metadata: read and Webhooks: read and write';
    return { scopes: [], hint: `A fine-grained token needs the permission ${needed} for the repository.` };
  }
  const [accepted, held] = [scopesIn(headers.get('x-accepted-oauth-scopes') ?? ''), scopesIn(told)];
  return { scopes: accepted.some((scope) => held.includes(scope)) ? [] : accepted };
}
