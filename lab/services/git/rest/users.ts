/** Accounts, and the repositories that belong to them. */
import { hasScope, maySee, roleOf } from '../access.ts';
import type { Repository } from '../state.ts';
import { privateUser, publicUser, simpleOrganisation } from '../views/accounts.ts';
import { repositoryView } from '../views/repositories.ts';
import { notFound, ok } from './answers.ts';
import { type Call, forAnyone, forUsers, param } from './operation.ts';
import { pageAnswer } from './paging.ts';

export const userOperations = [
  forUsers({ id: 'users/get-authenticated', method: 'GET', path: '/user' }, (call) => {
    const { caller, registry, urls } = call;
    const view = hasScope(caller, ['read:user']) ? privateUser : publicUser;
    return ok(view(caller.account, registry, urls));
  }),

  forUsers({ id: 'repos/list-for-authenticated-user', method: 'GET', path: '/user/repos' }, (call) => {
    const { registry, caller, url } = call;
    const visibility = url.searchParams.get('visibility') ?? url.searchParams.get('type') ?? 'all';
    const own = registry.store.state.repositories.filter(
      (repository) =>
        roleOf(registry, caller.account, repository) === 'admin' && maySee(registry, caller, repository),
    );
    return repositoryPage(call, ofVisibility(own, visibility), 'full_name');
  }),

  forUsers(
    {
      id: 'orgs/list-for-authenticated-user',
      method: 'GET',
      path: '/user/orgs',
      scopes: ['user', 'read:org'],
    },
    (call) =>
      pageAnswer(call, call.registry.organisationsOf(call.caller.account.login), (organisation) =>
        simpleOrganisation(organisation, call.urls),
      ),
  ),

  forAnyone({ id: 'users/get-by-username', method: 'GET', path: '/users/{username}' }, (call) => {
    const account = call.registry.account(param(call, 'username'));
    if (!account) throw notFound();
    return ok(publicUser(account, call.registry, call.urls));
  }),

  forAnyone({ id: 'repos/list-for-org', method: 'GET', path: '/orgs/{org}/repos' }, (call) => {
    const { registry, caller, url } = call;
    const organisation = registry.account(param(call, 'org'));
    if (organisation?.kind !== 'org') throw notFound();
    const visible = registry.store.state.repositories.filter(
      (repository) => repository.owner === organisation.login && maySee(registry, caller, repository),
    );
    return repositoryPage(call, ofVisibility(visible, url.searchParams.get('type') ?? 'all'), 'created');
  }),
];

function ofVisibility(repositories: readonly Repository[], wanted: string): readonly Repository[] {
  if (wanted !== 'public' && wanted !== 'private') return repositories;
  return repositories.filter((repository) => repository.private === (wanted === 'private'));
}

function repositoryPage(call: Call, repositories: readonly Repository[], usual: 'full_name' | 'created') {
  const { registry, urls, caller, url } = call;
  const sort = url.searchParams.get('sort') ?? usual;
  const direction = url.searchParams.get('direction') ?? (sort === 'full_name' ? 'asc' : 'desc');
  const sorted = [...repositories].sort((one, other) => compare(sortKey(one, sort), sortKey(other, sort)));
  if (direction === 'desc') sorted.reverse();
  return pageAnswer(call, sorted, (repository) =>
    repositoryView(repository, registry, urls, roleOf(registry, caller?.account, repository)),
  );
}

/** The number decides between those of the same second: the order of creation. */
export function sortKey(repository: Repository, sort: string): string {
  const order = String(repository.id).padStart(12, '0');
  if (sort === 'created') return `${repository.createdAt} ${order}`;
  if (sort === 'updated') return `${repository.updatedAt} ${order}`;
  if (sort === 'pushed') return `${repository.pushedAt} ${order}`;
  return `${repository.owner}/${repository.name}`.toLowerCase();
}

export function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
