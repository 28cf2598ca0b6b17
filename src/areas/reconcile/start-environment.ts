/**
 * Puts the current release back into service: what is missing is made, what is stopped is started, the proxy is told.
 * Used where a person starts an environment, and where a look found that something is not as it should be. Where all is
 * well it changes nothing.
 */
import { minute } from '../../clock.ts';
import { addressesOf, endpointsOf, type Target } from '../../engine/engine.ts';
import { hasCrons, secretsOf } from '../../engine/release-spec.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, EnvironmentId, OperationId, WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../operations/definition.ts';
import type { SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import type { DeploymentQueue } from '../deployments/deployments.ts';
import { readDeployment } from '../deployments/read-deployments.ts';
import { requestDeployment } from '../deployments/request-deployment.ts';
import { ensureCertificates } from '../domains/installed-certificates.ts';
import { frontOf } from '../domains/proxy-names.ts';
import {
  lockEnvironment,
  setStatus,
  setWanted,
  tryLockEnvironment,
} from '../environments/environment-state.ts';
import { noticeHealth } from '../environments/notice-health.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { transientRetry } from '../releases/transient-retry.ts';
import { isServerUnavailable } from '../servers/connection/server-retry.ts';
import { ensureServices } from '../services/ensure-services.ts';
import { hasServices } from '../services/read-services.ts';
import {
  type EnvironmentWork,
  enqueueEnvironmentWork,
  environmentOf,
  type Input,
  type ReconcileContext,
  readInput,
  startKind,
  targetOf,
} from './reconcile.ts';

export type StartContext = ReconcileContext & DeploymentQueue;

export function startEnvironment(
  ctx: StartContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  requestedBy: AccountId,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, id);
    if (environment.currentReleaseId === null) {
      throw new Fault('nothing_to_start', 'Nothing has been deployed to the environment yet.', {
        hint: 'Deploy it with POST /environments/:id/deployments.',
      });
    }
    await setWanted(tx, workspaceId, id, 'running', ctx.clock.now());
    const input = { workspaceId, environment, kind: startKind, requestedBy } as const;
    const operationId = (await moved(tx, ctx, input)) ?? (await enqueueEnvironmentWork(tx, ctx, input));
    return answerStarted(tx, workspaceId, operationId, saveResponse);
  });
}

/** One that was linked to another server while it was stopped is not there yet: a deployment brings it. */
async function moved(
  tx: Queryable,
  ctx: DeploymentQueue,
  input: EnvironmentWork,
): Promise<OperationId | undefined> {
  const { workspaceId, environment, requestedBy } = input;
  const places = await placementsOf(tx, workspaceId, environment.id);
  if (places.some(({ serverId }) => serverId === environment.serverId)) return undefined;
  const request = { workspaceId, environmentId: environment.id, trigger: 'move' } as const;
  const id = await requestDeployment(tx, ctx, {
    ...request,
    ...(requestedBy !== undefined && { requestedBy }),
  });
  const { operationId } = await readDeployment(tx, workspaceId, environment.id, id);
  return operationId ?? undefined;
}

export function startOperation(ctx: ReconcileContext): OperationKind {
  return defineOperation<Input>({
    kind: startKind,
    readInput,
    onStateChange: async (tx, { workspaceId, input }, change) => {
      if (change.state === 'running' || change.state === 'cancelled') return;
      const environment = await tryLockEnvironment(tx, workspaceId, input.environmentId);
      if (!environment || environment.wanted === 'stopped') return;
      const { id, projectId } = environment;
      const fault = change.state === 'failed' ? change.fault : null;
      const status = change.state === 'succeeded' ? 'running' : 'degraded';
      await noticeHealth(tx, workspaceId, environment, { status, problem: fault }, ctx.clock.now());
      await setStatus(tx, workspaceId, id, status, fault, ctx.clock.now());
      await publishProjectEvent(tx, workspaceId, projectId, {
        reason: 'environment',
        environmentId: id,
        status,
      });
    },
    steps: [
      {
        name: 'start',
        deadlineMs: 180 * minute,
        retry: transientRetry,
        undo: { none: 'What runs of the current release is what is wanted.' },
        run: async (input, step) => {
          await putInService(ctx, input, step);
          return undefined;
        },
      },
    ],
  });
}

/** Also for those who took it out of service for a while, and for their undo. */
export async function putInService(ctx: ReconcileContext, input: Input, step: StepContext): Promise<void> {
  const environment = await environmentOf(ctx, input, step);
  const { currentReleaseId, currentDeploymentId: deploymentId, wanted } = environment;
  // Stopped meanwhile, by someone who came later.
  if (currentReleaseId === null || deploymentId === null || wanted === 'stopped') return;
  const release = await readRelease(ctx.db, ctx.sealer, step.workspaceId, currentReleaseId);
  const { run } = release;
  const target = await targetOf(ctx, environment, step);
  // First of all: without it nothing on the server is reached, whoever it belongs to.
  await target.ensureProxy();
  const away = await startServices(ctx, target, step);
  const found = await target.instances();
  const foreign = found.filter((each) => each.deploymentId !== deploymentId);
  const start = { release, deploymentId, takenAddresses: addressesOf(found) };
  const web = await target.startWeb(start);
  const check = {
    instances: web,
    run,
    secrets: secretsOf(release),
    variables: release.variables,
    onProbe: () => undefined,
  };
  await target.waitHealthy(check);
  await target.startProcesses({
    ...start,
    takenAddresses: new Set([...start.takenAddresses, ...web.map(({ address }) => address)]),
  });
  await ensureCertificates(ctx, target);
  const front = await frontOf(ctx.db, target.placement, run, endpointsOf(web, run.port));
  await target.restoreFront(front);
  if (hasCrons(run)) await target.setCrons(run, deploymentId);
  // Left over from something that was cut off; they get no requests any more.
  await target.removeInstances(
    foreign.map(({ name }) => name),
    run.stopSeconds,
  );
  if (run.spread !== 'packed') await target.evenOut(front, check);
  if (away) throw away;
}

/** On a cluster the server with the data may be away while the others go on: that is told in the end. */
async function startServices(
  ctx: ReconcileContext,
  target: Target,
  { workspaceId, log }: StepContext,
): Promise<Fault | undefined> {
  const { environmentId, clusterId } = target.placement;
  if (!(await hasServices(ctx.db, workspaceId, environmentId))) return undefined;
  try {
    await ensureServices(ctx, target, { log });
    return undefined;
  } catch (error) {
    if (clusterId === null || !(error instanceof Fault) || !isServerUnavailable(error)) throw error;
    log(`The services of the environment are left out: ${error.message}`);
    return error;
  }
}
