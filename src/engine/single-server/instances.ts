/** The end of containers: stopped as they asked for it, started again where they are wanted back, or removed. */
import { removeContainer, startContainer, stopContainer } from '../../adapters/docker/containers.ts';
import { listImages, pruneImages, readImages, removeImage } from '../../adapters/docker/images.ts';
import { dismissFirst } from '../../adapters/proxy/drain.ts';
import { stopUnitFirst } from '../../remote/units/units.ts';
import { askAfter, askHost, askOne, type DockerHost } from '../docker-host.ts';
import type { Leftovers } from '../engine.ts';
import { labelsOf } from '../placement.ts';
import { buildUnitOf } from './build.ts';
import { nameOf } from './inspect.ts';

export async function stopInstances(
  host: DockerHost,
  names: readonly string[],
  stopSeconds: number,
  inProxy: readonly string[] = [],
) {
  const calls = names.map((name) => stopContainer(name, stopSeconds));
  if (inProxy.length === 0) await askHost(host, calls);
  else await askAfter(host, dismissFirst(host, host.placement.environmentId, inProxy), calls);
}

/**
 * Docker goes through with a stop although nobody waits for it any more: one that still runs may be about to be killed,
 * so its stop is brought to its end first.
 */
export async function startAgain(host: DockerHost, names: readonly string[], stopSeconds: number) {
  const stopped = names.map((name) => stopContainer(name, stopSeconds));
  await askHost(host, [...stopped, ...names.map((name) => startContainer(name))]);
}

export async function removeInstances(host: DockerHost, names: readonly string[], stopSeconds: number) {
  await askHost(
    host,
    names.flatMap((name) => [stopContainer(name, stopSeconds), removeContainer(name)]),
  );
}

/**
 * An image that runs, or that another name is for, refuses by itself. One without a name was built, and its build was cut off
 * before it could be given one.
 */
export async function cleanUp(host: DockerHost, { deploymentId, instances, images }: Leftovers) {
  const { placement, fence } = host;
  const named = images.filter(({ id }) => id === null).map(({ name }) => name);
  const there =
    named.length === 0 ? [] : readImages(await askOne(host, listImages(labelsOf(placement, 'image'))));
  const old = there.flatMap(({ tags }) => tags).filter((tag) => named.includes(nameOf(placement, tag)));
  await askAfter(host, stopUnitFirst(buildUnitOf(deploymentId), fence), [
    ...instances.flatMap((name) => [stopContainer(name, 5), removeContainer(name)]),
    ...[...images.flatMap(({ id }) => id ?? []), ...old].map((image) => removeImage(image)),
    pruneImages(labelsOf(placement, 'image')),
  ]);
}
