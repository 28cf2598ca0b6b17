/** A service as the engine runs it: what its kind says, with what was asked for. */
import type { ServiceSpec } from '../../engine/service-spec.ts';
import type { OpenService } from './credentials.ts';
import { imageOf, kinds } from './kinds/kinds.ts';

export function versionOf({ kind, version }: Pick<OpenService, 'kind' | 'version'>): string {
  return version || kinds[kind].defaultVersion;
}

export function imageFor(service: Pick<OpenService, 'kind' | 'version'>): string {
  return imageOf(service.kind, versionOf(service));
}

export function specOf(service: OpenService): ServiceSpec {
  const { id, name, slot, credentials, memoryMb: wantedMemoryMb, status } = service;
  const kind = kinds[service.kind];
  const version = versionOf(service);
  const memoryMb = wantedMemoryMb ?? kind.memoryMb.standard;
  return {
    id,
    name,
    title: kind.title,
    image: imageFor(service),
    slot,
    wantedMemoryMb,
    memoryMb,
    environment: kind.environment(credentials),
    command: kind.command(memoryMb, version),
    ...(kind.entrypoint && { entrypoint: kind.entrypoint }),
    volumePath: kind.volumePath(version),
    stopSeconds: kind.stopSeconds,
    capabilities: kind.capabilities,
    health: { port: kind.port, ...kind.health(credentials) },
    secrets: [credentials.password, credentials.adminPassword],
    wasRunning: status === 'running',
  };
}
