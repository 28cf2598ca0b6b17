/** Services whose environment goes elsewhere without their data: they begin empty there. Their volumes stay where they are. */
import type { EnvironmentId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

export async function leaveBehind(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serverId: ServerId | null,
): Promise<void> {
  await queries.forgetPlaces(tx, workspaceId, environmentId, serverId);
}
