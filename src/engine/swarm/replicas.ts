/**
 * The replicas of environments on a cluster. Each is a Swarm service of its own with one task: it keeps its name and its port
 * wherever Swarm brings it, and can be stopped, started and removed like a container.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../../adapters/docker/docker.ts';
import {
  letServiceGo,
  listServices,
  listTasks,
  readServices,
  readTasks,
  removeService,
  type SwarmService,
  type SwarmTask,
  scaleService,
} from '../../adapters/docker/swarm-services.ts';
import { second } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId } from '../../ids.ts';
import { askHost } from '../docker-host.ts';
import type { Endpoint, Instance, InstanceState } from '../engine.ts';
import { labelsOf } from '../placement.ts';
import { type Cluster, type ClusterServer, serversUp } from './cluster.ts';

export interface Replica {
  readonly service: SwarmService;
  /** The newest. Null where Swarm has made none yet, or it is stopped. */
  readonly task: SwarmTask | null;
  /** What ended by itself or did not come to a start, the newest first; Swarm remembers the last few. */
  readonly failed: readonly SwarmTask[];
}

/** Of this environment. */
export function replicasOf(cluster: Cluster): Promise<Replica[]> {
  return replicasWith(cluster, labelsOf(cluster.placement, 'app'));
}

export async function replicasWith(
  cluster: Cluster,
  labels: Readonly<Record<string, string>>,
): Promise<Replica[]> {
  const { services, tasks } = await lookAt(cluster, labels);
  return replicasFrom(services, tasks);
}

export function replicasFrom(services: readonly SwarmService[], tasks: readonly SwarmTask[]): Replica[] {
  const ofServices = Map.groupBy(tasks, ({ serviceId }) => serviceId);
  return services.map((service) => {
    const own = ofServices.get(service.id) ?? [];
    return {
      service,
      task: own.find(({ desiredState }) => isWanted(desiredState)) ?? null,
      failed: own.filter(({ state }) => state === 'failed' || state === 'rejected'),
    };
  });
}

async function lookAt(cluster: Cluster, labels: Readonly<Record<string, string>>) {
  const [listed, tasked] = await askHost(await cluster.manager(), [listServices(labels), listTasks(labels)]);
  if (!listed || !tasked) throw new Error('Docker left a question without an answer');
  return { services: readServices(listed), tasks: readTasks(tasked) };
}

/** `ready`: it waits for the pause after a failure. */
function isWanted(desiredState: string): boolean {
  return desiredState === 'running' || desiredState === 'ready';
}

export function serverOf(
  { servers }: Pick<Cluster, 'servers'>,
  task: SwarmTask | null,
): ClusterServer | undefined {
  return task ? servers.find(({ nodeId }) => nodeId === task.nodeId) : undefined;
}

export function instanceOf({ service, task }: Replica): Instance {
  return {
    name: service.name,
    process: service.labels['slipway.process'] ?? '',
    deploymentId: (service.labels['slipway.deployment'] ?? '') as DeploymentId,
    address: null,
    // The service of a cron process keeps the task that has ended.
    isRunning: service.runsOnce ? task?.state === 'running' : service.replicas > 0,
  };
}

/** In the words of containers, which those who compare know. */
export function stateOf(cluster: Pick<Cluster, 'servers'>, replica: Replica): InstanceState {
  const { service, task } = replica;
  const isRunning = task?.state === 'running';
  return {
    name: service.name,
    id: task?.containerId ?? '',
    labels: service.labels,
    status: isRunning ? 'running' : statusOf(replica),
    exitCode: task?.exitCode ?? 0,
    isOutOfMemory: false,
    restarts: crashesOf(replica),
    startedAt: isRunning ? task.at : null,
    finishedAt: null,
    pid: 0,
    address: isRunning ? (serverOf(cluster, task)?.address ?? null) : null,
    image: '',
    ...(service.publishedPort !== null && { port: service.publishedPort }),
  };
}

/** Of those that ended by themselves. */
function crashesOf({ failed }: Replica): number {
  return failed.filter(isCrash).length;
}

/**
 * What was rejected, or had no container, was never the app's own fault: its server lacked the image or the network, as one that
 * has just joined may, or was started again in between.
 */
export function isCrash({ state, containerId }: SwarmTask): boolean {
  return state === 'failed' && containerId !== '';
}

function statusOf(replica: Replica): InstanceState['status'] {
  const { service, task } = replica;
  if (!task || service.replicas === 0) return 'exited';
  return crashesOf(replica) > 0 && task.state !== 'running' ? 'restarting' : 'created';
}

/** Where those of these names that run answer at this moment, but for those on a server that is about to be emptied. */
export async function endpointsNow(
  cluster: Cluster,
  endpoints: readonly Pick<Endpoint, 'name'>[],
): Promise<Endpoint[]> {
  if (endpoints.length === 0) return [];
  const names = new Set(endpoints.map(({ name }) => name));
  const staying = new Set((await serversUp(cluster, 'active')).map(({ nodeId }) => nodeId));
  return (await replicasOf(cluster)).flatMap((replica) => {
    const { service, task } = replica;
    const server = serverOf(cluster, task);
    if (!names.has(service.name) || task?.state !== 'running' || service.publishedPort === null) return [];
    if (!server || !staying.has(server.nodeId)) return [];
    return [{ name: service.name, address: server.address, port: service.publishedPort }];
  });
}

/** What runs once is started by its timers alone. */
export function scale(cluster: Cluster, names: readonly string[], to: 0 | 1): Promise<void> {
  return change(cluster, names, ({ service }) => {
    const { replicas, runsOnce } = service;
    return replicas === to || (runsOnce && to === 1) ? null : scaleService(service, to);
  });
}

/** Swarm places within a moment; what it cannot place on the server that was chosen, it places on another then. */
const placedMs = 5 * second;

/** Once they are placed, they may be started anew anywhere. What has a volume stays with it. */
export async function letGo(cluster: Cluster, names: readonly string[]): Promise<void> {
  const held = ({ service }: Replica) =>
    names.includes(service.name) && service.isOnOneNode && !service.hasVolumes;
  const until = performance.now() + placedMs;
  const isPlaced = ({ task }: Replica) => task !== null && task.nodeId !== '';
  while (!(await replicasOf(cluster)).filter(held).every(isPlaced) && performance.now() < until)
    await sleep(50, undefined, { signal: cluster.signal });
  await change(cluster, names, (replica) => (held(replica) ? letServiceGo(replica.service) : null));
}

/** Of those that are wrong. Somebody else's change between the look and ours is met by another look. */
export async function change(
  cluster: Cluster,
  names: readonly string[],
  callFor: (replica: Replica) => Call | null,
): Promise<void> {
  const manager = await cluster.manager();
  for (let tries = 0; ; tries += 1) {
    const named = (await replicasOf(cluster)).filter(({ service }) => names.includes(service.name));
    const calls = named.flatMap((replica) => callFor(replica) ?? []);
    if (calls.length === 0) return;
    try {
      await askHost(manager, calls);
    } catch (error) {
      const isStale = error instanceof Fault && /out of sequence/.test(error.evidence ?? '');
      if (!isStale || tries >= 5) throw error;
      await sleep(200, undefined, { signal: cluster.signal });
    }
  }
}

const ended = new Set(['complete', 'shutdown', 'failed', 'rejected', 'remove', 'orphaned']);

/**
 * Scaled to none, and gone: Swarm answers before a container has ended, and who starts the next on its volume must not meet it.
 * One on a server that is away is not waited for.
 */
export async function stopReplicas(
  cluster: Cluster,
  names: readonly string[],
  stopSeconds: number,
): Promise<void> {
  await scale(cluster, names, 0);
  const until = performance.now() + stopSeconds * second + stoppedMs;
  for (;;) {
    const left = (await tasksOf(cluster, names)).filter(({ state }) => !ended.has(state));
    if (left.length === 0) return;
    if (performance.now() > until)
      throw new Fault('remote_timeout', 'Swarm has not stopped the containers of the environment.', {
        evidence: left.map(({ nodeId, state }) => `${state} on node ${nodeId}`).join('\n'),
      });
    await sleep(200, undefined, { signal: cluster.signal });
  }
}

/** Beyond the time that a container has to end by itself. */
const stoppedMs = 60 * second;

/** But for those on a server that is away. */
async function tasksOf(cluster: Cluster, names: readonly string[]): Promise<SwarmTask[]> {
  const { services, tasks } = await lookAt(cluster, labelsOf(cluster.placement, 'app'));
  const ids = new Set(services.filter(({ name }) => names.includes(name)).map(({ id }) => id));
  const up = new Set((await serversUp(cluster)).map(({ nodeId }) => nodeId));
  return tasks.filter(({ serviceId, nodeId }) => ids.has(serviceId) && (nodeId === '' || up.has(nodeId)));
}

/** Whoever has not ended by then is not about to be forgotten. */
const restMs = 20 * second;

/** Swarm forgets what has ended four times a second. */
const forgetsMs = 300;

/**
 * Stopped first, and removed when their tasks are at rest: where Swarm forgets a task in the same moment in which its service is
 * removed, the leader's Docker crashes (seen with 26.1.5), and every container of that server ends with it.
 */
export async function removeReplicas(cluster: Cluster, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await scale(cluster, names, 0);
  const until = performance.now() + restMs;
  let before: readonly SwarmTask[] | undefined;
  for (;;) {
    const tasks = await tasksOf(cluster, names);
    if (areAtRest(tasks, before) || performance.now() > until) break;
    before = tasks;
    await sleep(forgetsMs, undefined, { signal: cluster.signal });
  }
  await askHost(await cluster.manager(), names.map(removeService));
}

/** What is left is what Swarm remembers of failures, and it forgets none of them any more. */
export function areAtRest(tasks: readonly SwarmTask[], before?: readonly SwarmTask[]): boolean {
  if (tasks.length === 0) return true;
  const isAtRest = ({ state, desiredState }: SwarmTask) => ended.has(state) && desiredState === 'shutdown';
  return tasks.every(isAtRest) && before?.length === tasks.length;
}
