/** The history, and single commits with what they changed. */
import { type FileChange, readChanges } from '../repository/changes.ts';
import { listCommits, readCommit } from '../repository/commits.ts';
import { resolveCommit } from '../repository/refs.ts';
import { isTreePath } from '../repository/trees.ts';
import { commitView } from '../views/commits.ts';
import { encodePath } from '../views/urls.ts';
import { emptyRepository, noSuchCommit, notFound, ok } from './answers.ts';
import { forReaders, param, type RepositoryCall } from './operation.ts';
import { linkHeader, pageOf } from './paging.ts';

/** GitHub's own number for one page of changed files. */
const filesPerPage = 300;

export const commitOperations = [
  forReaders(
    { id: 'repos/list-commits', method: 'GET', path: '/repos/{owner}/{repo}/commits' },
    async (call) => {
      const { repository, registry, urls, bare, url } = call;
      const wanted = url.searchParams.get('sha') || undefined;
      const tip = await resolveCommit(bare, wanted ?? 'HEAD');
      if (!tip && !(await resolveCommit(bare, 'HEAD'))) throw emptyRepository();
      if (!tip) throw notFound();
      const path = (url.searchParams.get('path') ?? '').replace(/^\/+|\/+$/g, '');
      const page = pageOf(call);
      const range = { skip: page.skip, count: page.size };
      if (path !== '' && !isTreePath(path)) return ok([]);
      const { commits, total } = await listCommits(bare, tip, path, range);
      const views = commits.map((commit) => commitView(commit, repository, registry, urls));
      return ok(views, linkHeader(call, page, total));
    },
  ),

  forReaders(
    { id: 'repos/get-commit', method: 'GET', path: '/repos/{owner}/{repo}/commits/{ref}' },
    async (call) => {
      const { repository, registry, urls, bare } = call;
      const sha = await commitNamed(call, param(call, 'ref'));
      // A client that only wants to know whether a branch moved asks like this.
      if (/application\/vnd\.github\.(v3\.)?sha/.test(call.accept)) return plainText(sha);
      const commit = await readCommit(bare, sha);
      const changes = await readChanges(bare, commit);
      const page = pageOf(call, filesPerPage, filesPerPage);
      const additions = changes.reduce((sum, change) => sum + change.additions, 0);
      const deletions = changes.reduce((sum, change) => sum + change.deletions, 0);
      const answer = {
        ...commitView(commit, repository, registry, urls),
        stats: { total: additions + deletions, additions, deletions },
        files: changes.slice(page.skip, page.skip + page.size).map((change) => changeView(call, sha, change)),
      };
      return ok(answer, linkHeader(call, page, changes.length));
    },
  ),
];

export async function commitNamed({ bare }: RepositoryCall, name: string): Promise<string> {
  const sha = await resolveCommit(bare, name);
  if (sha) return sha;
  if (!(await resolveCommit(bare, 'HEAD'))) throw emptyRepository();
  throw noSuchCommit(name);
}

function plainText(text: string) {
  return { status: 200, bytes: Buffer.from(text), headers: { 'Content-Type': 'application/vnd.github.sha' } };
}

function changeView({ repository, urls }: RepositoryCall, commit: string, change: FileChange) {
  const path = encodePath(change.path);
  return {
    sha: change.sha,
    filename: change.path,
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    blob_url: `${urls.page(repository)}/blob/${commit}/${path}`,
    raw_url: `${urls.page(repository)}/raw/${commit}/${path}`,
    contents_url: `${urls.apiOf(repository)}/contents/${path}?ref=${commit}`,
    ...(change.patch === undefined ? {} : { patch: change.patch }),
    ...(change.previousPath === undefined ? {} : { previous_filename: change.previousPath }),
  };
}
