/**
 * Where an environment is to stand. One that runs elsewhere moves: a deployment brings it to the new server, and the
 * old one serves until it is there. Data of services and volumes does not move by itself, so it is not left behind unasked.
 */
import type { Placement } from '../../engine/placement.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, DeploymentId, EnvironmentId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { requestDeployment } from '../deployments/request-deployment.ts';
import { checkServer } from '../environments/check-server.ts';
import { type EnvironmentState, lockEnvironment, setServer } from '../environments/environment-state.ts';
import { placesOf } from '../environments/places.ts';
import { tellProject } from '../projects/projects.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { leaveBehind } from '../services/leave-behind.ts';
import { holdsData } from '../services/read-services.ts';
import type { AssemblyContext } from './assembly.ts';
import { readEnvironment, type ShownEnvironment } from './read-environments.ts';

export interface LinkWish {
  readonly serverId: ServerId | null;
  /** Leaves data where it is. */
  readonly leaveData?: boolean;
}

export interface Linked {
  readonly environment: ShownEnvironment;
  /** The one that brings it there; null where nothing had to move. */
  readonly deployment: { readonly id: DeploymentId; readonly status: 'queued' } | null;
}

export function linkServer(
  ctx: AssemblyContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  requestedBy: AccountId,
  { serverId, leaveData = false }: LinkWish,
): Promise<Linked> {
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    if (serverId !== null) await checkReady(tx, workspaceId, serverId);
    if (before.serverId === serverId)
      return { environment: await readEnvironment(tx, workspaceId, id), deployment: null };
    const places = await placesOf(tx, workspaceId, id);
    if (serverId === null && (places.length > 0 || before.status === 'deploying')) throw stillStands(before);
    if (leaveData) await leaveBehind(tx, workspaceId, id, serverId);
    else await refuseDataElsewhere(ctx, tx, workspaceId, before, places, serverId);
    await setServer(tx, workspaceId, id, serverId, ctx.clock.now());
    const standsElsewhere = places.some((place) => place.serverId !== serverId);
    const hasRelease = before.currentReleaseId !== null && standsElsewhere;
    // A deployment that is at work ends where it began; this one comes after it.
    const isMove = before.wanted === 'running' && (hasRelease || before.status === 'deploying');
    const wish = { workspaceId, environmentId: id, trigger: 'move', requestedBy } as const;
    const deploymentId = isMove ? await requestDeployment(tx, ctx, wish) : null;
    const environment = await readEnvironment(tx, workspaceId, id);
    await tellProject(tx, workspaceId, before.projectId, { reason: 'server', environmentId: id });
    return { environment, deployment: deploymentId && { id: deploymentId, status: 'queued' } };
  });
}

async function checkReady(tx: Queryable, workspaceId: WorkspaceId, serverId: ServerId): Promise<void> {
  const { status, provisionedAt } = await checkServer(tx, workspaceId, serverId, 'serverId');
  if (status !== 'pending' && provisionedAt !== null) return;
  throw new Fault('server_not_ready', 'The server has not been set up yet.', {
    hint: 'Test its connection, and provision it with POST /servers/:id/provision.',
    errors: [{ path: 'serverId', message: 'is a server that is not ready' }],
  });
}

async function refuseDataElsewhere(
  { sealer }: AssemblyContext,
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, currentReleaseId }: EnvironmentState,
  places: readonly Placement[],
  serverId: ServerId | null,
): Promise<void> {
  const isElsewhere = (each: { readonly serverId: ServerId }) => each.serverId !== serverId;
  const services = (await holdsData(tx, workspaceId, id)).filter(isElsewhere);
  const hasRelease = currentReleaseId !== null && places.some(isElsewhere);
  const volumes = hasRelease
    ? (await readRelease(tx, sealer, workspaceId, currentReleaseId)).run.volumes
    : [];
  const left = [
    ...services.map(({ name }) => `services/${name}`),
    ...volumes.map(({ name }) => `volumes/${name}`),
  ];
  if (left.length === 0) return;
  throw new Fault('services_hold_data', 'The environment has data on another server.', {
    hint: 'Back it up first. With `leaveData: true` it stays where it is, and the environment begins empty.',
    errors: left.map((path) => ({ path, message: 'has data on another server' })),
  });
}

function stillStands({ status }: EnvironmentState): Fault {
  return new Fault('in_use', 'The environment still stands on a server.', {
    hint:
      status === 'deploying'
        ? 'Cancel the deployment first, or wait for its end.'
        : 'Link another server to move it there, or delete the environment.',
    errors: [{ path: 'serverId', message: 'cannot be null while something of it is on a server' }],
  });
}
