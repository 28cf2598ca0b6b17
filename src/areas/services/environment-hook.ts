/** What services do with the environments that they belong to: made with them, shown with them, left behind by them. */
import type { AnalysisResult, App } from '../../analysis/result.ts';
import type { Clock } from '../../clock.ts';
import type { EnvironmentHook, WantedService } from '../environments/hooks.ts';
import { createServices } from './create-services.ts';
import { fittingVersion } from './kinds/kinds.ts';
import * as queries from './queries.ts';
import { holdsData, servicesOf } from './read-services.ts';

export function servicesHook({ clock }: { readonly clock: Clock }): EnvironmentHook {
  return {
    created: (tx, { workspaceId, id, services, result, app }) =>
      createServices(tx, workspaceId, id, services ?? neededServices(result, app), clock.now()),
    show: async (db, workspaceId, ids) => {
      const found = await servicesOf(db, workspaceId, ids);
      return new Map([...found].map(([id, services]) => [id, { services }]));
    },
    data: async (db, workspaceId, { id }) =>
      (await holdsData(db, workspaceId, id)).map(({ name, serverId }) => ({
        path: `services/${name}`,
        serverId,
      })),
    // They begin empty on the new server; their volumes stay where they are.
    leaveData: async (tx, workspaceId, id, serverId) => {
      await queries.forgetPlaces(tx, workspaceId, id, serverId);
    },
  };
}

/** Of the versions that we run, the one that the repository names; ours where it names another. */
function neededServices({ services }: AnalysisResult, app: App | undefined): WantedService[] {
  return services
    .filter(({ certainty, apps }) => certainty === 'needed' && (!app || apps.includes(app.path)))
    .map(({ kind, version }) => {
      const fitting = fittingVersion(kind, version);
      return { kind, ...(fitting !== undefined && { version: fitting }) };
    });
}
