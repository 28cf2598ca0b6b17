/** What others say of a commit: built, deployed, failed. */
import type { Status } from '../state.ts';
import { timestamp } from '../state.ts';
import { simpleUser } from '../views/accounts.ts';
import { repositoryView } from '../views/repositories.ts';
import { nodeId } from '../views/urls.ts';
import { created, noSuchCommit, ok, validationFailed } from './answers.ts';
import { commitNamed } from './commits.ts';
import { forReaders, forWriters, param, type RepositoryCall } from './operation.ts';
import { linkHeader, pageOf } from './paging.ts';

const longestDescription = 140;
const states = ['error', 'failure', 'pending', 'success'] as const;

export const statusOperations = [
  forReaders(
    {
      id: 'repos/get-combined-status-for-ref',
      method: 'GET',
      path: '/repos/{owner}/{repo}/commits/{ref}/status',
    },
    async (call) => {
      const { repository, registry, urls } = call;
      const sha = await commitNamed(call, param(call, 'ref'));
      const latest = latestByContext(call, sha);
      const page = pageOf(call);
      const url = `${urls.apiOf(repository)}/commits/${sha}`;
      const answer = {
        state: combined(latest),
        statuses: latest.slice(page.skip, page.skip + page.size).map((status) => statusView(call, status)),
        sha,
        total_count: latest.length,
        repository: repositoryView(repository, registry, urls),
        commit_url: url,
        url: `${url}/status`,
      };
      return ok(answer, linkHeader(call, page, latest.length));
    },
  ),

  forWriters(
    {
      id: 'repos/create-commit-status',
      method: 'POST',
      path: '/repos/{owner}/{repo}/statuses/{sha}',
      scopes: ['repo:status', 'repo'],
    },
    async (call) => {
      const { repository, registry, urls, caller } = call;
      const { store } = registry;
      const wanted = param(call, 'sha');
      const sha = /^[0-9a-f]{40}$/i.test(wanted) ? await commitNamed(call, wanted) : undefined;
      if (!sha) throw noSuchCommit(wanted);
      const status: Status = {
        ...statusFrom(call.body),
        id: store.nextId(),
        repositoryId: repository.id,
        sha,
        creator: caller.account.login,
        createdAt: timestamp(),
      };
      store.state.statuses.push(status);
      store.save();
      const view = { ...statusView(call, status), creator: simpleUser(caller.account, urls) };
      return created(view, view.url);
    },
  ),
];

function statusFrom(body: Readonly<Record<string, unknown>>) {
  const { target_url: targetUrl = null, description = null, context = 'default' } = body;
  const state = states.find((each) => each === body.state);
  if (!state) throw problem('state', 'state is not included in the list');
  if (targetUrl !== null && (typeof targetUrl !== 'string' || !/^https?:\/\/./.test(targetUrl)))
    throw problem('target_url', 'target_url must use http(s) scheme');
  if (description !== null && typeof description !== 'string')
    throw problem('description', 'description must be a string');
  if ((description?.length ?? 0) > longestDescription)
    throw problem('description', `description is too long (maximum is ${longestDescription} characters)`);
  if (typeof context !== 'string') throw problem('context', 'context must be a string');
  return { state, targetUrl, description, context };
}

function problem(field: string, message: string) {
  return validationFailed({ resource: 'Status', field, code: 'custom', message });
}

/** Newest first. The name of a context is the same in large and small letters. */
function latestByContext({ registry, repository }: RepositoryCall, sha: string): Status[] {
  const latest = new Map<string, Status>();
  for (const status of registry.store.state.statuses)
    if (status.repositoryId === repository.id && status.sha === sha)
      latest.set(status.context.toLowerCase(), status);
  return [...latest.values()].sort((one, other) => other.id - one.id);
}

function combined(latest: readonly Status[]): string {
  if (latest.some(({ state }) => state === 'error' || state === 'failure')) return 'failure';
  return latest.length > 0 && latest.every(({ state }) => state === 'success') ? 'success' : 'pending';
}

function statusView({ urls, repository, registry }: RepositoryCall, status: Status) {
  const creator = registry.knownAccount(status.creator);
  return {
    url: `${urls.apiOf(repository)}/statuses/${status.sha}`,
    avatar_url: simpleUser(creator, urls).avatar_url,
    id: status.id,
    node_id: nodeId('StatusContext', status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.createdAt,
    updated_at: status.createdAt,
  };
}
