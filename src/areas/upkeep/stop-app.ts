/**
 * Takes an application out of service and leaves its services alone: visitors are told so with 503, what they asked for
 * is finished, then its containers stop. `putInService` brings it back.
 */
import { drained, stopFront } from '../../adapters/proxy/fronts.ts';
import { routesOf } from '../domains/proxy-names.ts';
import type { EnvironmentState } from '../environments/environment-state.ts';
import type { Site } from '../environments/place.ts';
import { proxyFront } from '../releases/go-live.ts';
import { listApp, processOf } from '../releases/look-at-site.ts';
import { readRelease } from '../releases/releases.ts';
import { stopContainers } from '../releases/retire.ts';
import { endCrons, hasCrons } from '../releases/set-crons.ts';
import { webProcess } from '../releases/start-release.ts';
import type { UpkeepContext } from './upkeep.ts';

export async function stopApp(ctx: UpkeepContext, site: Site, environment: EnvironmentState): Promise<void> {
  const { workspaceId } = site.place;
  const { id, currentReleaseId } = environment;
  if (currentReleaseId === null) return;
  const { run } = await readRelease(ctx.db, ctx.sealer, workspaceId, currentReleaseId);
  const routes = await routesOf(ctx.db, workspaceId, id);
  await stopFront(site, proxyFront(site, run, routes, []));
  const found = await listApp(site);
  const names = found.map(({ name }) => name);
  const web = found.filter((each) => processOf(each) === webProcess).map(({ name }) => name);
  await drained(site, id, web, { forMs: run.drainSeconds * 1_000 });
  if (hasCrons(run)) await endCrons(site);
  await stopContainers(site, names, run.stopSeconds);
}
