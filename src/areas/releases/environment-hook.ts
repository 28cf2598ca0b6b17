/** What releases do with the environments that they run in. */
import type { EnvironmentHook } from '../environments/hooks.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import type { ServicesContext } from '../services/services.ts';
import { markServicesDown } from '../services/stop-services.ts';
import { readRelease } from './stored-releases.ts';

export function releasesHook(ctx: ServicesContext): EnvironmentHook {
  return {
    data: async (db, workspaceId, { id, currentReleaseId }) => {
      if (currentReleaseId === null) return [];
      const { volumes } = (await readRelease(db, ctx.sealer, workspaceId, currentReleaseId)).run;
      const places = await placementsOf(db, workspaceId, id);
      const servers = places.length > 0 ? places.map(({ serverId }) => serverId) : [null];
      return servers.flatMap((serverId) =>
        volumes.map(({ name }) => ({ path: `volumes/${name}`, serverId })),
      );
    },
    takeDown: async (target, removal) => {
      await target.takeDown(removal);
      await markServicesDown(ctx, target.placement, removal);
    },
  };
}
