/** What of an environment is there to back up: each of its databases, and each volume of the application. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from '../../engine/engine.ts';
import { appVolume, serviceContainer, serviceVolume } from '../../engine/placement.ts';
import { Fault } from '../../fault.ts';
import type { ServiceId } from '../../ids.ts';
import type { EnvironmentState } from '../environments/environment-state.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { type FoundService, inspectServices } from '../services/inspect-services.ts';
import { kinds } from '../services/kinds/kinds.ts';
import { imageFor, versionOf } from '../services/service-spec.ts';
import type { BackupsContext } from './backups.ts';
import type { Source, SourceKind } from './engines/engine.ts';

const looksAgain = 5;
const lookAgainMs = 2_000;

export interface BackupSource {
  readonly type: 'service' | 'volume';
  readonly serviceId: ServiceId | null;
  /** Of the service, or of the volume as the application's settings call it. */
  readonly name: string;
  readonly kind: SourceKind;
  readonly version: string | null;
  readonly source: Source;
}

export interface SourcesWish {
  /** One service alone; all, and the volumes, with null. */
  readonly serviceId: ServiceId | null;
  /** Refuses where a database does not answer. Whoever takes something back cannot be that strict. */
  readonly mustAnswer: boolean;
}

export async function sourcesOf(
  ctx: BackupsContext,
  target: Target,
  environment: EnvironmentState,
  { serviceId, mustAnswer }: SourcesWish,
): Promise<BackupSource[]> {
  const look = async () =>
    (await inspectServices(ctx, target)).services.filter(
      ({ service }) => serviceId === null || service.id === serviceId,
    );
  let chosen = await look();
  // A server under load may be slow to answer once; one that does not run will not by itself.
  for (let again = 1; mustAnswer && again <= looksAgain && chosen.some(isSlow); again += 1) {
    await sleep(lookAgainMs, undefined, { signal: target.signal });
    chosen = await look();
  }
  if (mustAnswer) for (const each of chosen) requireAnswer(each);
  const services = chosen.map(serviceSource);
  return serviceId === null ? [...services, ...(await volumesOf(ctx, target, environment))] : services;
}

export function serviceSource({ service }: Pick<FoundService, 'service'>): BackupSource {
  const { id, kind, name, credentials } = service;
  const version = versionOf(service);
  return {
    type: 'service',
    serviceId: id,
    name,
    kind,
    version,
    source: {
      type: 'service',
      kind,
      version,
      image: imageFor(service),
      credentials,
      container: serviceContainer(id),
      volume: serviceVolume(id),
      volumePath: kinds[kind].volumePath(version),
      memoryMb: service.memoryMb ?? kinds[kind].memoryMb.standard,
    },
  };
}

async function volumesOf(
  ctx: BackupsContext,
  { placement }: Target,
  { currentReleaseId }: EnvironmentState,
): Promise<BackupSource[]> {
  if (currentReleaseId === null) return [];
  const { run } = await readRelease(ctx.db, ctx.sealer, placement.workspaceId, currentReleaseId);
  return run.volumes.map(({ name }) => volumeSource(name, appVolume(placement, name)));
}

export function volumeSource(name: string, volume: string): BackupSource {
  return {
    type: 'volume',
    serviceId: null,
    name,
    kind: 'volume',
    version: null,
    source: { type: 'volume', kind: 'volume', volume },
  };
}

function isSlow({ status, isHealthy }: FoundService): boolean {
  return status === 'running' && !isHealthy;
}

function requireAnswer({ service, status, isHealthy }: FoundService): void {
  if (status === 'running' && isHealthy) return;
  const how = status === 'running' ? 'does not answer' : 'does not run';
  throw new Fault('database_down', `The service ${service.name} (${kinds[service.kind].title}) ${how}.`, {
    hint: 'Start the environment, or look at why the service fails, and then try again.',
  });
}
