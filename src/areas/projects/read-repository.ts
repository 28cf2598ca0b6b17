/** From a repository to what the analysis says of one commit of it, for a project or for someone who only asks. */
import type { Mirror } from '../../adapters/git/mirrors.ts';
import type { AnalysisResult } from '../../analysis/result.ts';
import type { FileTree } from '../../analysis/tree.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import type { Secret } from '../../secret.ts';
import { mirrorKeyOf, type RepositoryAccess, sourceOf } from './projects.ts';
import type { AnalysedCommit } from './queries.ts';

export interface ReadableRepository {
  readonly cloneUrl: string;
  readonly providerId: GitProviderId | null;
  readonly deployKey?: Secret;
  /** Null: the default branch. */
  readonly branch: string | null;
  readonly rootDirectory: string;
}

export async function fetchCommit(
  ctx: RepositoryAccess,
  workspaceId: WorkspaceId,
  repository: ReadableRepository,
  signal: AbortSignal,
  progress: (fraction: number, text?: string) => void = () => undefined,
): Promise<AnalysedCommit> {
  const source = await sourceOf(ctx, workspaceId, repository);
  const want = repository.branch === null ? ('default' as const) : { branch: repository.branch };
  const { commit, branch } = await (await ctx.mirrors()).fetch(
    mirrorKeyOf(workspaceId, repository.cloneUrl),
    source,
    {
      want,
      signal,
      onProgress: (told) => progress(told.fraction, told.text),
    },
  );
  const { sha, message, authorName: author, authoredAt } = commit;
  return { sha, message, author, authoredAt: authoredAt.toISOString(), branch };
}

export async function analyseCommit(
  ctx: RepositoryAccess,
  workspaceId: WorkspaceId,
  repository: ReadableRepository,
  sha: string,
  signal: AbortSignal,
): Promise<AnalysisResult> {
  // Its parsers are large, and nobody needs them before the first analysis.
  const { analyse } = await import('../../analysis/analysis.ts');
  const mirror = (await ctx.mirrors()).open(mirrorKeyOf(workspaceId, repository.cloneUrl));
  const { rootDirectory } = repository;
  return analyse(treeOf(mirror, sha), {
    signal,
    ...(rootDirectory !== '' && { rootDirectory }),
  });
}

/** No file that the analysis asks for is larger; lock files are the largest. */
const maxFileBytes = 16 * 1024 * 1024;

export function treeOf(mirror: Mirror, sha: string): FileTree {
  return {
    list: (most, signal) => mirror.tree(sha, { maxEntries: most, signal }),
    read: async (paths, signal) => {
      const found = new Map<string, Buffer>();
      for await (const { path, content } of mirror.readFiles(sha, paths, { signal, maxFileBytes }))
        found.set(path, content);
      return found;
    },
  };
}
