/** What is on a server of environments' applications right now. */
import {
  containerLogs,
  inspectContainer,
  type ListedContainer,
  listContainers,
  memoryKills,
  readContainer,
  readContainers,
  readLogs,
  wasKilledForMemory,
} from '../../adapters/docker/containers.ts';
import { inspectImage, listImages, readImage, readImages } from '../../adapters/docker/images.ts';
import { readFronts } from '../../adapters/proxy/read-fronts.ts';
import type { DeploymentId } from '../../ids.ts';
import { askHost, askOne, type DockerHost } from '../docker-host.ts';
import type { BuiltImage, InspectedTarget, Instance, InstanceState, Survey } from '../engine.ts';
import { imageName, labelsOf, type Placement } from '../placement.ts';

export async function inspect(host: DockerHost, likelyImage: string | null): Promise<InspectedTarget> {
  const { placement } = host;
  const calls = [listContainers(labelsOf(placement, 'app')), listImages(labelsOf(placement, 'image'))];
  const likely = likelyImage === null ? [] : [inspectImage(likelyImage)];
  const [listed, replied, likelyReply] = await askHost(host, [...calls, ...likely]);
  if (!listed || !replied) throw new Error('Docker left a question without an answer');
  const images = readImages(replied);
  return {
    instances: readContainers(listed).map(instanceOf),
    likelyImage: likelyReply && readImage(likelyReply),
    images: images.flatMap(({ id, tags }) => tags.map((tag) => ({ name: nameOf(placement, tag), id }))),
  };
}

export async function readImageOf(host: DockerHost, id: string): Promise<BuiltImage | undefined> {
  return readImage(await askOne(host, inspectImage(id)));
}

/** What releases call an image of the environment that has this name on the server. */
export function nameOf({ environmentId }: Placement, onServer: string): string {
  return imageName(environmentId, onServer.slice(onServer.lastIndexOf(':') + 1));
}

export async function listInstances(host: DockerHost): Promise<Instance[]> {
  const listed = await askOne(host, listContainers(labelsOf(host.placement, 'app')));
  return readContainers(listed).map(instanceOf);
}

function instanceOf({ name, labels, address, status }: ListedContainer): Instance {
  return {
    name,
    process: labels['slipway.process'] ?? '',
    deploymentId: (labels['slipway.deployment'] ?? '') as DeploymentId,
    address,
    isRunning: status === 'running' || status === 'restarting',
  };
}

export async function survey(host: DockerHost, names: readonly string[]): Promise<Survey> {
  const calls = [listContainers({ slipway: 'app' }), ...names.map(inspectContainer)];
  const [listed, ...replies] = await askHost(host, calls);
  const states = replies.flatMap((reply) => readContainer(reply) ?? []);
  const { isRunning, fronts } = await readFronts(host);
  return {
    states: new Map(states.map((state) => [state.name, state])),
    instances: (listed ? readContainers(listed) : []).map((each) => ({
      ...instanceOf(each),
      environmentId: each.labels['slipway.environment'] ?? '',
    })),
    isProxyRunning: isRunning,
    fronts,
    uneven: [],
  };
}

export async function lastLines(host: DockerHost, name: string, most: number): Promise<string[]> {
  const logs = await askOne(host, containerLogs(name, most));
  return logs.status === 200 ? readLogs(logs.bytes).map(({ line }) => line) : [];
}

export async function wasOutOfMemory(
  host: DockerHost,
  { name, isOutOfMemory, startedAt }: InstanceState,
): Promise<boolean> {
  if (isOutOfMemory) return true;
  const until = Math.ceil(Date.parse(startedAt ?? '') / 1_000) || 1;
  return wasKilledForMemory(await askOne(host, memoryKills(name, until)));
}
