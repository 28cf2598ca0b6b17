/**
 * Brings the services on a server to what is wanted: those that are not wanted lose their container and keep their
 * volume, a changed one gets a new container on the same volume, the rest is left alone. Looks before it acts: where all
 * runs, it is one round trip and changes nothing.
 */

import type { Target } from '../../engine/engine.ts';
import type { Placement } from '../../engine/placement.ts';
import {
  type InspectedService,
  type InspectedServices,
  isServiceUp,
  type ServiceSpec,
} from '../../engine/service-spec.ts';
import { Fault } from '../../fault.ts';
import type { ServiceId } from '../../ids.ts';
import { type OpenService, openServices } from './credentials.ts';
import * as queries from './queries.ts';
import { specOf, versionOf } from './service-spec.ts';
import type { ServiceProblem, ServicesContext } from './services.ts';

export interface EnsureOptions {
  readonly log?: (line: string) => void;
  /** False: what is not wanted goes, and nothing is started. */
  readonly isStarting?: boolean;
  readonly healthyWithinMs?: number;
}

const standardWaitMs = 180_000;

/** Whether anything had to be done. */
export async function ensureServices(
  ctx: ServicesContext,
  target: Target,
  options: EnsureOptions = {},
): Promise<boolean> {
  const { workspaceId, environmentId } = target.placement;
  const services = await ctx.db.transaction((tx) => openServices(tx, ctx.sealer, workspaceId, environmentId));
  for (const each of services) requireHere(target.placement, each);
  const seen = await target.inspectServices(services.map(specOf));
  const lacking = options.isStarting === false ? [] : seen.services.filter((each) => !isServiceUp(each));
  const isChanging = lacking.length > 0 || seen.unwanted.length > 0;
  if (isChanging) await change(ctx, target, services, seen, lacking, options);
  const up = seen.services.filter((each) => !lacking.includes(each) && isServiceUp(each));
  await mark(ctx, target, idsOf(up), 'running', null);
  return isChanging;
}

async function change(
  ctx: ServicesContext,
  target: Target,
  known: readonly OpenService[],
  { unwanted, missingImages }: InspectedServices,
  lacking: readonly InspectedService[],
  { log = () => undefined, healthyWithinMs = standardWaitMs }: EnsureOptions,
): Promise<void> {
  const { workspaceId, serverId } = target.placement;
  const specs = lacking.map(({ service }) => service);
  try {
    for (const { id, image } of specs) {
      // Before the old container goes: where the image cannot be had, what ran goes on running.
      if (!missingImages.has(image)) continue;
      log(`fetching ${image}`);
      await target.pullImage(image, id, log);
    }
    for (const service of known.filter(({ id }) => specs.some((spec) => spec.id === id))) {
      log(`starting ${service.name}`);
      const start = { serverId, version: versionOf(service) };
      await queries.setStarting(ctx.db, workspaceId, service.id, start, ctx.clock.now());
    }
    await target.applyServices(lacking, unwanted);
    const { ready, failed } = await target.waitForServices(specs, healthyWithinMs);
    await mark(ctx, target, idsOf(ready), 'running', null);
    for (const { service, fault } of failed) await mark(ctx, target, [service.id], 'failed', fault);
    const [first] = failed;
    if (first) throw first.fault;
  } catch (error) {
    if (error instanceof Fault && error.code !== 'service_unhealthy' && !target.signal.aborted)
      await mark(ctx, target, idsOf(lacking), 'failed', error);
    throw error;
  }
}

function requireHere({ serverId }: Placement, service: OpenService): void {
  if (service.serverId === null || service.serverId === serverId) return;
  throw new Fault('service_data_elsewhere', `The data of the service ${service.name} is on another server.`, {
    hint: 'Take a dump of it there and import it here, or remove the service with `deleteData` and add it anew.',
  });
}

async function mark(
  { db, clock }: ServicesContext,
  { placement }: Target,
  ids: readonly ServiceId[],
  status: 'running' | 'failed',
  fault: Fault | null,
): Promise<void> {
  if (ids.length === 0) return;
  await queries.setStatus(db, placement.workspaceId, ids, status, fault && problemOf(fault), clock.now());
}

export function problemOf({ code, message, hint, evidence }: Fault): ServiceProblem {
  return { code, message, hint: hint ?? null, evidence: evidence ?? null };
}

function idsOf(services: readonly (InspectedService | ServiceSpec)[]): ServiceId[] {
  return services.map((each) => ('service' in each ? each.service.id : each.id));
}
