/** A host of any kind: what all of them do alike stands here, what one does in its own way in its file. */
import Type from 'typebox';
import type { Clock } from '../../clock.ts';
import type { OutboundFetch } from '../../outbound-fetch.ts';
import { checkedAnswer, Id, idPart, MaybeText, Text } from './answer-schemas.ts';
import { bitbucket } from './bitbucket.ts';
import { gitea } from './gitea.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import type { GitHost, GitHostAccess, GitHostKind, HostPage, HostRepository } from './host.ts';
import { type FoundRepository, HostApi, type HostDialect, unlessMissing } from './host-api.ts';

const dialects: Record<GitHostKind, HostDialect> = { github, gitlab, gitea, bitbucket };

/** More is nothing to choose from in a list; a repository beyond it is still found by its name. */
const mostRepositories = 5_000;

const Target = Type.Optional(Type.Union([Type.Object({ url: MaybeText }), Type.Null()]));
const Hook = Type.Union([
  Type.Object({ id: Id, url: MaybeText, config: Target }),
  Type.Object({ uuid: Text, url: MaybeText, config: Target }),
]);
const hookIdOf = (hook: Type.Static<typeof Hook>) => ('id' in hook ? String(hook.id) : hook.uuid);

export function openHost(access: GitHostAccess, fetch: OutboundFetch, clock: Clock): GitHost {
  const dialect = dialects[access.kind];
  const api = new HostApi(access, dialect, fetch, clock);
  const host = dialect.open(api);
  // Never the addresses of an answer: git would take the token there.
  const placed = (found: FoundRepository): HostRepository => ({
    ...found,
    cloneUrl: `${access.baseUrl}/${found.fullName}.git`,
    webUrl: `${access.baseUrl}/${found.fullName}`,
  });

  const repositories: GitHost['repositories'] = async (query, signal) => {
    const { items, next } = await host.repositories(query, signal);
    return { items: items.map(placed), next };
  };
  const remove = (path: string, id: string, signal?: AbortSignal) =>
    unlessMissing(api.request(`${path}/${idPart(id)}`, { method: 'DELETE', signal }), () => undefined);
  const hooksOf: typeof host.pathOf = async (ref, signal) => `${await host.pathOf(ref, signal)}/hooks`;

  return {
    account: host.account,
    branches: host.branches,
    repositories,
    allRepositories: (signal) => everyRepository(repositories, signal),
    repository: async (ref, signal) => placed(await host.repository(ref, signal)),

    async createHook(ref, hook, signal) {
      const path = await hooksOf(ref, signal);
      // At GitHub, `url` is that of the hook itself, and its target is in `config`.
      for (const old of await api.all({ path, schema: Hook, of: (each) => each, signal }))
        if ((old.config?.url ?? old.url) === hook.url) await remove(path, hookIdOf(old), signal);
      const { body } = await api.request(path, { method: 'POST', body: dialect.hook(hook), signal });
      return { hookId: hookIdOf(checkedAnswer(Hook, body, api.label)) };
    },

    async deleteHook(ref, hookId, signal) {
      await remove(await hooksOf(ref, signal), hookId, signal);
    },
  };
}

async function* everyRepository(
  repositories: GitHost['repositories'],
  signal?: AbortSignal,
): AsyncIterable<HostRepository[]> {
  // Something pushed in between moves to the front and pushes others to the next page, where they come again.
  const seen = new Set<string>();
  let page: string | null = null;
  do {
    const found: HostPage<HostRepository> = await repositories(
      { limit: 100, ...(page === null ? {} : { page }) },
      signal,
    );
    const fresh = found.items.filter(({ id }) => !seen.has(id)).slice(0, mostRepositories - seen.size);
    for (const { id } of fresh) seen.add(id);
    if (fresh.length > 0) yield fresh;
    page = found.next;
  } while (page !== null && seen.size < mostRepositories);
}
