/** Where the services of an environment belong right now, with the way there. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { StepContext } from '../../operations/definition.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import { openSite } from '../environments/open-site.ts';
import type { Site } from '../environments/place.ts';
import { placeOn } from '../environments/places.ts';
import type { ServiceRequestsContext } from './services.ts';

export interface ServiceSite extends Site {
  readonly wanted: 'running' | 'stopped';
}

/** Undefined where the environment stands on no server any more. */
export async function openServiceSite(
  ctx: ServiceRequestsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  step: Pick<StepContext, 'operationId' | 'epoch' | 'signal'>,
): Promise<ServiceSite | undefined> {
  const found = await ctx.db.transaction(async (tx) => {
    const { serverId, wanted } = await lockEnvironment(tx, workspaceId, environmentId);
    if (serverId === null) return undefined;
    return { wanted, place: await placeOn(tx, workspaceId, environmentId, serverId, ctx.clock.now()) };
  });
  if (!found) return undefined;
  return { ...(await openSite(ctx.servers, found.place, step)), wanted: found.wanted };
}
