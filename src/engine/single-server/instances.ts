/** The end of containers: stopped as they asked for it, started again where they are wanted back, or removed. */
import { removeContainer, startContainer, stopContainer } from '../../adapters/docker/containers.ts';
import { listImages, readImages, removeImage } from '../../adapters/docker/images.ts';
import { askHost, askOne, type DockerHost } from '../docker-host.ts';
import { labelsOf } from '../placement.ts';
import { nameOf } from './inspect.ts';

export async function stopInstances(host: DockerHost, names: readonly string[], stopSeconds: number) {
  await askHost(
    host,
    names.map((name) => stopContainer(name, stopSeconds)),
  );
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

/** An image that runs, or that another name is for, refuses by itself. */
export async function cleanUp(
  host: DockerHost,
  { instances, images }: { readonly instances: readonly string[]; readonly images: readonly string[] },
) {
  const { placement } = host;
  const gone = instances.flatMap((name) => [stopContainer(name, 5), removeContainer(name)]);
  const there =
    images.length === 0 ? [] : readImages(await askOne(host, listImages(labelsOf(placement, 'image'))));
  const old = there.flatMap(({ tags }) => tags).filter((tag) => images.includes(nameOf(placement, tag)));
  await askHost(host, [...gone, ...old.map((tag) => removeImage(tag))]);
}
