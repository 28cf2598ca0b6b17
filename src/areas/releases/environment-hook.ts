/** What releases do with the environments that they run in. */
import type { EnvironmentHook } from '../environments/hooks.ts';
import { placesOf } from '../environments/places.ts';
import type { ServicesContext } from '../services/services.ts';
import { readRelease } from './releases.ts';
import { takeDown } from './take-down.ts';

export function releasesHook(ctx: ServicesContext): EnvironmentHook {
  return {
    data: async (db, workspaceId, { id, currentReleaseId }) => {
      if (currentReleaseId === null) return [];
      const { volumes } = (await readRelease(db, ctx.sealer, workspaceId, currentReleaseId)).run;
      const places = await placesOf(db, workspaceId, id);
      const servers = places.length > 0 ? places.map(({ serverId }) => serverId) : [null];
      return servers.flatMap((serverId) =>
        volumes.map(({ name }) => ({ path: `volumes/${name}`, serverId })),
      );
    },
    takeDown: (site, removal) => takeDown(ctx, site, removal),
  };
}
