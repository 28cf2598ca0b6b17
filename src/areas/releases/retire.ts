/** The end of containers: stopped as they asked for it, started again where they are wanted back, or taken away. */
import { ask } from '../../adapters/docker/ask.ts';
import { removeContainer, startContainer, stopContainer } from '../../adapters/docker/containers.ts';
import type { Call } from '../../adapters/docker/docker.ts';
import { listImages, readImages, removeImage } from '../../adapters/docker/images.ts';
import { labelsOf, type Site } from './place.ts';

export async function stopContainers(
  site: Site,
  names: readonly string[],
  stopSeconds: number,
): Promise<void> {
  await send(
    site,
    names.map((name) => stopContainer(name, stopSeconds)),
  );
}

/** The same containers as before, at the same addresses. */
export async function startAgain(site: Site, names: readonly string[]): Promise<void> {
  await send(
    site,
    names.map((name) => startContainer(name)),
  );
}

export async function removeContainers(
  site: Site,
  names: readonly string[],
  stopSeconds: number,
): Promise<void> {
  await send(
    site,
    names.flatMap((name) => [stopContainer(name, stopSeconds), removeContainer(name)]),
  );
}

/** Of this environment alone, and never one that is kept. An image that runs refuses by itself. */
export async function removeOldImages(site: Site, keep: ReadonlySet<string>): Promise<number> {
  const { remote, fence, signal, place } = site;
  const [listed] = await ask(remote, [listImages(labelsOf(place, 'image'))], { fence, signal });
  if (!listed) throw new Error('Docker left a question without an answer');
  const old = readImages(listed)
    .flatMap(({ tags }) => tags)
    .filter((tag) => !keep.has(tag));
  await send(
    site,
    old.map((tag) => removeImage(tag)),
  );
  return old.length;
}

async function send({ remote, fence, signal }: Site, calls: readonly Call[]): Promise<void> {
  if (calls.length > 0) await ask(remote, calls, { fence, signal });
}
