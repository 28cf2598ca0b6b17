/** What is on a server of environments' applications right now. */
import {
  containerLogs,
  inspectContainer,
  type ListedContainer,
  listContainers,
  readContainer,
  readContainers,
  readLogs,
} from '../../adapters/docker/containers.ts';
import { inspectImage, listImages, readImage, readImages } from '../../adapters/docker/images.ts';
import { readFronts } from '../../adapters/proxy/read-fronts.ts';
import type { DeploymentId } from '../../ids.ts';
import { askHost, askOne, type DockerHost } from '../docker-host.ts';
import type { InspectedTarget, Instance, Survey } from '../engine.ts';
import { labelsOf } from '../placement.ts';

/** In one round trip. */
export async function inspect(host: DockerHost, image: string): Promise<InspectedTarget> {
  const { placement } = host;
  const calls = [
    listContainers(labelsOf(placement, 'app')),
    inspectImage(image),
    listImages(labelsOf(placement, 'image')),
  ];
  const [listed, inspected, images] = await askHost(host, calls);
  if (!listed || !inspected || !images) throw new Error('Docker left a question without an answer');
  return {
    instances: readContainers(listed).map(instanceOf),
    image: readImage(inspected),
    tags: readImages(images).flatMap(({ tags }) => tags),
  };
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
  };
}

export async function lastLines(host: DockerHost, name: string, most: number): Promise<string[]> {
  const logs = await askOne(host, containerLogs(name, most));
  return logs.status === 200 ? readLogs(logs.bytes).map(({ line }) => line) : [];
}
