/** The same analysis for someone who only wants to know: answered directly, nothing stored but the mirror. */
import type { WorkspaceId } from '../../ids.ts';
import type { ProjectsContext } from './projects.ts';
import { analyseCommit, fetchCommit } from './read-repository.ts';
import { describeRepository, type RepositoryWish, readRootDirectory } from './repository-source.ts';

/** Whoever waits for an answer waits no longer; a project's own analysis may take its time. */
const patienceMs = 60_000;

export async function analyseRepository(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  wish: RepositoryWish,
  where: { readonly branch?: string; readonly rootDirectory?: string },
  gone: AbortSignal,
) {
  const rootDirectory = readRootDirectory(where.rootDirectory);
  const described = await describeRepository(ctx, workspaceId, wish);
  const signal = AbortSignal.any([gone, AbortSignal.timeout(patienceMs)]);
  const repository = { ...described, branch: where.branch ?? null, rootDirectory };
  const commit = await fetchCommit(ctx, workspaceId, repository, signal);
  return { commit, result: await analyseCommit(ctx, workspaceId, repository, commit.sha, signal) };
}
