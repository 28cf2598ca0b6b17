/** Gitea and Forgejo, whose API follows that of GitHub. */
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../fault.ts';
import { once } from '../../once.ts';
import {
  dateOrNull,
  MaybeBoolean,
  MaybeText,
  pictureOrNull,
  scopesIn,
  Text,
  textOrNull,
} from './answer-schemas.ts';
import * as like from './github.ts';
import type { ListQuery, MissingScope, RepositoryRef } from './host.ts';
import type { FoundRepository, HostDialect } from './host-api.ts';
import { containing } from './host-pages.ts';

const User = Type.Object({ id: Type.Integer(), login: Text, full_name: MaybeText, avatar_url: MaybeText });
const Repository = Type.Object({
  ...like.Repository.properties,
  internal: MaybeBoolean,
  empty: MaybeBoolean,
  updated_at: MaybeText,
});
const Found = Type.Object({ data: Type.Union([Type.Array(Type.Unknown()), Type.Null()]) });
const Branch = Type.Object({ name: Text, commit: Type.Object({ id: Text }), protected: MaybeBoolean });

export const gitea: HostDialect = {
  // What a server gives on a page unless it was set otherwise; asking for more gets no more.
  pageSize: { parameter: 'limit', most: 50 },
  authorization: ({ token }) => `token ${token.reveal()}`,
  // «token does not have at least one of required scope(s): [read:user]», with `required=` before it in newer ones.
  missing: ({ text }) => {
    const named = /required scope\(s\)[^[]*\[([^\]]*)\]/.exec(text)?.[1];
    return named === undefined ? undefined : { scopes: scopesIn(named) };
  },
  // The list of what was found is in an object, the others are the body itself.
  items: (body) => (Value.Check(Found, body) ? (body.data ?? []) : body),
  hook: ({ url, secret }) => ({
    type: 'gitea',
    active: true,
    events: ['push', 'delete'],
    config: { url, content_type: 'json', secret: secret.reveal() },
  }),

  open(api) {
    const ownId = once(async () => (await api.user(User)).user.id);

    async function repositories(query: ListQuery, signal?: AbortSignal) {
      // Only names are looked in; who owns it is compared with the whole afterwards.
      const q = query.search?.slice(query.search.lastIndexOf('/') + 1);
      const order = { uid: String(await ownId()), sort: 'updated', order: 'desc' };
      const parameters = { ...order, ...(q && { q }) };
      const list = { path: '/repos/search', schema: Repository, parameters, of: repositoryOf, signal };
      const { items, next } = await api.page(list, query);
      const fits = containing(query.search);
      return { items: items.filter(({ fullName }) => fits(fullName)), next };
    }

    const repository = async (ref: RepositoryRef, signal?: AbortSignal) =>
      repositoryOf(await api.get(Repository, like.repositoryPath(ref), signal));

    /** The scopes of a token are not told: whether it may read is tried, whether it may make hooks shows when it does. */
    async function missing(signal?: AbortSignal): Promise<MissingScope[]> {
      try {
        await repositories({ limit: 1 }, signal);
        return [];
      } catch (error) {
        if (!(error instanceof Fault && error.code === 'provider_scopes_missing')) throw error;
        return [
          {
            scope: 'read:repository',
            needed: 'It is needed to find repositories and to fetch their source.',
          },
        ];
      }
    }

    return {
      repository,
      repositories,
      pathOf: (ref, signal) => like.namedPath(ref, repository, signal),

      async account(signal) {
        const { user } = await api.user(User, signal);
        return {
          login: user.login,
          name: textOrNull(user.full_name),
          avatarUrl: pictureOrNull(user.avatar_url),
          missing: await missing(signal),
          tokenExpiresAt: null,
        };
      },

      async branches(ref, query, signal) {
        const { fullName, defaultBranch } = await repository(ref, signal);
        const at = like.repositoryPath({ fullName });
        if (query.search) {
          const found = await like.matchingBranches(
            api,
            `${at}/git/refs/heads`,
            query,
            defaultBranch,
            signal,
          );
          return found ?? { items: [], next: null };
        }
        const of = (branch: Static<typeof Branch>) => ({
          name: branch.name,
          sha: branch.commit.id,
          isDefault: branch.name === defaultBranch,
          isProtected: branch.protected ?? null,
        });
        return api.page({ path: `${at}/branches`, schema: Branch, of, signal }, query);
      },
    };
  },
};

function repositoryOf(found: Static<typeof Repository>): FoundRepository {
  const repository = like.repositoryOf(found);
  return {
    ...repository,
    isPrivate: repository.isPrivate || (found.internal ?? false),
    defaultBranch: found.empty ? null : repository.defaultBranch,
    pushedAt: dateOrNull(found.updated_at),
  };
}
