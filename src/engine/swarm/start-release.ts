/** The replicas of a release, beside whatever runs there already. One that is there by its name is the same one. */
import { createOverlay, createService, type SwarmServiceSpec } from '../../adapters/docker/swarm-services.ts';
import { Fault } from '../../fault.ts';
import { forContainers, limitsOf } from '../capacity.ts';
import { askHost } from '../docker-host.ts';
import type { RunningInstance } from '../engine.ts';
import { appContainer, labelsOf, networkName, replicaPortsOf } from '../placement.ts';
import { type ReleaseStart, secretsOf, webProcess } from '../release-spec.ts';
import { common, shell } from '../single-server/start-release.ts';
import { type Cluster, type ClusterServer, serversUp } from './cluster.ts';
import { imageForMembers } from './images.ts';
import { letGo, type Replica, replicasWith, scale } from './replicas.ts';

interface WantedReplica {
  readonly name: string;
  readonly process: string;
  readonly spec: (image: string, port: () => number) => SwarmServiceSpec;
}

export function startWeb(cluster: Cluster, start: ReleaseStart): Promise<RunningInstance[]> {
  const { startCommand, replicas, port: target } = start.release.run;
  return startAll(
    cluster,
    start,
    namesOf(start, webProcess, replicas).map(({ name, replica }) => ({
      name,
      process: webProcess,
      spec: (image, port) => ({
        ...specOf(cluster, start, webProcess, replica, image),
        ...(startCommand !== null && { entrypoint: shell(startCommand) }),
        aliases: ['web'],
        published: { port: port(), target },
      }),
    })),
  );
}

/** A cron process is only made ready: the timers of the servers give it its tasks. */
export function startProcesses(cluster: Cluster, start: ReleaseStart): Promise<RunningInstance[]> {
  return startAll(
    cluster,
    start,
    start.release.run.processes.flatMap(({ name: process, kind, replicas, command }) =>
      namesOf(start, process, kind === 'cron' ? 1 : replicas).map(({ name, replica }) => ({
        name,
        process,
        spec: (image: string) => ({
          ...specOf(cluster, start, process, replica, image),
          entrypoint: shell(command),
          runsOnce: kind === 'cron',
        }),
      })),
    ),
  );
}

function namesOf({ deploymentId }: ReleaseStart, process: string, replicas: number) {
  return Array.from({ length: replicas }, (_, index) => ({
    name: appContainer(deploymentId, process, index + 1),
    replica: index + 1,
  }));
}

async function startAll(
  cluster: Cluster,
  { release, deploymentId }: ReleaseStart,
  wanted: readonly WantedReplica[],
): Promise<RunningInstance[]> {
  if (wanted.length === 0) return [];
  const image = await imageForMembers(cluster, release.imageDigest);
  const all = await replicasWith(cluster, { slipway: 'app' });
  const { environmentId } = cluster.placement;
  const there = all
    .map(({ service }) => service)
    .filter(({ labels }) => labels['slipway.environment'] === environmentId);
  const missing = wanted.filter(({ name }) => !there.some((each) => each.name === name));
  const port = freePorts(
    cluster,
    there.flatMap(({ publishedPort }) => publishedPort ?? []),
  );
  const { placement, isEncrypted } = cluster;
  const overlay = createOverlay(networkName(placement), labelsOf(placement, 'network'), { isEncrypted });
  const loads = loadsOf(await serversUp(cluster, 'active'), all, deploymentId);
  const mostMb = forContainers(cluster.capacity).memoryMb;
  const choose = release.run.spread === 'packed' ? packed : evenly;
  const services = missing.map(({ spec }) => {
    const made = spec(image, port);
    if (made.runsOnce || made.nodeId !== null) return createService(made);
    return createService({ ...made, nodeId: choose(loads, made.memoryMb, mostMb)?.nodeId ?? null });
  });
  await askHost(await cluster.manager(), [overlay, ...services], secretsOf(release));
  const names = wanted.map(({ name }) => name);
  await letGo(cluster, names);
  await scale(cluster, names, 1);
  return wanted.map(({ name, process }) => ({ name, process, address: '' }));
}

export interface Load {
  readonly nodeId: string;
  /** Replicas of this release, and of all. */
  own: number;
  all: number;
  /** The most that they may have together. */
  memoryMb: number;
}

function loadsOf(servers: readonly ClusterServer[], all: readonly Replica[], deploymentId: string): Load[] {
  return servers.map(({ nodeId }) => {
    const on = all.filter(({ task }) => task?.nodeId === nodeId).map(({ service }) => service);
    const own = on.filter(({ labels }) => labels['slipway.deployment'] === deploymentId);
    const memoryMb = on.reduce((sum, each) => sum + each.memoryMb, 0);
    return { nodeId, own: own.length, all: on.length, memoryMb };
  });
}

/** What says where the next one of so much memory is created, and has counted it there. */
type Choose = (loads: readonly Load[], memoryMb: number, mostMb: number) => Load | undefined;

/**
 * The server with the fewest of this release, and then of all. Swarm would count the release that is being replaced as well, and
 * bring most of the new one to a server that has just come back.
 */
export const evenly: Choose = (loads, memoryMb) => {
  const [first] = loads.toSorted((one, other) => one.own - other.own || one.all - other.all);
  return taken(first, memoryMb);
};

/** That with the most, as long as all that runs there could have what it may; where none has room, as above. */
export const packed: Choose = (loads, memoryMb, mostMb) => {
  const roomy = loads.filter((each) => each.memoryMb + memoryMb <= mostMb);
  const [first] = roomy.sort((one, other) => other.own - one.own || other.all - one.all);
  return first ? taken(first, memoryMb) : evenly(loads, memoryMb, mostMb);
};

function taken(load: Load | undefined, memoryMb: number): Load | undefined {
  if (!load) return undefined;
  load.own += 1;
  load.all += 1;
  load.memoryMb += memoryMb;
  return load;
}

function specOf(
  cluster: Cluster,
  start: ReleaseStart,
  process: string,
  replica: number,
  image: string,
): SwarmServiceSpec {
  const { placement, capacity } = cluster;
  const { name, labels, network, environment, stopSeconds, capabilities, volumes, ...wanted } = common(
    placement,
    start,
    process,
    replica,
  );
  const { memoryMb, cpus } = limitsOf(wanted, capacity);
  // A volume is on one server, and so is all that uses it.
  const nodeId = volumes.length > 0 ? homeNode(cluster) : null;
  return {
    name,
    image,
    labels,
    network,
    aliases: [],
    environment,
    capabilities: capabilities ?? [],
    memoryMb: memoryMb.limit,
    cpus: cpus.limit,
    stopSeconds,
    runsOnce: false,
    volumes,
    volumeLabels: labelsOf(placement, 'volume'),
    nodeId,
    published: null,
  };
}

function homeNode({ servers, placement }: Cluster): string {
  const home = servers.find(({ serverId }) => serverId === placement.serverId);
  if (home) return home.nodeId;
  throw new Fault(
    'server_not_ready',
    'The server with the volumes of the environment is not in the cluster.',
    {
      hint: 'Add it to the cluster again, or move the environment with `leaveData`.',
    },
  );
}

/** None that is in use: of two releases side by side each has its own. */
function freePorts({ placement }: Cluster, taken: readonly number[]): () => number {
  const free = replicaPortsOf(placement).filter((port) => !taken.includes(port));
  return () => {
    const port = free.shift();
    if (port !== undefined) return port;
    throw new Fault('server_full', 'The environment has more replicas than it has ports on the cluster.', {
      hint: 'Run fewer replicas: old and new run side by side.',
    });
  };
}
