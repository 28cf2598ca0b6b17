/** The analysis again: of what the branch is by now. */
import type { AccountId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { startAnalysis } from './analyse-project.ts';
import { notFound, type ProjectsContext, publishProjectEvent, type ShowProject } from './projects.ts';
import * as queries from './queries.ts';

export function retryAnalysis<Shown>(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  accountId: AccountId,
  show: ShowProject<Shown>,
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockProject(tx, workspaceId, id))) throw notFound();
    await startAnalysis(tx, ctx, workspaceId, id, accountId);
    const body = await show(tx, workspaceId, id);
    const answer = await saveResponse(tx, { status: 202, location: `/api/v1/projects/${id}`, body });
    await publishProjectEvent(tx, workspaceId, id, { reason: 'analysis', status: 'queued' });
    return answer;
  });
}
