/**
 * The proxies of a cluster as one: what is said once goes to every server that takes visitors. Where one of them fails, the step
 * fails, and its undo brings the others back: all are switched, or none stays so. Who answers is said by names, and where each
 * answers is looked up: Swarm may have moved it since.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { readCertificates } from '../../adapters/proxy/certificates.ts';
import { second } from '../../clock.ts';
import type { DockerHost } from '../docker-host.ts';
import type { Endpoint, Front, Leaving, SeenCertificate, SeenFront } from '../engine.ts';
import type { ReleaseSpec } from '../release-spec.ts';
import * as traffic from '../single-server/traffic.ts';
import { type Cluster, onServersDown, onServersUp } from './cluster.ts';
import { endpointsNow } from './replicas.ts';

async function frontNow(cluster: Cluster, front: Front): Promise<Front> {
  return { ...front, endpoints: await endpointsNow(cluster, front.endpoints) };
}

/** Swarm starts what a server has lost within a minute, and a proxy takes what answers again after ten good seconds. */
const backMs = 90 * second;

/**
 * Each replica through each proxy. One that was healthy and does not answer may have lost its server since, or that server its
 * Docker: Swarm starts it again, there or elsewhere, and it is asked there. What it says itself is final.
 */
export async function prove(
  cluster: Cluster,
  serving: Front,
  endpoints: readonly Endpoint[],
  release: ReleaseSpec,
): Promise<void> {
  const until = performance.now() + backMs;
  for (;;) {
    const [front, asked] = [await frontNow(cluster, serving), await endpointsNow(cluster, endpoints)];
    try {
      await onServersUp(cluster, (host) => traffic.prove(host, front, asked, release));
      return;
    } catch (error) {
      if (!traffic.isUnanswered(error) || performance.now() > until) throw error;
    }
    await sleep(second, undefined, { signal: cluster.signal });
  }
}

/** Together: while the first is drained the last is switched, and all that leave run until the slowest has none of theirs. */
export async function switchTo(
  cluster: Cluster,
  front: Front,
  leaving?: Leaving,
): Promise<ReadonlyMap<string, number>> {
  const now = await frontNow(cluster, front);
  const onHost = (host: DockerHost) => traffic.switchTo(host, now, leaving);
  const [left] = await Promise.all([
    onServersUp(cluster, onHost),
    // One that is cut off from the others as well goes on with what it has.
    onServersDown(cluster, (host) => traffic.reachesAll(host, now), onHost),
  ]);
  return added(left);
}

export async function drain(
  cluster: Cluster,
  names: readonly string[],
  drainSeconds: number,
): Promise<ReadonlyMap<string, number>> {
  return added(await onServersUp(cluster, (host) => traffic.drain(host, names, drainSeconds)));
}

function added(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const [name, count] of all.flatMap((each) => [...each])) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
}

/** How long the last requests of replicas that are about to go to another server are waited for. */
export const leaveSeconds = 30;

/** Where none of those who should answer does at this moment, requests wait for one. */
export async function restoreFront(cluster: Cluster, front: Front): Promise<void> {
  const now = await frontNow(cluster, front);
  const isWaiting = front.endpoints.length > 0 && now.endpoints.length === 0;
  await onServersUp(cluster, (host) =>
    isWaiting ? traffic.holdRequests(host, now) : traffic.restoreFront(host, now),
  );
  const answering = new Set(now.endpoints.map(({ name }) => name));
  const leaving = front.endpoints.map(({ name }) => name).filter((name) => !answering.has(name));
  await drain(cluster, leaving, leaveSeconds);
}

export async function holdRequests(cluster: Cluster, front: Front): Promise<void> {
  const now = await frontNow(cluster, front);
  await onServersUp(cluster, (host) => traffic.holdRequests(host, now));
}

export async function onProxies(cluster: Cluster, work: (host: DockerHost) => Promise<unknown>) {
  await onServersUp(cluster, work);
}

/** Those that every proxy has, and shows alike. */
export async function commonCertificates(cluster: Cluster): Promise<SeenCertificate[]> {
  const [first = [], ...others] = await onServersUp(cluster, (host) => readCertificates(host));
  return first.filter((each) => others.every((other) => other.some((seen) => isDeepStrictEqual(seen, each))));
}

/** One of each environment: what the first proxy has, which agrees only where all the others have the same. */
export function commonFronts(proxies: readonly (readonly SeenFront[])[]): SeenFront[] {
  const all = Map.groupBy(proxies.flat(), ({ id }) => id);
  return [...all.values()].flatMap((seen) => {
    const [first] = seen;
    if (!first) return [];
    const isSame = seen.length === proxies.length && seen.every((each) => sameFront(each, first));
    return [{ ...first, agrees: first.agrees && isSame }];
  });
}

/** As far as it is said to all of them: what a proxy counts is its own. */
function sameFront(one: SeenFront, other: SeenFront): boolean {
  return one.agrees && isDeepStrictEqual(sorted(one.file), sorted(other.file));
}

function sorted(file: SeenFront['file']): SeenFront['file'] {
  return file && { ...file, servers: file.servers.toSorted((a, b) => a.name.localeCompare(b.name)) };
}
