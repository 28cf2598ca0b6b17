/** Everything of an environment off a server: its site, containers, network and images. Its data only where that is asked. */
import { ask } from '../../adapters/docker/ask.ts';
import {
  listContainers,
  readContainers,
  removeContainer,
  stopContainer,
} from '../../adapters/docker/containers.ts';
import { removeNetwork } from '../../adapters/docker/networks.ts';
import { listVolumes, readVolumes, removeVolume } from '../../adapters/docker/volumes.ts';
import { removeFront } from '../../adapters/proxy/fronts.ts';
import { labelsOf, networkName, type Site } from '../environments/place.ts';
import type { ServicesContext } from '../services/services.ts';
import { removeServices } from '../services/stop-services.ts';
import { removeOldImages } from './retire.ts';
import { endCrons } from './set-crons.ts';

const stopSeconds = 10;

export async function takeDown(
  ctx: ServicesContext,
  site: Site,
  { deleteData }: { readonly deleteData: boolean },
): Promise<void> {
  const { place, remote, fence, signal } = site;
  await endCrons(site);
  await removeFront(site, place.environmentId);
  const [listed] = await ask(remote, [listContainers(labelsOf(place, 'app'))], { fence, signal });
  const names = listed ? readContainers(listed).map(({ name }) => name) : [];
  const gone = names.flatMap((name) => [stopContainer(name, stopSeconds), removeContainer(name)]);
  if (gone.length > 0) await ask(remote, gone, { fence, signal });
  await removeServices(ctx, site, { deleteData });
  await removeOldImages(site, new Set());
  await ask(remote, [removeNetwork(networkName(place))], { fence, signal });
  if (deleteData) await deleteVolumes(site);
}

async function deleteVolumes({ place, remote, fence, signal }: Site): Promise<void> {
  const [listed] = await ask(remote, [listVolumes(labelsOf(place, 'volume'))], { fence, signal });
  const volumes = listed ? readVolumes(listed).map(({ name }) => removeVolume(name)) : [];
  if (volumes.length > 0) await ask(remote, volumes, { fence, signal });
}
