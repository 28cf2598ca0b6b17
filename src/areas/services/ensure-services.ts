/**
 * Brings the services on a server to what is wanted: those that are not wanted lose their container and keep their
 * volume, a changed one gets a new container on the same volume, the rest is left alone. Looks before it acts: where all
 * runs, it is one round trip and changes nothing.
 */
import { ask } from '../../adapters/docker/ask.ts';
import {
  createContainer,
  removeContainer,
  startContainer,
  stopContainer,
} from '../../adapters/docker/containers.ts';
import type { Call } from '../../adapters/docker/docker.ts';
import { pullUnit } from '../../adapters/docker/images.ts';
import { createVolume } from '../../adapters/docker/volumes.ts';
import { Fault } from '../../fault.ts';
import type { ServiceId } from '../../ids.ts';
import { followUnit } from '../../remote/units/follow-unit.ts';
import { networkCall } from '../environments/network-call.ts';
import { type Place, type Site, serviceContainer, serviceVolume } from '../environments/place.ts';
import { type OpenService, openServices } from './credentials.ts';
import { kinds } from './kinds/kinds.ts';
import { look, type SeenService, type SeenServices, secretsOf } from './look-at-services.ts';
import * as queries from './queries.ts';
import { containerWish, imageFor, versionOf, volumeLabels } from './service-container.ts';
import type { ServiceProblem, ServicesContext } from './services.ts';
import { waitForServices } from './wait-for-services.ts';

export interface EnsureOptions {
  readonly log?: (line: string) => void;
  /** False: what is not wanted goes, and nothing is started. */
  readonly isStarting?: boolean;
  readonly healthyWithinMs?: number;
}

const standardWaitMs = 180_000;
/** For what we know nothing of but that it is ours. */
const longestStopSeconds = 120;

/** Whether anything had to be done. */
export async function ensureServices(
  ctx: ServicesContext,
  site: Site,
  options: EnsureOptions = {},
): Promise<boolean> {
  const { workspaceId, environmentId } = site.place;
  const services = await ctx.db.transaction((tx) => openServices(tx, ctx.sealer, workspaceId, environmentId));
  for (const each of services) requireHere(site.place, each);
  const seen = await look(site, services);
  const lacking = options.isStarting === false ? [] : seen.services.filter((each) => !isWell(each));
  const isChanging = lacking.length > 0 || seen.unwanted.length > 0;
  if (isChanging) await change(ctx, site, seen, lacking, options);
  const well = seen.services.filter((each) => !lacking.includes(each) && isWell(each));
  await mark(ctx, site, idsOf(well), 'running', null);
  return isChanging;
}

function isWell({ container, isAsWanted, isHealthy }: SeenService): boolean {
  return isAsWanted && isHealthy && container?.status === 'running';
}

async function change(
  ctx: ServicesContext,
  site: Site,
  { unwanted, missingImages }: SeenServices,
  lacking: readonly SeenService[],
  { log = () => undefined, healthyWithinMs = standardWaitMs }: EnsureOptions,
): Promise<void> {
  const services = lacking.map(({ service }) => service);
  const secrets = secretsOf(services);
  const { place, remote, fence, signal } = site;
  try {
    for (const service of services) {
      // Before the old container goes: where the image cannot be had, what ran goes on running.
      if (missingImages.has(imageFor(service))) await pull(site, service, log);
    }
    for (const service of services) {
      log(`starting ${service.name}`);
      const start = { serverId: place.serverId, version: versionOf(service) };
      await queries.setStarting(ctx.db, place.workspaceId, service.id, start, ctx.clock.now());
    }
    const calls = [
      ...unwanted.flatMap(({ name }) => gone(name, longestStopSeconds)),
      ...(lacking.length > 0 ? [networkCall(place)] : []),
      ...lacking.flatMap((each) => madeAndStarted(place, each)),
    ];
    await ask(remote, calls, { fence, signal, secrets });
    const { ready, failed } = await waitForServices(site, services, healthyWithinMs);
    await mark(ctx, site, idsOf(ready), 'running', null);
    for (const { service, fault } of failed) await mark(ctx, site, [service.id], 'failed', fault);
    const [first] = failed;
    if (first) throw first.fault;
  } catch (error) {
    if (error instanceof Fault && error.code !== 'service_unhealthy' && !signal.aborted)
      await mark(ctx, site, idsOf(lacking), 'failed', error);
    throw error;
  }
}

function madeAndStarted(place: Place, { service, container, isAsWanted }: SeenService): Call[] {
  const name = serviceContainer(service.id);
  const canStart =
    isAsWanted && ['created', 'running', 'restarting', 'exited'].includes(container?.status ?? '');
  if (canStart) return [startContainer(name)];
  return [
    ...(container ? gone(name, kinds[service.kind].stopSeconds) : []),
    createVolume(serviceVolume(service.id), volumeLabels(place, service)),
    createContainer(containerWish(place, service)),
    startContainer(name),
  ];
}

function gone(name: string, stopSeconds: number): Call[] {
  return [stopContainer(name, stopSeconds), removeContainer(name)];
}

async function pull(
  { remote, fence, signal }: Site,
  service: OpenService,
  log: (line: string) => void,
): Promise<void> {
  const image = imageFor(service);
  log(`fetching ${image}`);
  const wish = { name: `slipway-${fence.scope}-pull-${service.id}`, argv: pullUnit(image), fence };
  await followUnit(remote, wish, { signal, line: log });
}

function requireHere({ serverId }: Place, service: OpenService): void {
  if (service.serverId === null || service.serverId === serverId) return;
  throw new Fault('service_data_elsewhere', `The data of the service ${service.name} is on another server.`, {
    hint: 'Take a dump of it there and import it here, or remove the service with `deleteData` and add it anew.',
  });
}

async function mark(
  { db, clock }: ServicesContext,
  { place }: Site,
  ids: readonly ServiceId[],
  status: 'running' | 'failed',
  fault: Fault | null,
): Promise<void> {
  if (ids.length === 0) return;
  await queries.setStatus(db, place.workspaceId, ids, status, fault && problemOf(fault), clock.now());
}

export function problemOf({ code, message, hint, evidence }: Fault): ServiceProblem {
  return { code, message, hint: hint ?? null, evidence: evidence ?? null };
}

function idsOf(services: readonly (SeenService | OpenService)[]): ServiceId[] {
  return services.map((each) => ('service' in each ? each.service.id : each.id));
}
