/** The container of a service as it should be, and how one that is there shows whether it is that. */
import { createHash } from 'node:crypto';
import type { ContainerWish } from '../../adapters/docker/docker.ts';
import type { Exchange } from '../../remote/remote.ts';
import {
  addressIn,
  labelsOf,
  networkName,
  type Place,
  serviceContainer,
  serviceVolume,
} from '../environments/place.ts';
import type { OpenService } from './credentials.ts';
import { imageOf, kinds } from './kinds/kinds.ts';

export const serviceLabel = 'slipway.service';
export const wishLabel = 'slipway.wish';

export function versionOf({ kind, version }: Pick<OpenService, 'kind' | 'version'>): string {
  return version || kinds[kind].defaultVersion;
}

export function imageFor(service: Pick<OpenService, 'kind' | 'version'>): string {
  return imageOf(service.kind, versionOf(service));
}

/**
 * What makes another container necessary: what the user decides, and its place. Not how we would start it today, or a
 * newer Slipway would restart every database.
 */
export function wishMark(place: Place, service: OpenService): string {
  const { name, memoryMb, slot } = service;
  const parts = [imageFor(service), name, memoryMb, addressIn(place, slot)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

export function volumeLabels(place: Place, { id }: Pick<OpenService, 'id'>) {
  return { ...labelsOf(place, 'volume'), [serviceLabel]: id };
}

export function containerWish(place: Place, service: OpenService): ContainerWish {
  const { id, name, slot, credentials } = service;
  const kind = kinds[service.kind];
  const version = versionOf(service);
  const memoryMb = service.memoryMb ?? kind.memoryMb.standard;
  return {
    name: serviceContainer(id),
    image: imageFor(service),
    labels: { ...labelsOf(place, 'service'), [serviceLabel]: id, [wishLabel]: wishMark(place, service) },
    network: networkName(place),
    address: addressIn(place, slot),
    aliases: [name],
    environment: kind.environment(credentials),
    command: kind.command(memoryMb, version),
    ...(kind.entrypoint && { entrypoint: kind.entrypoint }),
    memoryMb,
    // A thread for each connection, in some kinds.
    pidsLimit: 2_048,
    volumes: [{ volume: serviceVolume(id), path: kind.volumePath(version) }],
    restart: 'unless-stopped',
    stopSeconds: kind.stopSeconds,
    capabilities: kind.capabilities,
  };
}

/** Asked from the server, over the environment's network. */
export function healthExchange(place: Place, service: OpenService, until?: Exchange['until']): Exchange {
  const kind = kinds[service.kind];
  const { send, expect, maxBytes } = kind.health(service.credentials);
  const to = { host: addressIn(place, service.slot), port: kind.port };
  return { to, send, expect, maxBytes, timeoutMs: 2_000, ...(until && { until }) };
}
