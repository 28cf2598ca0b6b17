/** What is on a server of an environment's application right now, and whether an image is there, in one round trip. */
import { ask } from '../../adapters/docker/ask.ts';
import { type ListedContainer, listContainers, readContainers } from '../../adapters/docker/containers.ts';
import { inspectImage, listImages, readImage, readImages } from '../../adapters/docker/images.ts';
import type { DeploymentId } from '../../ids.ts';
import { labelsOf, type Site } from '../environments/place.ts';

export interface SeenSite {
  readonly containers: readonly ListedContainer[];
  readonly image: ReturnType<typeof readImage>;
  /** Of all images of the environment. */
  readonly tags: readonly string[];
}

export async function lookAtSite({ place, remote, fence, signal }: Site, image: string): Promise<SeenSite> {
  const calls = [
    listContainers(labelsOf(place, 'app')),
    inspectImage(image),
    listImages(labelsOf(place, 'image')),
  ];
  const [listed, inspected, images] = await ask(remote, calls, { fence, signal });
  if (!listed || !inspected || !images) throw new Error('Docker left a question without an answer');
  return {
    containers: readContainers(listed),
    image: readImage(inspected),
    tags: readImages(images).flatMap(({ tags }) => tags),
  };
}

export async function listApp({ place, remote, fence, signal }: Site): Promise<ListedContainer[]> {
  const [listed] = await ask(remote, [listContainers(labelsOf(place, 'app'))], { fence, signal });
  if (!listed) throw new Error('Docker left a question without an answer');
  return readContainers(listed);
}

export function deploymentOf({ labels }: ListedContainer): DeploymentId {
  return (labels['slipway.deployment'] ?? '') as DeploymentId;
}

export function processOf({ labels }: ListedContainer): string {
  return labels['slipway.process'] ?? '';
}

export function addressesOf(containers: readonly ListedContainer[]): Set<string> {
  return new Set(containers.flatMap(({ address }) => address ?? []));
}
