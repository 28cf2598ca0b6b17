/** Trees and blobs by their ids. */
import type { BareRepository } from '../repository/git.ts';
import { describeObjects, readObjects } from '../repository/objects.ts';
import { resolveCommit } from '../repository/refs.ts';
import { listTree } from '../repository/trees.ts';
import { nodeId } from '../views/urls.ts';
import { ApiError, emptyRepository, notFound, ok } from './answers.ts';
import { base64Lines, largestFile, rawAnswer, tooLarge, wantsRaw } from './file-content.ts';
import { forReaders, param } from './operation.ts';

/** GitHub's own limit for one answer. */
const mostEntries = 100_000;

export const gitDataOperations = [
  forReaders(
    { id: 'git/get-tree', method: 'GET', path: '/repos/{owner}/{repo}/git/trees/{tree_sha}' },
    async (call) => {
      const { repository, urls, bare, url } = call;
      const api = urls.apiOf(repository);
      const name = param(call, 'tree_sha');
      // GitHub also takes a commit or a branch here, and then says the commit's id for the tree's.
      const sha = (await treeWithId(bare, name)) ?? (await resolveCommit(bare, name));
      if (!sha && !(await resolveCommit(bare, 'HEAD'))) throw emptyRepository();
      if (!sha) throw notFound();
      const entries = await listTree(bare, sha, url.searchParams.has('recursive'));
      return ok({
        sha,
        url: `${api}/git/trees/${sha}`,
        tree: entries.slice(0, mostEntries).map(({ path, mode, type, sha: id, size }) => ({
          path,
          mode,
          type,
          sha: id,
          ...(type === 'blob' ? { size } : {}),
          ...(type === 'commit' ? {} : { url: `${api}/git/${type}s/${id}` }),
        })),
        truncated: entries.length > mostEntries,
      });
    },
  ),

  forReaders(
    { id: 'git/get-blob', method: 'GET', path: '/repos/{owner}/{repo}/git/blobs/{file_sha}' },
    async (call) => {
      const { repository, urls, bare, accept } = call;
      const sha = param(call, 'file_sha');
      if (!isId(sha))
        throw new ApiError(422, 'The sha parameter must be exactly 40 characters and contain only [0-9a-f].');
      const [head] = await describeObjects(bare, [sha]);
      if (head?.type !== 'blob') throw notFound();
      if (head.size > largestFile) throw tooLarge('Blob');
      const [blob] = await readObjects(bare, [sha]);
      if (!blob) throw notFound();
      if (wantsRaw(accept)) return rawAnswer(blob.content);
      return ok({
        sha: blob.sha,
        node_id: nodeId('Blob', `${repository.id}:${blob.sha}`),
        size: blob.size,
        url: `${urls.apiOf(repository)}/git/blobs/${blob.sha}`,
        content: base64Lines(blob.content),
        encoding: 'base64',
      });
    },
  ),
];

async function treeWithId(bare: BareRepository, id: string): Promise<string | undefined> {
  const [found] = isId(id) ? await describeObjects(bare, [id]) : [];
  return found?.type === 'tree' ? found.sha : undefined;
}

function isId(text: string): boolean {
  return /^[0-9a-f]{40}$/i.test(text);
}
