/**
 * The engine for an environment that stands on a cluster: Swarm places and heals its replicas, HAProxy serves it on every member.
 * What takes one server, builds, the release command, services and volumes, is on the environment's home. Cron processes are run by
 * Swarm, when the timers of the servers say so. Owns what Swarm and the proxies are told; refuses to decide where anything runs that
 * may run anywhere: that is Swarm's.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { listContainers, readContainers } from '../../adapters/docker/containers.ts';
import { listImages, readImages, referencesOf, removeImage } from '../../adapters/docker/images.ts';
import { removeNetwork } from '../../adapters/docker/networks.ts';
import { createOverlay } from '../../adapters/docker/swarm-services.ts';
import { listVolumes, readVolumes, removeVolume } from '../../adapters/docker/volumes.ts';
import { installCertificate, removeCertificate } from '../../adapters/proxy/certificates.ts';
import { setChallengeThumbprint } from '../../adapters/proxy/challenge.ts';
import { dismiss } from '../../adapters/proxy/drain.ts';
import { moveServers, removeFront } from '../../adapters/proxy/front-changes.ts';
import { ensureProxy } from '../../adapters/proxy/proxy.ts';
import { readFronts } from '../../adapters/proxy/read-fronts.ts';
import { minute, second } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { askHost, askOne, type DockerHost } from '../docker-host.ts';
import type { InspectedTarget, Leftovers, Survey, Target } from '../engine.ts';
import { bridgeName, labelsOf, networkName } from '../placement.ts';
import { removeCrons, setCrons } from '../single-server/crons.ts';
import { lastLines, nameOf, wasOutOfMemory } from '../single-server/inspect.ts';
import { removeServices } from '../single-server/services.ts';
import { singleServer } from '../single-server/single-server.ts';
import { refuseRequests, removeFromProxy } from '../single-server/traffic.ts';
import { type Cluster, onServersUp, serversUp } from './cluster.ts';
import { evenOut, unevenOf } from './even-out.ts';
import { removeForgotten, surveyForgotten } from './forgotten.ts';
import { ensureImages, forgetImages, isOurReference, removeCopies } from './images.ts';
import * as proxies from './proxies.ts';
import {
  instanceOf,
  isCrash,
  removeReplicas,
  replicasOf,
  replicasWith,
  scale,
  serverOf,
  stateOf,
  stopReplicas,
} from './replicas.ts';
import { startLost } from './start-lost.ts';
import { startProcesses, startWeb } from './start-release.ts';
import { waitHealthy } from './wait-healthy.ts';

export function swarm(cluster: Cluster): Target {
  const home = singleServer(cluster.home);
  const { environmentId } = cluster.placement;
  const onProxies = (work: Parameters<typeof proxies.onProxies>[1]) => proxies.onProxies(cluster, work);
  return {
    ...home,
    inspect: (likelyImage) => inspect(cluster, home, likelyImage),
    instances: async () => (await replicasOf(cluster)).map(instanceOf),
    startWeb: (start) => startWeb(cluster, start),
    startProcesses: (start) => startProcesses(cluster, start),
    waitHealthy: (check) => waitHealthy(cluster, check),
    runReleaseCommand: async (start, command, output) => {
      await ensureOverlay(cluster);
      await home.runReleaseCommand(start, command, output);
    },
    ensureImages: () => ensureImages(cluster),
    startLost: () => startLost(cluster),
    evenOut: (front, check) => evenOut(cluster, front, check),
    stopInstances: async (names, stopSeconds, inProxy = []) => {
      if (inProxy.length > 0) await onProxies((host) => dismiss(host, environmentId, inProxy));
      await stopReplicas(cluster, names, stopSeconds);
    },
    startAgain: (names) => scale(cluster, names, 1),
    removeInstances: async (names) => {
      await removeReplicas(cluster, names);
      await removeForgotten(cluster);
    },
    cleanUp: (left) => cleanUp(cluster, home, left),
    setCrons: async (run, deploymentId) => {
      const start = (swarmService: string) => ({ swarmService });
      await onServersUp(cluster, (host) => setCrons(host, run, deploymentId, start));
    },
    removeCrons: () => removeCronsOf(cluster),
    takeDown: (options) => takeDown(cluster, options),
    ensureProxy: async () =>
      (await onServersUp(cluster, ({ remote, signal }) => ensureProxy(remote, signal))).includes(true),
    prove: (front, endpoints, release) => proxies.prove(cluster, front, endpoints, release),
    switchTo: (front, leaving) => proxies.switchTo(cluster, front, leaving),
    holdRequests: (front) => proxies.holdRequests(cluster, front),
    drain: (names, drainSeconds) => proxies.drain(cluster, names, drainSeconds),
    removeFromProxy: (names) => onProxies((host) => removeFromProxy(host, names)),
    refuseRequests: (front) => onProxies((host) => refuseRequests(host, front)),
    restoreFront: (front) => proxies.restoreFront(cluster, front),
    moveServers: (id, endpoints) => onProxies((host) => moveServers(host, id, endpoints)),
    removeFront: () => onProxies((host) => removeFront(host, environmentId)),
    installCertificate: (certificate) => onProxies((host) => installCertificate(host, certificate)),
    readCertificates: () => proxies.commonCertificates(cluster),
    removeCertificate: (id) => onProxies((host) => removeCertificate(host, id)),
    setChallengeThumbprint: (thumbprint) => onProxies((host) => setChallengeThumbprint(host, thumbprint)),
    applyServices: async (services, unwanted) => {
      if (services.length > 0) await ensureOverlay(cluster);
      await home.applyServices(services, unwanted);
    },
    survey: (names) => survey(cluster, names),
    lastLines: (name, most) =>
      askOfCrashed(cluster, name, [], (host, containerId) => lastLines(host, containerId, most)),
    wasOutOfMemory: (instance) =>
      askOfCrashed(cluster, instance.name, false, (host, containerId) =>
        wasOutOfMemory(host, { ...instance, name: containerId }),
      ),
  };
}

/** With the services: a server that is away has its timers still, and must find nothing to start when it is back. */
async function removeCronsOf(cluster: Cluster): Promise<void> {
  const crons = (await replicasOf(cluster)).filter(({ service }) => service.runsOnce);
  await removeReplicas(
    cluster,
    crons.map(({ service }) => service.name),
  );
  await onServersUp(cluster, removeCrons);
}

async function ensureOverlay(cluster: Cluster): Promise<void> {
  const { placement, isEncrypted } = cluster;
  const overlay = createOverlay(networkName(placement), labelsOf(placement, 'network'), { isEncrypted });
  await askHost(await cluster.manager(), [overlay]);
}

/** Images are the home's: it builds them, and the others have copies under a name of their own. */
async function inspect(cluster: Cluster, home: Target, likelyImage: string | null): Promise<InspectedTarget> {
  const { placement } = cluster;
  const listed = await askOne(cluster.home, listImages(labelsOf(placement, 'image')));
  const images = readImages(listed).flatMap(({ id, tags }) =>
    tags.filter((tag) => !isOurReference(tag)).map((tag) => ({ name: nameOf(placement, tag), id })),
  );
  return {
    instances: (await replicasOf(cluster)).map(instanceOf),
    likelyImage: likelyImage === null ? undefined : await home.readImage(likelyImage),
    images,
  };
}

async function cleanUp(cluster: Cluster, home: Target, left: Leftovers): Promise<void> {
  await removeReplicas(cluster, left.instances);
  await forgetImages(
    cluster,
    left.images.flatMap(({ id }) => id ?? []),
  );
  await home.cleanUp({ ...left, instances: [] });
  await removeCopies(cluster);
}

/**
 * On those that are up at once. A member that is away still has the front, which nobody would remove later: it is waited for, and
 * whoever cannot wait says so or takes the member out of the cluster.
 */
async function takeDown(cluster: Cluster, { deleteData }: { readonly deleteData: boolean }): Promise<void> {
  const { placement } = cluster;
  await removeCronsOf(cluster);
  await onServersUp(cluster, (host) => removeFront(host, placement.environmentId));
  await removeReplicas(
    cluster,
    (await replicasOf(cluster)).map(({ service }) => service.name),
  );
  await removeForgotten(cluster);
  await onServersUp(cluster, waitUntilGone);
  await onServersUp(cluster, async (host) => {
    const images = readImages(await askOne(host, listImages(labelsOf(placement, 'image'))));
    // Of its services there is something on its home alone; a home of before may have what nobody knows of any more.
    await removeServices(host, { deleteData });
    const volumes = deleteData
      ? readVolumes(await askOne(host, listVolumes(labelsOf(placement, 'volume'))))
      : [];
    await askHost(host, [
      ...images.flatMap(referencesOf).map(removeImage),
      ...volumes.map(({ name }) => removeVolume(name)),
      removeNetwork(bridgeName(placement)),
    ]);
  });
  const up = await serversUp(cluster);
  const away = cluster.servers.filter((each) => !up.includes(each)).map(({ name }) => name);
  if (away.length > 0)
    throw new Fault('remote_unreachable', `${away.join(', ')} of the cluster is down.`, {
      hint: 'Everything is taken off the others. Start it again, take it out of the cluster as lost, or repeat this with `force`.',
    });
  await removeOverlay(cluster);
}

const goneMs = 2 * minute;

/** Swarm removes the containers of a service that is gone when it comes to it. */
async function waitUntilGone(host: DockerHost): Promise<void> {
  const until = performance.now() + goneMs;
  for (;;) {
    const there = readContainers(await askOne(host, listContainers(labelsOf(host.placement, 'app'))));
    if (there.length === 0) return;
    if (performance.now() > until)
      throw new Fault('remote_timeout', 'Swarm has not removed the containers of the environment.', {
        evidence: there.map(({ name, status }) => `${name} ${status}`).join('\n'),
      });
    await sleep(second, undefined, { signal: host.signal });
  }
}

/** Swarm needs a moment after the last task to know that nobody uses it. */
async function removeOverlay(cluster: Cluster): Promise<void> {
  const manager = await cluster.manager();
  for (let tries = 0; ; tries += 1) {
    try {
      await askHost(manager, [removeNetwork(networkName(cluster.placement))]);
      return;
    } catch (error) {
      const isUsed = error instanceof Fault && /in use|active endpoints/.test(error.evidence ?? '');
      if (!isUsed || tries >= 60) throw error;
      await sleep(1_000, undefined, { signal: cluster.signal });
    }
  }
}

async function survey(cluster: Cluster, names: readonly string[]): Promise<Survey> {
  const replicas = await replicasWith(cluster, { slipway: 'app' });
  const wanted = replicas.filter(({ service }) => names.includes(service.name));
  const seen = await onServersUp(cluster, (host) => readFronts(host));
  return {
    states: new Map(wanted.map((replica) => [replica.service.name, stateOf(cluster, replica)])),
    instances: [
      ...replicas.map((replica) => ({
        ...instanceOf(replica),
        environmentId: replica.service.labels['slipway.environment'] ?? '',
      })),
      ...(await surveyForgotten(cluster)),
    ],
    isProxyRunning: seen.every(({ isRunning }) => isRunning),
    fronts: proxies.commonFronts(seen.map(({ fronts }) => fronts)),
    uneven: await unevenOf(cluster, wanted),
  };
}

/**
 * What was crashed is another container than the one that Swarm has started since. Where its server is away nobody can tell, and the
 * rest of the look does not wait for it.
 */
async function askOfCrashed<T>(
  cluster: Cluster,
  name: string,
  unknown: T,
  ask: (host: DockerHost, containerId: string) => Promise<T>,
): Promise<T> {
  const replica = (await replicasOf(cluster)).find(({ service }) => service.name === name);
  const task = replica?.failed.find(isCrash) ?? replica?.task ?? null;
  const server = serverOf({ servers: await serversUp(cluster) }, task);
  if (!server || !task?.containerId) return unknown;
  try {
    return await ask(server.host, task.containerId);
  } catch (error) {
    if (cluster.isAway(error)) return unknown;
    throw error;
  }
}
