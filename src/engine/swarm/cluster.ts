/**
 * A cluster as one step of work on an environment has it in hand. What Swarm is told, it is told through a manager with a
 * majority; what the proxies are told, each of them has to be, but for those of servers that Swarm itself calls down.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { second } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { ServerId } from '../../ids.ts';
import { once } from '../../once.ts';
import type { Capacity } from '../capacity.ts';
import type { DockerHost } from '../docker-host.ts';
import type { Placement } from '../placement.ts';
import { nodesSeenBy, noQuorum } from './nodes.ts';

export interface ClusterServer {
  readonly serverId: ServerId;
  readonly name: string;
  readonly nodeId: string;
  /** By which the other members reach it. */
  readonly address: string;
  readonly host: DockerHost;
}

export interface Cluster {
  readonly placement: Placement;
  readonly signal: AbortSignal;
  /** Where images are built, and commands run once. */
  readonly home: DockerHost;
  readonly servers: readonly ClusterServer[];
  /** Of the smallest: a replica may come to run on any. */
  readonly capacity: Capacity;
  /** Whether the kernels of all members can encrypt an overlay network. */
  readonly isEncrypted: boolean;
  /** Whether it says that a server does not answer, and not that it refuses. */
  readonly isAway: (error: unknown) => boolean;
  /** Asked once; who is up is what changes. */
  readonly manager: () => Promise<DockerHost>;
}

/** Managers come first in `servers`, the leader before all. `electionMs`: how long they may need to choose one. */
export function clusterOf(about: Omit<Cluster, 'manager'>, electionMs = 0): Cluster {
  return { ...about, manager: once(() => findManager(about, electionMs)) };
}

/** Who has not answered by then keeps nobody waiting: the next is asked as well. */
const answeredMs = 2 * second;
/** A manager without a leader is asked again, and soon; one asks a leader that is gone for longer than that. */
const electedMs = 500;

async function findManager(
  { servers, isAway, signal }: Omit<Cluster, 'manager'>,
  electionMs: number,
): Promise<DockerHost> {
  const until = performance.now() + electionMs;
  const ask = async ({ host }: ClusterServer) => {
    try {
      for (;;) {
        const isLast = performance.now() >= until;
        if (await nodesSeenBy(host, isLast ? undefined : answeredMs)) return host;
        if (isLast) return undefined;
        await sleep(electedMs, undefined, { signal });
      }
    } catch (error) {
      if (!isAway(error)) throw error;
      return undefined;
    }
  };
  const asked: Promise<DockerHost | undefined>[] = [];
  for (const server of servers) {
    asked.push(ask(server));
    const late = sleep(answeredMs, undefined, { ref: false });
    const found = await Promise.race([firstOf(asked), late]);
    if (found) return found;
  }
  const found = await firstOf(asked);
  if (!found) throw noQuorum();
  return found;
}

/** The first that is one; undefined when all have ended without. */
async function firstOf<T>(all: readonly Promise<T | undefined>[]): Promise<T | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  for (const each of all) each.then((value) => value && resolve(value), reject);
  Promise.all(all).then(() => resolve(undefined), reject);
  return promise;
}

/** Those that Swarm does not call down. Also one that runs nothing at the moment takes visitors; only those that are active run replicas for them. */
export async function serversUp(cluster: Cluster, which: 'all' | 'active' = 'all'): Promise<ClusterServer[]> {
  const nodes = await nodesSeenBy(await cluster.manager());
  if (!nodes) throw noQuorum();
  const wanted = nodes.filter(
    ({ isDown, availability }) => !isDown && (which === 'all' || availability === 'active'),
  );
  const up = new Set(wanted.map(({ id }) => id));
  return cluster.servers.filter(({ nodeId }) => up.has(nodeId));
}

/** Swarm needs this long to see that a server is gone. */
const noticedMs = 30 * second;

/**
 * On each server that is up, side by side. One that goes meanwhile is left out once Swarm says so, and catches up when it is
 * back; one that only we do not reach still takes visitors, so there is no going on without it.
 */
export async function onServersUp<T>(
  cluster: Cluster,
  work: (host: DockerHost, server: ClusterServer) => Promise<T>,
): Promise<T[]> {
  const servers = await serversUp(cluster);
  const ends = await Promise.allSettled(servers.map((server) => work(server.host, server)));
  const done: T[] = [];
  for (const [index, end] of ends.entries()) {
    const server = servers[index];
    if (end.status === 'fulfilled') done.push(end.value);
    else if (!server || !cluster.isAway(end.reason) || !(await goesDown(cluster, server)))
      throw named(server, end.reason);
  }
  return done;
}

/** Most of them do not answer at all. */
const reachedMs = 5 * second;

/**
 * What Swarm calls down may take visitors all the same: it was cut off for a moment, or those were who choose the leader. Where
 * `isFit` says so within seconds, the work is done there as well. What fails is no failure of the whole: it catches up once Swarm
 * has it back.
 */
export async function onServersDown(
  cluster: Cluster,
  isFit: (host: DockerHost) => Promise<boolean>,
  work: (host: DockerHost) => Promise<unknown>,
): Promise<void> {
  const up = new Set((await serversUp(cluster)).map(({ nodeId }) => nodeId));
  const down = cluster.servers.filter(({ nodeId }) => !up.has(nodeId));
  const tried = down.map(async ({ host }) => {
    const late = AbortSignal.timeout(reachedMs);
    try {
      if (await isFit({ ...host, signal: AbortSignal.any([host.signal, late]) })) await work(host);
    } catch (error) {
      cluster.signal.throwIfAborted();
      if (!(error instanceof Fault) && !late.aborted) throw error;
    }
  });
  await Promise.all(tried);
}

async function goesDown(cluster: Cluster, { nodeId }: ClusterServer): Promise<boolean> {
  const until = performance.now() + noticedMs;
  for (;;) {
    if (!(await serversUp(cluster)).some((each) => each.nodeId === nodeId)) return true;
    if (performance.now() > until) return false;
    await sleep(second, undefined, { signal: cluster.signal });
  }
}

function named(server: ClusterServer | undefined, error: unknown): unknown {
  if (!(error instanceof Fault) || !server) return error;
  const { code, message, hint, evidence } = error;
  return new Fault(code, `${server.name}: ${message}`, {
    ...(hint !== undefined && { hint }),
    ...(evidence !== undefined && { evidence }),
    cause: error,
  });
}
