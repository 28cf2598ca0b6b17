/** Where the newest analysis of a project is told. */
import type { FeedKey } from '../../events/events.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { notFound } from './projects.ts';
import * as queries from './queries.ts';

export async function followAnalysis(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
): Promise<{ readonly feed: FeedKey; readonly isOver: boolean }> {
  const project = await queries.findProject(db, workspaceId, id);
  if (!project?.analysisId) throw notFound();
  const isOver = project.analysisStatus === 'succeeded' || project.analysisStatus === 'failed';
  return { feed: { workspaceId, feedId: project.analysisId }, isOver };
}
