/** Tells the proxy of the names that lead to an environment, as they are stored; what serves them is not touched. */
import { minute } from '../../clock.ts';
import { endpointsOf } from '../../engine/engine.ts';
import { webProcess } from '../../engine/release-spec.ts';
import type { CertificateId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { routeKind } from '../domains/domain-work.ts';
import { ensureCertificates, removeIfUnused } from '../domains/installed-certificates.ts';
import { frontOf } from '../domains/proxy-names.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { transientRetry } from '../releases/transient-retry.ts';
import { environmentOf, type Input, type ReconcileContext, readInput, targetOf } from './reconcile.ts';

interface RouteInput extends Input {
  readonly without: CertificateId | null;
}

export function routeOperation(ctx: ReconcileContext): OperationKind {
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
        retry: transientRetry,
        undo: { none: 'Names follow what is stored.' },
        run: async (input, step) => {
          const environment = await environmentOf(ctx, input, step);
          const { currentReleaseId, currentDeploymentId, wanted } = environment;
          // The first deployment tells the proxy of them.
          if (currentReleaseId === null) return undefined;
          const { run } = await readRelease(ctx.db, ctx.sealer, step.workspaceId, currentReleaseId);
          const target = await targetOf(ctx, environment, step);
          const front = await frontOf(ctx.db, target.placement, run, []);
          // Before the names: none is sent to https that could not be shown there.
          await ensureCertificates(ctx, target);
          if (wanted === 'stopped') {
            await target.refuseRequests(front);
            if (input.without !== null) await removeIfUnused(ctx.db, target, input.without);
            return undefined;
          }
          // Whoever empties a server of a cluster asks for this first: what runs there must be able to start elsewhere.
          await target.ensureImages();
          const web = (await target.instances())
            .filter((each) => each.deploymentId === currentDeploymentId && each.process === webProcess)
            .map(({ name, address }) => ({ name, process: webProcess, address: address ?? '' }));
          await target.restoreFront({ ...front, endpoints: endpointsOf(web, run.port) });
          if (input.without !== null) await removeIfUnused(ctx.db, target, input.without);
          return undefined;
        },
      },
    ],
  });
}
