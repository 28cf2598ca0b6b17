/**
 * Where an environment stands on a server, and what everything of it is called there. Names are made of ids alone; who
 * knows the id finds everything, also after a crash that left no other note.
 */
import type { ClusterId, DeploymentId, EnvironmentId, ServerId, ServiceId, WorkspaceId } from '../ids.ts';

export interface Placement {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  /** On a cluster the member that builds it and keeps its data; it runs on all of them. */
  readonly serverId: ServerId;
  readonly clusterId: ClusterId | null;
  /** Of its own listener on the server's proxy; on a cluster, on every member's. */
  readonly port: number;
  /** Of its own network. */
  readonly network: number;
}

/** The network on which its containers find each other: on a cluster an overlay over all members. */
export function networkName({ environmentId, clusterId }: Placement): string {
  return clusterId === null ? `slipway-${environmentId}` : `slipway-${environmentId}-overlay`;
}

/** The one of a single server, with addresses that the server itself reaches. On a cluster the services have it, too, at home. */
export function bridgeName({ environmentId }: Placement): string {
  return `slipway-${environmentId}`;
}

/**
 * 198.18.0.0/15 is set aside for measurements (RFC 2544): no network of a server's owner has it. Each environment gets
 * 64 addresses; the first is the gateway's, the next are the services', from the sixteenth on the application's.
 */
export function subnetOf({ network }: Placement): string {
  return `${addressAt(network, 0)}/26`;
}

export function gatewayOf({ network }: Placement): string {
  return addressAt(network, 1);
}

/** Containers of applications have addresses of their own: they keep them when they are started again. */
export const appSlots = { first: 16, last: 62 } as const;
export const serviceSlots = { first: 2, last: 15 } as const;

export function addressIn({ network }: Placement, slot: number): string {
  return addressAt(network, slot);
}

function addressAt(network: number, slot: number): string {
  const number = network * 64 + slot;
  return `198.${18 + Math.floor(number / 65_536)}.${Math.floor(number / 256) % 256}.${number % 256}`;
}

/**
 * On a cluster each replica has a port of the server that it runs on, one that no other environment's ever gets there: a
 * proxy that has not heard yet that a replica has gone can reach nobody else in its place. Below those that Linux gives to
 * outgoing connections.
 */
export const replicaPorts = { first: 22_000, each: 32, last: 30_159 } as const;

/** So many overlay networks fit into what a swarm has for them. */
export const clusterNetworks = { first: 0, last: 254 } as const;

export function replicaPortsOf({ network }: Placement): number[] {
  const { first, each } = replicaPorts;
  return Array.from({ length: each }, (_, index) => first + network * each + index);
}

export function appContainer(deploymentId: DeploymentId, process: string, replica: number): string {
  return `slipway-${deploymentId}-${process}-${replica}`;
}

export function serviceContainer(id: ServiceId): string {
  return `slipway-${id}`;
}

export function serviceVolume(id: ServiceId): string {
  return `slipway-${id}`;
}

export function appVolume({ environmentId }: Placement, name: string): string {
  return `slipway-${environmentId}-${name}`;
}

/**
 * What a release calls its image. On the server only the tag of it is in a name: the repository is random there, so that
 * no build can ask for it.
 */
export function imageName(environmentId: EnvironmentId, tag: string): string {
  return `slipway/${environmentId}:${tag}`;
}

/** On the volumes of services: whose data it is. */
export const serviceLabel = 'slipway.service';

/** What everything of an environment carries on a server. We delete only what does. */
export function labelsOf(
  { workspaceId, environmentId }: Pick<Placement, 'workspaceId' | 'environmentId'>,
  role: 'app' | 'service' | 'network' | 'image' | 'volume',
) {
  return { slipway: role, 'slipway.workspace': workspaceId, 'slipway.environment': environmentId };
}
