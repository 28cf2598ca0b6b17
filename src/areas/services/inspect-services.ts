/** What is there of an environment's services right now, each with its row and credentials. */
import type { TargetView } from '../../engine/engine.ts';
import type { InspectedService, InspectedServices } from '../../engine/service-spec.ts';
import { type OpenService, openServices } from './credentials.ts';
import { specOf } from './service-spec.ts';
import type { ServicesContext } from './services.ts';

export interface FoundService extends Omit<InspectedService, 'service'> {
  readonly service: OpenService;
}

export async function inspectServices(
  ctx: ServicesContext,
  target: Pick<TargetView, 'placement' | 'inspectServices'>,
): Promise<{ readonly services: readonly FoundService[]; readonly unwanted: InspectedServices['unwanted'] }> {
  const { workspaceId, environmentId } = target.placement;
  const opened = await ctx.db.transaction((tx) => openServices(tx, ctx.sealer, workspaceId, environmentId));
  const { services, unwanted } = await target.inspectServices(opened.map(specOf));
  const found = services.flatMap((each) => {
    const service = opened.find(({ id }) => id === each.service.id);
    return service ? [{ ...each, service }] : [];
  });
  return { services: found, unwanted };
}
