/** One repository, its languages, and the way to its archive. */
import { languagesOf } from '../repository/languages.ts';
import { resolveCommit } from '../repository/refs.ts';
import { listTree } from '../repository/trees.ts';
import { fullRepository } from '../views/repositories.ts';
import { ApiError, notFound, ok } from './answers.ts';
import { forReaders, type RepositoryCall } from './operation.ts';

export const repositoryOperations = [
  forReaders(
    { id: 'repos/list-languages', method: 'GET', path: '/repos/{owner}/{repo}/languages' },
    async ({ bare }) => {
      const tip = await resolveCommit(bare, 'HEAD');
      return ok(tip ? languagesOf(await listTree(bare, tip, true)) : {});
    },
  ),

  forReaders(
    { id: 'repos/download-tarball-archive', method: 'GET', path: '/repos/{owner}/{repo}/tarball/{ref}' },
    (call) => redirectToArchive(call, call.params.ref ?? 'HEAD'),
  ),

  forReaders(
    { id: 'repos/get', method: 'GET', path: '/repos/{owner}/{repo}' },
    ({ repository, registry, urls, role }) => ok(fullRepository(repository, registry, urls, role)),
  ),
];

async function redirectToArchive({ bare, repository, archives, urls }: RepositoryCall, ref: string) {
  const commit = await resolveCommit(bare, ref);
  if (!commit && !(await resolveCommit(bare, 'HEAD'))) throw new ApiError(404, 'This repository is empty.');
  if (!commit) throw notFound();
  return { status: 302, headers: { Location: `${urls.base}${archives.pathFor(repository, commit)}` } };
}
