/** The end of containers: stopped as they asked for it, started again where they are wanted back, or removed. */
import { removeContainer, startContainer, stopContainer } from '../../adapters/docker/containers.ts';
import { removeImage } from '../../adapters/docker/images.ts';
import { askHost, type DockerHost } from '../docker-host.ts';

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

/** In one round trip. An image that runs, or that another tag names, refuses by itself. */
export async function cleanUp(
  host: DockerHost,
  { instances, images }: { readonly instances: readonly string[]; readonly images: readonly string[] },
) {
  const gone = instances.flatMap((name) => [stopContainer(name, 5), removeContainer(name)]);
  await askHost(host, [...gone, ...images.map((tag) => removeImage(tag))]);
}
