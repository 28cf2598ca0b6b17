/** Everything of an environment off a server: its front, containers, network and images. Its data only where that is said. */

import { listImages, readImages, referencesOf, removeImage } from '../../adapters/docker/images.ts';
import { removeNetwork } from '../../adapters/docker/networks.ts';
import { listVolumes, readVolumes, removeVolume } from '../../adapters/docker/volumes.ts';
import { removeFront } from '../../adapters/proxy/front-changes.ts';
import { askHost, askOne, type DockerHost } from '../docker-host.ts';
import { bridgeName, labelsOf } from '../placement.ts';
import { removeCrons } from './crons.ts';
import { listInstances } from './inspect.ts';
import { removeInstances } from './instances.ts';
import { removeServices } from './services.ts';

const stopSeconds = 10;

export async function takeDown(
  host: DockerHost,
  { deleteData }: { readonly deleteData: boolean },
): Promise<void> {
  const { placement } = host;
  await removeCrons(host);
  await removeFront(host, placement.environmentId);
  const instances = await listInstances(host);
  await removeInstances(
    host,
    instances.map(({ name }) => name),
    stopSeconds,
  );
  await removeServices(host, { deleteData });
  const images = readImages(await askOne(host, listImages(labelsOf(placement, 'image'))));
  await askHost(host, [
    ...images.flatMap(referencesOf).map(removeImage),
    removeNetwork(bridgeName(placement)),
  ]);
  if (!deleteData) return;
  const volumes = readVolumes(await askOne(host, listVolumes(labelsOf(placement, 'volume'))));
  await askHost(
    host,
    volumes.map(({ name }) => removeVolume(name)),
  );
}
