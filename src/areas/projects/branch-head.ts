/** The newest commit of a branch, as the repository itself says it now. */
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import { nearestNames } from '../../nearest-names.ts';
import { type RepositoryAccess, sourceOf } from './projects.ts';
import { readableRepository } from './read-source.ts';

/** Whoever waits for an answer waits no longer. */
const timeoutMs = 30_000;

export async function branchHead(
  ctx: RepositoryAccess,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  branch: string,
): Promise<string> {
  const repository = await readableRepository(ctx, workspaceId, projectId);
  const source = await sourceOf(ctx, workspaceId, repository);
  const mirrors = await ctx.mirrors();
  const waiting = new AbortController();
  const late = new Fault('deadline_exceeded', 'The repository did not answer in time.');
  const timer = setTimeout(() => waiting.abort(late), timeoutMs);
  const { branches } = await mirrors.refs(source, waiting.signal).finally(() => clearTimeout(timer));
  const sha = branches.get(branch);
  if (sha !== undefined) return sha;
  const near = nearestNames(branch, branches.keys());
  const meant = near.length > 0 ? ` There is ${near.map((name) => `«${name}»`).join(', ')}.` : '';
  throw new Fault('commit_not_found', `The repository has no branch «${branch}».${meant}`, {
    hint: 'Push the branch first, or choose another one.',
    errors: [{ path: 'branch', message: 'is no branch of the repository' }],
  });
}
