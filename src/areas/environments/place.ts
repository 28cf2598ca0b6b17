/**
 * Where an environment stands on a server, and what everything of it is called there. Names are made of ids alone; who
 * knows the id finds everything, also after a crash that left no other note.
 */
import type { DeploymentId, EnvironmentId, ServerId, ServiceId, WorkspaceId } from '../../ids.ts';
import type { Fence, Remote } from '../../remote/remote.ts';

export interface Place {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly serverId: ServerId;
  /** Of its own listener on the server's proxy. */
  readonly port: number;
  /** Of its own network. */
  readonly network: number;
}

/** A place with the way there, for one step of work. */
export interface Site {
  readonly place: Place;
  readonly remote: Remote;
  /** Of the operation that works there. */
  readonly fence: Fence;
  readonly signal: AbortSignal;
}

export function networkName({ environmentId }: Place): string {
  return `slipway-${environmentId}`;
}

/**
 * 198.18.0.0/15 is set aside for measurements (RFC 2544): no network of a server's owner has it. Each environment gets
 * 64 addresses; the first is the gateway's, the next are the services', from the sixteenth on the application's.
 */
export function subnetOf({ network }: Place): string {
  return `${addressAt(network, 0)}/26`;
}

export function gatewayOf({ network }: Place): string {
  return addressAt(network, 1);
}

/** Containers of applications have addresses of their own: they keep them when they are started again. */
export const appSlots = { first: 16, last: 62 } as const;
export const serviceSlots = { first: 2, last: 15 } as const;

export function addressIn({ network }: Place, slot: number): string {
  return addressAt(network, slot);
}

function addressAt(network: number, slot: number): string {
  const number = network * 64 + slot;
  return `198.${18 + Math.floor(number / 65_536)}.${Math.floor(number / 256) % 256}.${number % 256}`;
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

export function appVolume({ environmentId }: Place, name: string): string {
  return `slipway-${environmentId}-${name}`;
}

/** What everything of an environment carries on a server. We delete only what does. */
export function labelsOf(
  { workspaceId, environmentId }: Place,
  role: 'app' | 'service' | 'network' | 'image' | 'volume',
) {
  return { slipway: role, 'slipway.workspace': workspaceId, 'slipway.environment': environmentId };
}
