/** Whether something would be lost with an environment: a service that ran, or volumes of the application. */
import type { WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { EnvironmentState } from '../environments/environment-state.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { holdsData as servicesHoldData } from '../services/read-services.ts';
import type { ReconcileContext } from './reconcile.ts';

export async function holdsData(
  tx: Queryable,
  ctx: ReconcileContext,
  workspaceId: WorkspaceId,
  { id, currentReleaseId }: EnvironmentState,
): Promise<boolean> {
  if ((await servicesHoldData(tx, workspaceId, id)).length > 0) return true;
  if (currentReleaseId === null) return false;
  return (await readRelease(tx, ctx.sealer, workspaceId, currentReleaseId)).run.volumes.length > 0;
}
