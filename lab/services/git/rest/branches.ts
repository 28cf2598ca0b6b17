/** Branches and tags. A list is one `git for-each-ref`, however long it is. */
import { readCommit } from '../repository/commits.ts';
import { readRefs, readTags } from '../repository/refs.ts';
import type { Repository } from '../state.ts';
import { commitView } from '../views/commits.ts';
import { encodePath, nodeId, type Urls } from '../views/urls.ts';
import { ApiError, ok } from './answers.ts';
import { forReaders, param } from './operation.ts';
import { pageAnswer } from './paging.ts';

const heads = 'refs/heads/';

export const branchOperations = [
  forReaders(
    { id: 'repos/list-branches', method: 'GET', path: '/repos/{owner}/{repo}/branches' },
    async (call) => {
      const { repository, urls, bare } = call;
      const wanted = call.url.searchParams.get('protected');
      const all = [...(await readRefs(bare, heads))].map(([ref, sha]) => ({
        name: ref.slice(heads.length),
        sha,
      }));
      const shown =
        wanted === null
          ? all
          : all.filter(({ name }) => isProtected(repository, name) === (wanted === 'true'));
      return pageAnswer(call, shown, ({ name, sha }) => ({
        name,
        commit: { sha, url: `${urls.apiOf(repository)}/commits/${sha}` },
        ...protectionOf(repository, name, urls),
      }));
    },
  ),

  forReaders(
    { id: 'repos/get-branch', method: 'GET', path: '/repos/{owner}/{repo}/branches/{branch}' },
    async (call) => {
      const { repository, registry, urls, bare } = call;
      const name = param(call, 'branch');
      const sha = (await readRefs(bare, `${heads}${name}`)).get(`${heads}${name}`);
      if (!sha) throw new ApiError(404, 'Branch not found');
      const self = `${urls.apiOf(repository)}/branches/${encodePath(name)}`;
      return ok({
        name,
        commit: commitView(await readCommit(bare, sha), repository, registry, urls),
        _links: { self, html: `${urls.page(repository)}/tree/${encodePath(name)}` },
        ...protectionOf(repository, name, urls),
      });
    },
  ),

  forReaders({ id: 'repos/list-tags', method: 'GET', path: '/repos/{owner}/{repo}/tags' }, async (call) => {
    const { repository, urls, bare } = call;
    const api = urls.apiOf(repository);
    return pageAnswer(call, await readTags(bare), ({ name, sha }) => ({
      name,
      zipball_url: `${api}/zipball/refs/tags/${encodePath(name)}`,
      tarball_url: `${api}/tarball/refs/tags/${encodePath(name)}`,
      commit: { sha, url: `${api}/commits/${sha}` },
      node_id: nodeId('Ref', `${repository.id}:refs/tags/${name}`),
    }));
  }),
];

function isProtected(repository: Repository, name: string): boolean {
  return repository.protectedBranches.includes(name);
}

function protectionOf(repository: Repository, name: string, urls: Urls) {
  const enabled = isProtected(repository, name);
  return {
    protected: enabled,
    protection: {
      enabled,
      required_status_checks: {
        enforcement_level: enabled ? 'non_admins' : 'off',
        contexts: [],
        checks: [],
      },
    },
    protection_url: `${urls.apiOf(repository)}/branches/${encodePath(name)}/protection`,
  };
}
