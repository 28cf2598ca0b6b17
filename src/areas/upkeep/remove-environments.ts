/** All environments of a project, for those who take the project away. */
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { endUnfinished } from '../deployments/end-unfinished.ts';
import { environmentIdsOf } from '../environments/read-environments.ts';
import type { EnvironmentRemoval } from '../pushes/pushes.ts';
import { enqueueRemoval, type RemovalWish, refuseToLoseData } from './remove-environment.ts';
import type { UpkeepContext } from './upkeep.ts';

export function environmentRemoval(ctx: UpkeepContext): EnvironmentRemoval {
  return {
    prepare: async (workspaceId: WorkspaceId, projectId: ProjectId, deleteData: boolean | undefined) => {
      const ids = await environmentIdsOf(ctx.db, workspaceId, projectId);
      for (const id of ids) await refuseToLoseData(ctx, workspaceId, id, deleteData);
      for (const id of ids) await endUnfinished(ctx, workspaceId, id);
    },
    enqueue: async (tx: Queryable, workspaceId: WorkspaceId, projectId: ProjectId, wish: RemovalWish) => {
      for (const id of await environmentIdsOf(tx, workspaceId, projectId))
        await enqueueRemoval(tx, ctx, workspaceId, id, wish);
    },
    left: async (workspaceId: WorkspaceId, projectId: ProjectId) =>
      (await environmentIdsOf(ctx.db, workspaceId, projectId)).length,
  };
}
