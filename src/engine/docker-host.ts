/** A server with Docker and the proxy, as one step of work has it in hand; and what every part of an environment needs there. */
import { ask } from '../adapters/docker/ask.ts';
import { ensureContainerGroup } from '../adapters/docker/container-group.ts';
import { createContainer } from '../adapters/docker/containers.ts';
import type { Call, ContainerSpec, Reply } from '../adapters/docker/docker.ts';
import { createNetwork } from '../adapters/docker/networks.ts';
import type { Fence, Remote } from '../remote/remote.ts';
import type { Secret } from '../secret.ts';
import { type Capacity, forContainers, limitsOf, type WantedLimits } from './capacity.ts';
import { gatewayOf, labelsOf, networkName, type Placement, subnetOf } from './placement.ts';

export interface DockerHost {
  readonly placement: Placement;
  readonly remote: Remote;
  /** What the server has. */
  readonly capacity: Capacity;
  /** Of the operation that works there. */
  readonly fence: Fence;
  readonly signal: AbortSignal;
}

/** In one round trip. An answer for each, or a fault. */
export async function askHost(
  { remote, fence, signal }: DockerHost,
  calls: readonly Call[],
  secrets: readonly Secret[] = [],
): Promise<Reply[]> {
  return calls.length === 0 ? [] : ask(remote, calls, { fence, signal, secrets });
}

export async function askOne(host: DockerHost, call: Call): Promise<Reply> {
  const [reply] = await askHost(host, [call]);
  if (!reply) throw new Error('Docker left a question without an answer');
  return reply;
}

/** As it is wanted; what it may take follows from that and from the server. */
export type WantedContainer = Omit<ContainerSpec, 'memoryMb' | 'cpus' | 'cgroupParent'> & WantedLimits;

export async function createCalls(
  { remote, capacity, signal }: DockerHost,
  containers: readonly WantedContainer[],
): Promise<Call[]> {
  if (containers.length === 0) return [];
  const cgroupParent = await ensureContainerGroup(remote, forContainers(capacity), signal);
  return containers.map((container) => {
    const { memoryMb, cpus } = limitsOf(container, capacity);
    return createContainer({ ...container, memoryMb: memoryMb.limit, cpus: cpus.limit, cgroupParent });
  });
}

/** The same for all that runs of the environment, so whoever comes first makes it. */
export function networkCall(placement: Placement): Call {
  return createNetwork({
    name: networkName(placement),
    subnet: subnetOf(placement),
    gateway: gatewayOf(placement),
    labels: labelsOf(placement, 'network'),
  });
}
