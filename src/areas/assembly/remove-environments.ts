/** All environments of a project, for those who take the project away; each goes in its own time. */
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { endUnfinished } from '../deployments/end-unfinished.ts';
import { environmentsOfProjects } from '../environments/find-environments.ts';
import type { UpkeepContext } from '../upkeep/upkeep.ts';
import { enqueueRemoval, type RemovalWish, refuseToLoseData } from './remove-environment.ts';

/** Refuses where data would be lost without a word; ends what is at work. */
export async function prepareRemovals(
  ctx: UpkeepContext,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  deleteData: boolean | undefined,
): Promise<void> {
  const environments = await environmentsOfProjects(ctx.db, workspaceId, [projectId]);
  for (const { id } of environments) await refuseToLoseData(ctx, workspaceId, id, deleteData);
  for (const { id } of environments) await endUnfinished(ctx, workspaceId, id);
}

export async function enqueueRemovals(
  tx: Queryable,
  ctx: UpkeepContext,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  wish: RemovalWish,
): Promise<void> {
  for (const { id } of await environmentsOfProjects(tx, workspaceId, [projectId]))
    await enqueueRemoval(tx, ctx, workspaceId, id, wish);
}

export async function environmentsLeft(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
): Promise<number> {
  return (await environmentsOfProjects(db, workspaceId, [projectId])).length;
}
