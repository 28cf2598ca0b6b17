/** Services of an environment that is stopped, or taken away from a server. Their data goes only where that is asked. */
import type { Target } from '../../engine/engine.ts';
import type { Placement } from '../../engine/placement.ts';
import type { ServiceId } from '../../ids.ts';
import { kinds } from './kinds/kinds.ts';
import * as queries from './queries.ts';
import type { ServicesContext } from './services.ts';

/** After the application, which would only complain. A reboot does not start them again. */
export async function stopServices(ctx: ServicesContext, target: Target): Promise<void> {
  const { workspaceId, environmentId } = target.placement;
  const rows = await queries.listServices(ctx.db, workspaceId, [environmentId]);
  await target.stopServices(rows.map(({ id, kind }) => ({ id, stopSeconds: kinds[kind].stopSeconds })));
  const started = rows.filter(({ dataVersion }) => dataVersion !== null).map(({ id }) => id);
  await queries.setStatus(ctx.db, workspaceId, started, 'stopped', null, ctx.clock.now());
}

/** Once the engine has taken them down. With `deleteData` they could start anew, empty, wherever the environment stands. */
export async function markServicesDown(
  ctx: ServicesContext,
  { workspaceId, environmentId, serverId }: Placement,
  { deleteData }: { readonly deleteData: boolean },
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const rows = await queries.lockServices(tx, workspaceId, environmentId);
    const here = rows.filter((row) => row.serverId === serverId).map(({ id }) => id);
    await queries.setStatus(tx, workspaceId, here, 'stopped', null, now);
    if (!deleteData) return;
    await queries.forgetRemoved(tx, workspaceId, here);
    await queries.forgetData(tx, workspaceId, here, now);
  });
}

/** The data of services that are not wanted any more. Which those are is read again: one may be wanted by now. */
export async function deleteRemoved(ctx: ServicesContext, target: Target): Promise<readonly ServiceId[]> {
  const { workspaceId, environmentId, serverId } = target.placement;
  const rows = await queries.listServices(ctx.db, workspaceId, [environmentId]);
  const removed = rows.filter((row) => row.removedAt !== null && row.serverId === serverId);
  const ids = removed.map(({ id }) => id);
  if (ids.length === 0) return [];
  await target.deleteServiceData(ids);
  await queries.forgetRemoved(ctx.db, workspaceId, ids);
  return ids;
}
