/**
 * A replica goes back to a server that has come back: Swarm moves nothing that runs, and the others would do its work until the next
 * deployment. Nobody notices: its last requests end first, and it gets new ones when it is well where it went.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { moveService, moveServiceBack } from '../../adapters/docker/swarm-services.ts';
import { minute, second } from '../../clock.ts';
import type { Front, HealthCheck } from '../engine.ts';
import type { Cluster } from './cluster.ts';
import { ensureImages } from './images.ts';
import { nodesOf, type SwarmNode } from './nodes.ts';
import { drain, leaveSeconds, restoreFront } from './proxies.ts';
import { change, endpointsNow, letGo, type Replica, replicasOf } from './replicas.ts';
import { mostFailures, waitHealthy } from './wait-healthy.ts';

/** One that comes and goes is left alone. */
const settledMs = 30 * second;
/** What could not be moved by then waits for the next deployment. */
const givenUpMs = 10 * minute;
/** Beyond what the old one needs to end: until Swarm has made the new one. */
const movedMs = 20 * second;

export interface Move {
  readonly replica: Replica;
  readonly nodeId: string;
}

type Node = Pick<SwarmNode, 'id' | 'isUp' | 'isDown' | 'availability' | 'changedAt'>;

/** Of one release: from the server with the most of them to that with the fewest, where these are two apart. */
export function nextMove(nodes: readonly Node[], replicas: readonly Replica[], now: Date): Move | undefined {
  // A leader that was just chosen has not heard of all.
  if (nodes.some(({ isUp, isDown }) => !isUp && !isDown)) return undefined;
  const movable = replicas.filter(({ service }) => !service.runsOnce && !service.hasVolumes);
  // What is stopped, or on its way, is in somebody's hands.
  if (movable.some(({ service, task }) => service.isOnOneNode || task?.state !== 'running')) return undefined;
  const counted = nodes
    .filter(({ isUp, availability }) => isUp && availability === 'active')
    .map((node) => ({ node, on: movable.filter(({ task }) => task?.nodeId === node.id) }))
    .sort((one, other) => one.on.length - other.on.length);
  const most = counted.at(-1);
  const fewest = counted.find(({ node }) => isBack(node, now) && !hasRefused(node, movable));
  const replica = most?.on.at(-1);
  if (!fewest || !most || !replica || most.on.length - fewest.on.length < 2) return undefined;
  return { replica, nodeId: fewest.node.id };
}

function isBack({ changedAt }: Node, now: Date): boolean {
  const sinceMs = now.getTime() - changedAt.getTime();
  return sinceMs >= settledMs && sinceMs <= givenUpMs;
}

/** What it did not take once is not tried there again, until the next deployment. */
function hasRefused({ id }: Node, replicas: readonly Replica[]): boolean {
  return replicas.some(({ service }) => service.refusedBy.includes(id));
}

/** The names of some that would move. */
export async function unevenOf(cluster: Cluster, replicas: readonly Replica[]): Promise<string[]> {
  const nodes = await nodesOf(await cluster.manager());
  const releases = Map.groupBy(replicas, ({ service }) => service.labels['slipway.deployment']);
  return [...releases.values()].flatMap(
    (each) => nextMove(nodes, each, new Date())?.replica.service.name ?? [],
  );
}

/** One of them: what else is wanted of the environment meanwhile does not wait for all. */
export async function evenOut(cluster: Cluster, front: Front, check: HealthCheck): Promise<void> {
  const next = nextMove(await nodesOf(await cluster.manager()), await replicasOf(cluster), new Date());
  if (!next) return;
  // A server that has come back may lack it.
  await ensureImages(cluster);
  const { name, labels } = next.replica.service;
  const others = front.endpoints.filter((each) => each.name !== name);
  if (others.length < front.endpoints.length) {
    if ((await endpointsNow(cluster, others)).length === 0) return;
    await restoreFront(cluster, { ...front, endpoints: others });
    await drain(cluster, [name], leaveSeconds);
  }
  await moveTo(cluster, next, check.run.stopSeconds);
  const instances = [{ name, process: labels['slipway.process'] ?? '', address: '' }];
  await waitHealthy(cluster, { ...check, instances });
  await restoreFront(cluster, front);
}

/** Stopped, and started on that node; where it does not come to run there, on the one that it left. */
async function moveTo(cluster: Cluster, { replica, nodeId }: Move, stopSeconds: number): Promise<void> {
  const { name } = replica.service;
  await change(cluster, [name], ({ service }) => moveService(service, nodeId));
  const from = replica.task?.nodeId ?? '';
  if (!(await comesToRun(cluster, { replica, nodeId }, stopSeconds)) && from !== '')
    await change(cluster, [name], ({ service }) => moveServiceBack(service, from, nodeId));
  await letGo(cluster, [name]);
}

async function comesToRun(cluster: Cluster, { replica, nodeId }: Move, stopSeconds: number) {
  const old = new Set(replica.failed.map(({ id }) => id));
  const until = performance.now() + stopSeconds * second + movedMs;
  while (performance.now() < until) {
    const now = (await replicasOf(cluster)).find(({ service }) => service.name === replica.service.name);
    if (now?.task?.nodeId === nodeId && now.task.state === 'running') return true;
    if ((now?.failed.filter(({ id }) => !old.has(id)).length ?? 0) >= mostFailures) return false;
    await sleep(200, undefined, { signal: cluster.signal });
  }
  return false;
}
