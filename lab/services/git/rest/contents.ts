/** What lies at a path of a commit: a file, a folder, a link or a submodule. */
import { dirname, join } from 'node:path/posix';
import { readObjects } from '../repository/objects.ts';
import { resolveCommit } from '../repository/refs.ts';
import { entriesAt, isTreePath, listTree, submoduleUrls, type TreeEntry } from '../repository/trees.ts';
import { encodePath } from '../views/urls.ts';
import { type Answer, ApiError, notFound, ok } from './answers.ts';
import { base64Lines, largestFile, largestInline, rawAnswer, tooLarge, wantsRaw } from './file-content.ts';
import { forReaders, type RepositoryCall } from './operation.ts';

const mostInFolder = 1000;

interface Place extends RepositoryCall {
  readonly commit: string;
  /** As it was asked for, for the addresses in the answer. */
  readonly ref: string;
}

export const contentOperations = [
  forReaders(
    { id: 'repos/get-content', method: 'GET', path: '/repos/{owner}/{repo}/contents/{path}' },
    async (call) => {
      const wanted = call.url.searchParams.get('ref') || undefined;
      const commit = await resolveCommit(call.bare, wanted ?? 'HEAD');
      if (!commit && wanted === undefined) throw new ApiError(404, 'This repository is empty.');
      if (!commit) throw new ApiError(404, `No commit found for the ref ${wanted}`);
      const place = { ...call, commit, ref: wanted ?? call.repository.defaultBranch };
      const path = (call.params.path ?? '').replace(/^\/+|\/+$/g, '');
      if (path === '') return folderAnswer(place, '', commit);
      if (!isTreePath(path)) throw notFound();
      const [entry] = await entriesAt(call.bare, commit, [path]);
      if (!entry) throw notFound();
      return entry.type === 'tree' ? folderAnswer(place, path, entry.sha) : fileAnswer(place, entry);
    },
  ),
];

async function folderAnswer(place: Place, path: string, tree: string): Promise<Answer> {
  const entries = await listTree(place.bare, tree);
  const inside = (entry: TreeEntry) => ({
    ...entry,
    path: path === '' ? entry.path : `${path}/${entry.path}`,
  });
  return ok(entries.slice(0, mostInFolder).map((entry) => common(place, inside(entry))));
}

async function fileAnswer(place: Place, entry: TreeEntry): Promise<Answer> {
  if (entry.type === 'commit') {
    const urls = await submoduleUrls(place.bare, place.commit);
    return ok({ ...common(place, entry), submodule_git_url: urls.get(entry.path) ?? '' });
  }
  if (entry.size > largestFile) throw tooLarge('Blob');
  const [blob] = await readObjects(place.bare, [entry.sha]);
  if (!blob) throw notFound();
  if (entry.mode === '120000') return linkAnswer(place, entry, blob.content.toString());
  if (wantsRaw(place.accept)) return rawAnswer(blob.content);
  const inline = blob.size <= largestInline;
  const content = inline ? base64Lines(blob.content) : '';
  return ok({ ...common(place, entry), content, encoding: inline ? 'base64' : 'none' });
}

/** A link to a file of the repository is answered with that file. */
async function linkAnswer(place: Place, entry: TreeEntry, target: string): Promise<Answer> {
  const path = target.startsWith('/') ? '..' : join(dirname(entry.path), target);
  const [file] = isTreePath(path) ? await entriesAt(place.bare, place.commit, [path]) : [];
  if (file?.mode.startsWith('100')) return fileAnswer(place, { ...file, path: entry.path });
  if (wantsRaw(place.accept)) return rawAnswer(Buffer.from(target));
  return ok({ ...common(place, entry), target });
}

function common({ repository, urls, ref, commit }: Place, entry: TreeEntry) {
  const path = encodePath(entry.path);
  const api = urls.apiOf(repository);
  const page = urls.page(repository);
  const isFolder = entry.type === 'tree';
  const self = `${api}/contents/${path}?ref=${encodeURIComponent(ref)}`;
  const html = `${page}/${isFolder ? 'tree' : 'blob'}/${encodePath(ref)}/${path}`;
  const git = entry.type === 'commit' ? null : `${api}/git/${isFolder ? 'trees' : 'blobs'}/${entry.sha}`;
  return {
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    path: entry.path,
    sha: entry.sha,
    size: entry.size,
    url: self,
    html_url: html,
    git_url: git,
    download_url: entry.type === 'blob' ? `${page}/raw/${commit}/${path}` : null,
    type: typeOf(entry),
    _links: { self, git, html },
  };
}

function typeOf({ type, mode }: TreeEntry): string {
  if (type === 'tree') return 'dir';
  if (type === 'commit') return 'submodule';
  return mode === '120000' ? 'symlink' : 'file';
}
