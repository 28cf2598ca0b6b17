/** The end of containers: stopped as they asked for it, started again where they are wanted back, or taken away. */
import { ask } from '../../adapters/docker/ask.ts';
import { removeContainer, startContainer, stopContainer } from '../../adapters/docker/containers.ts';
import type { Call } from '../../adapters/docker/docker.ts';
import { listImages, readImages, removeImage } from '../../adapters/docker/images.ts';
import { labelsOf, type Site } from '../environments/place.ts';

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

/**
 * The same containers as before, at the same addresses. Docker goes through with a stop although nobody waits for it any
 * more: one that still runs may be about to be killed, so its stop is brought to its end first.
 */
export async function startAgain(site: Site, names: readonly string[], stopSeconds: number): Promise<void> {
  const stopped = names.map((name) => stopContainer(name, stopSeconds));
  await send(site, [...stopped, ...names.map((name) => startContainer(name))]);
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

/** What is left of old releases, in one round trip. An image that runs, or that another tag names, refuses by itself. */
export async function clearAway(
  site: Site,
  { containers, images }: { readonly containers: readonly string[]; readonly images: readonly string[] },
): Promise<void> {
  const stopped = containers.flatMap((name) => [stopContainer(name, 5), removeContainer(name)]);
  await send(site, [...stopped, ...images.map((tag) => removeImage(tag))]);
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
