/**
 * Containers that Swarm has forgotten. A server that was restarted while a service was removed may keep what had ended of it: no
 * task stands for it any more, so Swarm never takes it away, and it keeps its image. Those that run are not meant: Swarm stops them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ListedContainer,
  listContainers,
  readContainers,
  removeContainer,
} from '../../adapters/docker/containers.ts';
import { listTasks, readTasks } from '../../adapters/docker/swarm-services.ts';
import { second } from '../../clock.ts';
import type { DeploymentId } from '../../ids.ts';
import { askHost, askOne, type DockerHost } from '../docker-host.ts';
import type { Survey } from '../engine.ts';
import { labelsOf } from '../placement.ts';
import { type Cluster, onServersUp } from './cluster.ts';

/** One that is about to be removed by Swarm is gone by then. */
const goneMs = 5 * second;

interface Forgotten {
  readonly host: DockerHost;
  readonly container: ListedContainer;
}

/** Of every environment, as what is left behind of a release. */
export async function surveyForgotten(cluster: Cluster): Promise<Survey['instances']> {
  const found = await forgottenWith(cluster, { slipway: 'app' });
  return found.map(({ container: { name, labels } }) => ({
    name,
    process: labels['slipway.process'] ?? '',
    deploymentId: (labels['slipway.deployment'] ?? '') as DeploymentId,
    environmentId: labels['slipway.environment'] ?? '',
    address: null,
    isRunning: false,
  }));
}

/** Of this environment. */
export async function removeForgotten(cluster: Cluster): Promise<void> {
  const found = await forgottenWith(cluster, labelsOf(cluster.placement, 'app'));
  await Promise.all(found.map(({ host, container }) => askHost(host, [removeContainer(container.id)])));
}

async function forgottenWith(
  cluster: Cluster,
  labels: Readonly<Record<string, string>>,
): Promise<Forgotten[]> {
  const first = await withoutTask(cluster, labels);
  if (first.length === 0) return [];
  await sleep(goneMs, undefined, { signal: cluster.signal });
  const ids = new Set(first.map(({ container }) => container.id));
  return (await withoutTask(cluster, labels)).filter(({ container }) => ids.has(container.id));
}

/** The containers before the tasks: what is created in between has its task already. */
async function withoutTask(cluster: Cluster, labels: Readonly<Record<string, string>>): Promise<Forgotten[]> {
  const seen = await onServersUp(cluster, async (host) => {
    const all = readContainers(await askOne(host, listContainers(labels)));
    return all.filter(({ status }) => status !== 'running').map((container) => ({ host, container }));
  });
  const ended = seen.flat().filter(({ container }) => taskOf(container) !== undefined);
  if (ended.length === 0) return [];
  const tasks = readTasks(await askOne(await cluster.manager(), listTasks(labels)));
  const known = new Set(tasks.map(({ id }) => id));
  return ended.filter(({ container }) => !known.has(taskOf(container) ?? ''));
}

function taskOf({ labels }: ListedContainer): string | undefined {
  return labels['com.docker.swarm.task.id'];
}
