/**
 * Replicas of a server that is gone, started before Swarm does it. A leader counts a server as down after fifteen seconds; one that
 * was chosen because the last leader is gone gives all servers twice as long, after the time that the choice took. Here the server
 * itself is asked: what Swarm has not heard of, and does not answer us either, has its replicas started elsewhere.
 */
import { startServiceAnew } from '../../adapters/docker/swarm-services.ts';
import { second } from '../../clock.ts';
import { askHost } from '../docker-host.ts';
import type { Cluster, ClusterServer } from './cluster.ts';
import { nodesOf } from './nodes.ts';
import { replicasWith, serverOf } from './replicas.ts';

/** A server that is only busy answers by then. */
const answeredMs = 5 * second;

/**
 * Of every environment, beside whatever is under way: if it was wrong, the new one runs before the old one is stopped. What has a
 * volume stays with it, and what runs once is not run twice.
 */
export async function startLost(cluster: Cluster): Promise<void> {
  const manager = await cluster.manager();
  const nodes = await nodesOf(manager);
  const silent = new Set(nodes.filter(({ isUp }) => !isUp).map(({ id }) => id));
  if (silent.size === 0) return;
  // Swarm has given up itself what it calls down: then the newest task is elsewhere.
  const held = (await replicasWith(cluster, { slipway: 'app' })).filter(
    ({ service, task }) =>
      task !== null && silent.has(task.nodeId) && !service.runsOnce && !service.isOnOneNode,
  );
  const servers = new Set(held.flatMap(({ task }) => serverOf(cluster, task) ?? []));
  const asked = [...servers].map(async (server) => ((await answers(cluster, server)) ? [] : [server.nodeId]));
  const lost = new Set((await Promise.all(asked)).flat());
  const elsewhere = held.filter(({ task }) => task !== null && lost.has(task.nodeId));
  await askHost(
    manager,
    elsewhere.map(({ service }) => startServiceAnew(service)),
  );
}

async function answers({ isAway, signal }: Cluster, { host }: ClusterServer): Promise<boolean> {
  try {
    await host.remote.run(['true'], { signal, timeoutMs: answeredMs });
    return true;
  } catch (error) {
    if (!isAway(error)) throw error;
    return false;
  }
}
