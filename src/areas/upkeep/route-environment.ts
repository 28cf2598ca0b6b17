/** Tells the proxy of the names that lead to an environment, as they are stored; what serves them is not touched. */
import { restoreFront, stopFront } from '../../adapters/proxy/fronts.ts';
import { minute } from '../../clock.ts';
import type { CertificateId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { routeKind } from '../domains/domain-work.ts';
import { ensureCertificates, removeIfUnused } from '../domains/installed-certificates.ts';
import { routesOf } from '../domains/proxy-names.ts';
import { proxyFront, serversOf } from '../releases/go-live.ts';
import { deploymentOf, listApp, processOf } from '../releases/look-at-site.ts';
import { readRelease } from '../releases/releases.ts';
import { webProcess } from '../releases/start-release.ts';
import { untilBack } from '../releases/until-back.ts';
import { environmentOf, type Input, readInput, siteOf, type UpkeepContext } from './upkeep.ts';

interface RouteInput extends Input {
  readonly without: CertificateId | null;
}

export function routeOperation(ctx: UpkeepContext): OperationKind {
  return defineOperation<RouteInput>({
    kind: routeKind,
    readInput: (stored) => {
      const { without } = Object(stored);
      return {
        ...readInput(stored),
        without: typeof without === 'string' ? (without as CertificateId) : null,
      };
    },
    steps: [
      {
        name: 'route',
        deadlineMs: 15 * minute,
        retry: untilBack,
        undo: { none: 'Names follow what is stored.' },
        run: async (input, step) => {
          const environment = await environmentOf(ctx, input, step);
          const { currentReleaseId, currentDeploymentId, wanted } = environment;
          // The first deployment tells the proxy of them.
          if (currentReleaseId === null) return undefined;
          const { run } = await readRelease(ctx.db, ctx.sealer, step.workspaceId, currentReleaseId);
          const routes = await routesOf(ctx.db, step.workspaceId, environment.id);
          const site = await siteOf(ctx, environment, step);
          // Before the names: none is sent to https that could not be shown there.
          await ensureCertificates(ctx, site);
          if (wanted === 'stopped') {
            await stopFront(site, proxyFront(site, run, routes, []));
            if (input.without !== null) await removeIfUnused(ctx.db, site, input.without);
            return undefined;
          }
          const web = (await listApp(site))
            .filter((each) => deploymentOf(each) === currentDeploymentId && processOf(each) === webProcess)
            .map((each) => ({ name: each.name, process: webProcess, address: each.address ?? '' }));
          await restoreFront(site, proxyFront(site, run, routes, serversOf(web, run.port)));
          if (input.without !== null) await removeIfUnused(ctx.db, site, input.without);
          return undefined;
        },
      },
    ],
  });
}
