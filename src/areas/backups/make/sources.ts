/** The live data of an environment: each of its databases, and each volume of the application. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from '../../../engine/engine.ts';
import { appVolume, serviceContainer, serviceVolume } from '../../../engine/placement.ts';
import { Fault } from '../../../fault.ts';
import type { ServiceId } from '../../../ids.ts';
import type { EnvironmentState } from '../../environments/environment-state.ts';
import { readRelease } from '../../releases/stored-releases.ts';
import { type FoundService, inspectServices } from '../../services/inspect-services.ts';
import { kinds } from '../../services/kinds/kinds.ts';
import { imageFor, versionOf } from '../../services/service-spec.ts';
import type { BackupsContext } from '../backups.ts';
import type { DataSource, SourceKind } from '../engines/engine.ts';
import type { PartRow } from '../part-queries.ts';

const maxRetries = 5;
const retryMs = 2_000;

export interface BackupSource {
  readonly type: 'service' | 'volume';
  readonly serviceId: ServiceId | null;
  /** Of the service, or of the volume as the application's settings call it. */
  readonly name: string;
  readonly kind: SourceKind;
  readonly version: string | null;
  readonly source: DataSource;
}

export interface SourcesInput {
  /** One service alone; all, and the volumes, with null. */
  readonly serviceId: ServiceId | null;
  /** Refuses where a database does not answer. An undo cannot be that strict. */
  readonly mustAnswer: boolean;
}

export async function sourcesOf(
  ctx: BackupsContext,
  target: Target,
  environment: EnvironmentState,
  { serviceId, mustAnswer }: SourcesInput,
): Promise<BackupSource[]> {
  const inspect = async () =>
    (await inspectServices(ctx, target)).services.filter(
      ({ service }) => serviceId === null || service.id === serviceId,
    );
  let chosen = await inspect();
  // A server under load may be slow to answer once; one that does not run will not by itself.
  for (let again = 1; mustAnswer && again <= maxRetries && chosen.some(isSlow); again += 1) {
    await sleep(retryMs, undefined, { signal: target.signal });
    chosen = await inspect();
  }
  if (mustAnswer) for (const each of chosen) requireHealthy(each);
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

/** The live data that a part was made from: the same service, or the volume of the same name. */
export function matchingSource(part: PartRow, sources: readonly BackupSource[]): BackupSource | undefined {
  return sources.find(
    ({ type, serviceId, name }) =>
      type === part.sourceType && (type === 'service' ? serviceId === part.serviceId : name === part.name),
  );
}

function isSlow({ status, isHealthy }: FoundService): boolean {
  return status === 'running' && !isHealthy;
}

function requireHealthy({ service, status, isHealthy }: FoundService): void {
  if (status === 'running' && isHealthy) return;
  const how = status === 'running' ? 'does not answer' : 'is not running';
  throw new Fault('database_down', `The service ${service.name} (${kinds[service.kind].title}) ${how}.`, {
    hint: 'Start the environment, or find out why the service fails, then try again.',
  });
}
