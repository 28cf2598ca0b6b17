/** Stops an application: visitors are told so, what they asked for is finished, then its containers and services stop. */
import { drained, stopSite } from '../../adapters/proxy/sites.ts';
import { minute } from '../../clock.ts';
import type { AccountId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import type { Remember } from '../../store/answer.ts';
import { routesOf } from '../domains/proxy-names.ts';
import {
  lockEnvironment,
  setStatus,
  setWanted,
  tryLockEnvironment,
} from '../environments/environment-state.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { tellProject } from '../projects/projects.ts';
import { proxySite } from '../releases/go-live.ts';
import { listApp, processOf } from '../releases/look-at-site.ts';
import { readRelease } from '../releases/releases.ts';
import { stopContainers } from '../releases/retire.ts';
import { endCrons, hasCrons } from '../releases/set-crons.ts';
import { webProcess } from '../releases/start-release.ts';
import { untilBack } from '../releases/until-back.ts';
import { hasServices } from '../services/read-services.ts';
import { stopServices } from '../services/stop-services.ts';
import {
  enqueueUpkeep,
  environmentOf,
  type Input,
  readInput,
  siteOf,
  stopKind,
  type UpkeepContext,
} from './upkeep.ts';

export function stopEnvironment(
  ctx: UpkeepContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  requestedBy: AccountId,
  remember: Remember,
): Promise<StartedOperation> {
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, id);
    await setWanted(tx, workspaceId, id, 'stopped', ctx.clock.now());
    const operationId = await enqueueUpkeep(tx, ctx, {
      workspaceId,
      environment,
      kind: stopKind,
      requestedBy,
    });
    return answerStarted(tx, workspaceId, operationId, remember);
  });
}

export function stopOperation(ctx: UpkeepContext): OperationKind {
  return defineOperation<Input>({
    kind: stopKind,
    readInput,
    follow: async (tx, { workspaceId, input }, change) => {
      if (change.state !== 'succeeded') return;
      const environment = await tryLockEnvironment(tx, workspaceId, input.environmentId);
      if (!environment || environment.currentReleaseId === null) return;
      const { projectId } = environment;
      await setStatus(tx, workspaceId, input.environmentId, 'stopped', null, ctx.clock.now());
      const news = { reason: 'environment', environmentId: input.environmentId, status: 'stopped' };
      await tellProject(tx, workspaceId, projectId, news);
    },
    steps: [
      {
        ...{ name: 'stop', deadlineMs: 150 * minute, retry: untilBack },
        undo: { none: 'A start puts everything back; until then it is what was asked for.' },
        run: async (input, step) => {
          const environment = await environmentOf(ctx, input, step);
          const { currentReleaseId } = environment;
          if (currentReleaseId === null) return undefined;
          const { run } = await readRelease(ctx.db, ctx.sealer, step.workspaceId, currentReleaseId);
          const site = await siteOf(ctx, environment, step);
          const routes = await routesOf(ctx.db, step.workspaceId, environment.id);
          await stopSite(site, proxySite(site, run, routes, []));
          const found = await listApp(site);
          const names = found.map(({ name }) => name);
          const web = found.filter((each) => processOf(each) === webProcess).map(({ name }) => name);
          await drained(site, environment.id, web, { forMs: run.drainSeconds * 1_000 });
          if (hasCrons(run)) await endCrons(site);
          await stopContainers(site, names, run.stopSeconds);
          if (await hasServices(ctx.db, step.workspaceId, environment.id)) await stopServices(ctx, site);
          return undefined;
        },
      },
    ],
  });
}
