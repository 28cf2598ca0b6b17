/** Services of an environment that is stopped, or taken away from a server. Their data goes only where that is asked. */
import { ask } from '../../adapters/docker/ask.ts';
import {
  listContainers,
  readContainers,
  removeContainer,
  stopContainer,
} from '../../adapters/docker/containers.ts';
import { listVolumes, readVolumes, removeVolume } from '../../adapters/docker/volumes.ts';
import type { ServiceId } from '../../ids.ts';
import { labelsOf, type Site, serviceContainer, serviceVolume } from '../environments/place.ts';
import { kinds } from './kinds/kinds.ts';
import * as queries from './queries.ts';
import { serviceLabel } from './service-container.ts';
import type { ServicesContext } from './services.ts';

const longestStopSeconds = 120;

/** After the application, which would only complain. A reboot does not start them again. */
export async function stopServices(ctx: ServicesContext, site: Site): Promise<void> {
  const { workspaceId, environmentId } = site.place;
  const rows = await queries.listServices(ctx.db, workspaceId, [environmentId]);
  const { remote, fence, signal } = site;
  const calls = rows.map(({ id, kind }) => stopContainer(serviceContainer(id), kinds[kind].stopSeconds));
  await ask(remote, calls, { fence, signal });
  const started = rows.filter(({ dataVersion }) => dataVersion !== null).map(({ id }) => id);
  await queries.setStatus(ctx.db, workspaceId, started, 'stopped', null, ctx.clock.now());
}

/** Everything of them on this server. With `deleteData` they could start anew, empty, wherever the environment stands. */
export async function removeServices(
  ctx: ServicesContext,
  site: Site,
  { deleteData }: { readonly deleteData: boolean },
): Promise<void> {
  const { place, remote, fence, signal } = site;
  const listing = [listContainers(labelsOf(place, 'service')), listVolumes(labelsOf(place, 'volume'))];
  const [containers, volumes] = await ask(remote, listing, { fence, signal });
  if (!containers || !volumes) throw new Error('Docker left a question without an answer');
  // Applications have volumes too.
  const ours = readVolumes(volumes).filter(({ labels }) => serviceLabel in labels);
  const calls = [
    ...readContainers(containers).flatMap(({ name }) => [
      stopContainer(name, longestStopSeconds),
      removeContainer(name),
    ]),
    ...(deleteData ? ours.map(({ name }) => removeVolume(name)) : []),
  ];
  await ask(remote, calls, { fence, signal });
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const rows = await queries.lockServices(tx, place.workspaceId, place.environmentId);
    const here = rows.filter(({ serverId }) => serverId === place.serverId).map(({ id }) => id);
    await queries.setStatus(tx, place.workspaceId, here, 'stopped', null, now);
    if (!deleteData) return;
    await queries.forgetRemoved(tx, place.workspaceId, here);
    await queries.forgetData(tx, place.workspaceId, here, now);
  });
}

/** The data of services that are not wanted any more. Which those are is read again: one may be wanted by now. */
export async function deleteRemoved(ctx: ServicesContext, site: Site): Promise<readonly ServiceId[]> {
  const { place, remote, fence, signal } = site;
  const rows = await queries.listServices(ctx.db, place.workspaceId, [place.environmentId]);
  const removed = rows.filter((row) => row.removedAt !== null && row.serverId === place.serverId);
  if (removed.length === 0) return [];
  const [listed] = await ask(remote, [listVolumes(labelsOf(place, 'volume'))], { fence, signal });
  const names = new Set(listed ? readVolumes(listed).map(({ name }) => name) : []);
  const volumes = removed.map(({ id }) => serviceVolume(id)).filter((name) => names.has(name));
  const calls = [
    ...removed.map(({ id }) => removeContainer(serviceContainer(id))),
    ...volumes.map((name) => removeVolume(name)),
  ];
  await ask(remote, calls, { fence, signal });
  const ids = removed.map(({ id }) => id);
  await queries.forgetRemoved(ctx.db, place.workspaceId, ids);
  return ids;
}
