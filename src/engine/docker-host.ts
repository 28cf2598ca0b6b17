/** A server with Docker and the proxy, as one step of work has it in hand; and what every part of an environment needs there. */
import { ask } from '../adapters/docker/ask.ts';
import {
  containerGroupFirst,
  ensureContainerGroup,
  GroupChanged,
} from '../adapters/docker/container-group.ts';
import { createContainer } from '../adapters/docker/containers.ts';
import type { Call, ContainerSpec, Reply, SendOptions } from '../adapters/docker/docker.ts';
import { createNetwork } from '../adapters/docker/networks.ts';
import { Fault } from '../fault.ts';
import type { ServerId } from '../ids.ts';
import type { Fence, Remote } from '../remote/remote.ts';
import type { Secret } from '../secret.ts';
import { type Capacity, forContainers, limitsOf, type WantedLimits } from './capacity.ts';
import { bridgeName, gatewayOf, labelsOf, type Placement, subnetOf } from './placement.ts';

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

/** The same behind a script. */
export function askAfter(
  { remote, fence, signal }: DockerHost,
  first: NonNullable<SendOptions['first']>,
  calls: readonly Call[],
  secrets: readonly Secret[] = [],
): Promise<Reply[]> {
  return ask(remote, calls, { fence, first, signal, secrets });
}

export async function askOne(host: DockerHost, call: Call): Promise<Reply> {
  const [reply] = await askHost(host, [call]);
  if (!reply) throw new Error('Docker left a question without an answer');
  return reply;
}

/** As it is wanted; what it may take follows from that and from the server. */
export type WantedContainer = Omit<ContainerSpec, 'memoryMb' | 'cpus' | 'cgroupParent'> & WantedLimits;

export async function createCalls(host: DockerHost, containers: readonly WantedContainer[]): Promise<Call[]> {
  return containers.length === 0 ? [] : creating(host, containers, await groupOf(host));
}

/**
 * Asks with the calls that make these containers among others, in one round trip: what the server has said of its control
 * groups before is looked at there again before anything is made.
 */
export async function askCreating(
  host: DockerHost,
  containers: readonly WantedContainer[],
  calls: (creating: readonly Call[]) => readonly Call[],
  secrets: readonly Secret[],
): Promise<Reply[]> {
  const known = groups.get(host.placement.serverId);
  if (known !== undefined && containers.length > 0) {
    const first = containerGroupFirst(forContainers(host.capacity), known);
    try {
      return await askAfter(host, first, calls(creating(host, containers, known)), secrets);
    } catch (error) {
      if (!(error instanceof GroupChanged)) throw error;
    }
  }
  return askHost(host, calls(await createCalls(host, containers)), secrets);
}

/** What each server said last. */
const groups = new Map<ServerId, string>();

async function groupOf({ remote, capacity, signal, placement }: DockerHost): Promise<string> {
  const group = await ensureContainerGroup(remote, forContainers(capacity), signal);
  groups.set(placement.serverId, group);
  return group;
}

function creating(
  { capacity }: DockerHost,
  containers: readonly WantedContainer[],
  cgroupParent: string,
): Call[] {
  return containers.map((container) => {
    const { memoryMb, cpus } = limitsOf(container, capacity);
    return createContainer({ ...container, memoryMb: memoryMb.limit, cpus: cpus.limit, cgroupParent });
  });
}

/** The same for all that runs of the environment on this server, so whoever comes first makes it. */
export function bridgeCall(placement: Placement): Call {
  return createNetwork({
    name: bridgeName(placement),
    subnet: subnetOf(placement),
    gateway: gatewayOf(placement),
    labels: labelsOf(placement, 'network'),
  });
}

/**
 * By what Docker's own program says. A Docker that was started again knows nothing of what it ran: nobody can tell how far that
 * came.
 */
export function lostWithDocker(evidence: string, cause?: unknown): Fault | undefined {
  const isLost =
    /^Error response from daemon: No such exec instance|^Cannot connect to the Docker daemon|^error during connect/m;
  if (!isLost.test(evidence)) return undefined;
  return new Fault('work_lost', 'Docker was restarted on the server during the work.', { evidence, cause });
}
