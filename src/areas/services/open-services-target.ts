/** Where the services of an environment belong right now, with the way there. */
import type { Target } from '../../engine/engine.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { StepContext } from '../../operations/definition.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import { openTarget } from '../environments/placement/open-target.ts';
import { ensurePlacement } from '../environments/placement/placements.ts';
import type { ServiceRequestsContext } from './services.ts';

export interface ServicesTarget {
  readonly target: Target;
  readonly wanted: 'running' | 'stopped';
}

/** Undefined where the environment stands on no server any more. */
export async function openServicesTarget(
  ctx: ServiceRequestsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  step: Pick<StepContext, 'operationId' | 'epoch' | 'signal'>,
): Promise<ServicesTarget | undefined> {
  const found = await ctx.db.transaction(async (tx) => {
    const { serverId, wanted } = await lockEnvironment(tx, workspaceId, environmentId);
    if (serverId === null) return undefined;
    return {
      wanted,
      place: await ensurePlacement(tx, workspaceId, environmentId, serverId, ctx.clock.now()),
    };
  });
  if (!found) return undefined;
  return { target: await openTarget(ctx.servers, found.place, step), wanted: found.wanted };
}
