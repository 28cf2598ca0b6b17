/** The analysis again: of what the branch is by now. */
import type { AccountId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Answer, Remember } from '../../store/answer.ts';
import { startAnalysis } from './analyse-project.ts';
import { notFound, type ProjectsContext, tellProject } from './projects.ts';
import * as queries from './queries.ts';
import { readProject } from './read-projects.ts';

export function retryAnalysis(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  accountId: AccountId,
  remember: Remember,
): Promise<Answer<Awaited<ReturnType<typeof readProject>>>> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockProject(tx, workspaceId, id))) throw notFound();
    await startAnalysis(tx, ctx, workspaceId, id, accountId);
    const body = await readProject(tx, workspaceId, id);
    const answer = await remember(tx, { status: 202, location: `/api/v1/projects/${id}`, body });
    await tellProject(tx, workspaceId, id, { reason: 'analysis', status: 'queued' });
    return answer;
  });
}
