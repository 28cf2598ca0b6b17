/** The search for repositories: words of their name, and whose they are. */
import { maySee, roleOf } from '../access.ts';
import { same } from '../registry.ts';
import type { Repository } from '../state.ts';
import { repositoryView } from '../views/repositories.ts';
import { ok, validationFailed } from './answers.ts';
import { type Call, forAnyone } from './operation.ts';
import { linkHeader, pageOf } from './paging.ts';
import { compare, sortKey } from './users.ts';

/** GitHub shows no more of what it found. */
const mostShown = 1000;

export const searchOperations = [
  forAnyone(
    { id: 'search/repos', method: 'GET', path: '/search/repositories', resource: 'search' },
    (call) => {
      const { registry, caller, urls } = call;
      const found = search(call);
      const shown = found.slice(0, mostShown);
      const page = pageOf(call);
      const items = shown.slice(page.skip, page.skip + page.size).map((repository) => ({
        ...repositoryView(repository, registry, urls, roleOf(registry, caller?.account, repository)),
        score: 1,
      }));
      const answer = { total_count: found.length, incomplete_results: false, items };
      return ok(answer, linkHeader(call, page, shown.length));
    },
  ),
];

function search({ url, registry, caller }: Call): Repository[] {
  const text = url.searchParams.get('q') ?? '';
  if (text.trim() === '') throw validationFailed({ resource: 'Search', field: 'q', code: 'missing' });
  const terms = text.match(/[\w-]+:"[^"]*"|"[^"]*"|\S+/g) ?? [];
  const qualifiers = terms.filter((term) => /^-?[\w-]+:./.test(term));
  const words = terms
    .filter((term) => !qualifiers.includes(term))
    .map((word) => word.replaceAll('"', '').toLowerCase());
  const owners = qualifiers.flatMap((each) => /^(?:user|org):(.+)$/.exec(each)?.[1] ?? []);
  const named = words.join(' ');
  const found = registry.store.state.repositories.filter(
    (repository) =>
      maySee(registry, caller, repository) &&
      words.every((word) => `${repository.owner}/${repository.name}`.toLowerCase().includes(word)) &&
      words.every((word) => word.includes('/') || repository.name.toLowerCase().includes(word)) &&
      (owners.length === 0 || owners.some((owner) => same(owner, repository.owner))),
  );
  const sort = url.searchParams.get('sort') ?? 'best';
  const key = (repository: Repository) =>
    // The one that is called exactly so comes first, then what changed last.
    (sort === 'best' && repository.name.toLowerCase() === named ? '~' : '') + sortKey(repository, 'updated');
  const sorted = found.sort((one, other) => compare(key(other), key(one)));
  return url.searchParams.get('order') === 'asc' ? sorted.reverse() : sorted;
}
