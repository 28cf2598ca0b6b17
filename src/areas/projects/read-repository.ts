/** From a repository to what the analysis says of one commit of it, for a project or for someone who only asks. */
import type { Mirror } from '../../adapters/git/mirrors.ts';
import type { BuildOrder, GeneratedBuild } from '../../analysis/dockerfile/generate-dockerfile.ts';
import type { Analyst } from '../../analysis/process/analyst.ts';
import type { AnalysisResult } from '../../analysis/result.ts';
import type { FileTree } from '../../analysis/tree.ts';
import { after, day } from '../../clock.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Secret } from '../../secret.ts';
import {
  type AnalysisAccess,
  mirrorKeyOf,
  type ProjectsContext,
  type RepositoryAccess,
  sourceOf,
} from './projects.ts';
import { type AnalysedCommit, listCloneUrls } from './queries.ts';
import { describeRepository, type RepositoryReference, readRootDirectory } from './repository-source.ts';

/** Whoever waits for an answer waits no longer; a project's own analysis may take its time. */
const timeoutMs = 60_000;

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
      onProgress: ({ fraction, text }) => progress(fraction, text),
    },
  );
  const { sha, message, authorName: author, authoredAt } = commit;
  return { sha, message, author, authoredAt: authoredAt.toISOString(), branch };
}

/** A commit whose files are here, wherever they came from. */
export interface ReadableCommit {
  readonly mirror: Mirror;
  readonly sha: string;
}

export async function analyseCommit(
  { mirrors, analyst }: AnalysisAccess,
  workspaceId: WorkspaceId,
  { cloneUrl, rootDirectory }: ReadableRepository,
  sha: string,
  signal: AbortSignal,
): Promise<AnalysisResult> {
  const mirror = (await mirrors()).open(mirrorKeyOf(workspaceId, cloneUrl));
  return analyseFiles(analyst, workspaceId, { mirror, sha }, rootDirectory, signal);
}

export function analyseFiles(
  analyst: Analyst,
  workspaceId: WorkspaceId,
  { mirror, sha }: ReadableCommit,
  rootDirectory: string,
  signal: AbortSignal,
): Promise<AnalysisResult> {
  return analyst.analyse(workspaceId, treeOf(mirror, sha), rootDirectory, signal);
}

/** The Dockerfile that is written for an app of the commit. */
export function writeDockerfile(
  analyst: Analyst,
  workspaceId: WorkspaceId,
  { mirror, sha }: ReadableCommit,
  order: BuildOrder,
  signal: AbortSignal,
): Promise<GeneratedBuild> {
  return analyst.dockerfile(workspaceId, treeOf(mirror, sha), order, signal);
}

/** No file that the analysis asks for is larger; lock files are the largest. */
const maxFileBytes = 16 * 1024 * 1024;

function treeOf(mirror: Mirror, sha: string): FileTree {
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

/** The same analysis for someone who only wants to know: answered directly, nothing stored but the mirror. */
export async function analyseRepository(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  wanted: RepositoryReference,
  where: { readonly branch?: string; readonly rootDirectory?: string },
  gone: AbortSignal,
) {
  const rootDirectory = readRootDirectory(where.rootDirectory);
  ctx.analyst.warm();
  const described = await describeRepository(ctx, workspaceId, wanted);
  const signal = AbortSignal.any([gone, AbortSignal.timeout(timeoutMs)]);
  const repository = { ...described, branch: where.branch ?? null, rootDirectory };
  const commit = await fetchCommit(ctx, workspaceId, repository, signal);
  return { commit, result: await analyseCommit(ctx, workspaceId, repository, commit.sha, signal) };
}

/** Mirrors that no project reads go a week after they were last used: `analyze-repo` and removed projects leave some. */
export function pruneMirrorsSchedule(ctx: ProjectsContext): Schedule {
  return { name: 'tidy-mirrors', cron: '23 4 * * *', timezone: 'UTC', run: () => pruneMirrors(ctx) };
}

async function pruneMirrors(ctx: ProjectsContext): Promise<void> {
  const used = await listCloneUrls(ctx.db);
  const keep = new Set(used.map(({ workspaceId, cloneUrl }) => mirrorKeyOf(workspaceId, cloneUrl)));
  await (await ctx.mirrors()).removeUnused(after(ctx.clock.now(), -7 * day), keep);
}
