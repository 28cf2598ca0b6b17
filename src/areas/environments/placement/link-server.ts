/**
 * Where an environment is to stand. One that runs elsewhere moves: a deployment brings it to the new server, and the
 * old one serves until it is there. Data of services and volumes does not move by itself, so it is not left behind unasked.
 */
import { Fault } from '../../../fault.ts';
import type { AccountId, DeploymentId, EnvironmentId, ServerId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { publishProjectEvent } from '../../projects/projects.ts';
import { readServer } from '../../servers/read-server.ts';
import type { EnvironmentsContext } from '../context.ts';
import { type EnvironmentState, lockEnvironment, setDetails, setServer } from '../environment-state.ts';
import { dataOf, type EnvironmentHooks } from '../hooks.ts';
import { changedSettings } from '../needs.ts';
import { readEnvironment, type ShownEnvironment } from '../read-environments.ts';
import { refuseSettingsOnCluster } from './on-cluster.ts';
import { placementsOf } from './placements.ts';
import {
  type HeldPlace,
  holdPlace,
  type NamedPlacement,
  namedPlacement,
  type WantedPlacement,
} from './wanted-placement.ts';

export interface ServerLink {
  /** Null: nowhere. */
  readonly serverId?: ServerId | null;
  readonly placement?: WantedPlacement;
  /** Leaves data where it is. */
  readonly leaveData?: boolean;
}

export interface Linked {
  readonly environment: ShownEnvironment;
  /** The one that brings it there; null where nothing had to move. */
  readonly deployment: { readonly id: DeploymentId; readonly status: 'queued' } | null;
}

export function linkServer(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  requestedBy: AccountId,
  { leaveData = false, ...link }: ServerLink,
): Promise<Linked> {
  const named = namedPlacement(link);
  if (!named && link.serverId !== null) throw nothingSaid();
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const place = named && (await holdReady(tx, workspaceId, named));
    const settings = { ...before.settings, ...place?.settings };
    if (place && place.clusterId !== null) refuseSettingsOnCluster(settings);
    const isChanged = changedSettings(before.settings, settings).length > 0;
    const serverId = place ? await sameHome(tx, workspaceId, before, place) : null;
    if (isChanged) await setDetails(tx, workspaceId, id, { ...before, settings }, ctx.clock.now());
    if (before.serverId === serverId) {
      const environment = await readEnvironment(tx, ctx.hooks, workspaceId, id);
      if (isChanged)
        await publishProjectEvent(tx, workspaceId, before.projectId, { reason: 'server', environmentId: id });
      return { environment, deployment: null };
    }
    const places = await placementsOf(tx, workspaceId, id);
    if (serverId === null && (places.length > 0 || before.status === 'deploying')) throw stillStands(before);
    if (leaveData) for (const hook of ctx.hooks) await hook.leaveData?.(tx, workspaceId, id, serverId);
    else await refuseDataElsewhere(tx, ctx.hooks, workspaceId, before, serverId);
    await setServer(tx, workspaceId, id, serverId, ctx.clock.now());
    const standsElsewhere = places.some((place) => place.serverId !== serverId);
    const hasRelease = before.currentReleaseId !== null && standsElsewhere;
    // A deployment that is at work ends where it began; this one comes after it.
    const isMove = before.wanted === 'running' && (hasRelease || before.status === 'deploying');
    const move = { workspaceId, environmentId: id, trigger: 'move', requestedBy } as const;
    const deploymentId = isMove ? await ctx.deploy(tx, move) : null;
    const environment = await readEnvironment(tx, ctx.hooks, workspaceId, id);
    await publishProjectEvent(tx, workspaceId, before.projectId, { reason: 'server', environmentId: id });
    return { environment, deployment: deploymentId && { id: deploymentId, status: 'queued' } };
  });
}

async function holdReady(tx: Queryable, workspaceId: WorkspaceId, named: NamedPlacement): Promise<HeldPlace> {
  const place = await holdPlace(tx, workspaceId, named);
  if (place.isReady) return place;
  throw new Fault('server_not_ready', 'The server has not been set up yet.', {
    hint: 'Test its connection, and provision it with POST /servers/:id/provision.',
    errors: [{ path: named.path, message: 'is a server that is not ready' }],
  });
}

/** Who stands on the cluster already keeps its home there. */
async function sameHome(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { serverId }: EnvironmentState,
  place: HeldPlace,
): Promise<ServerId> {
  if (serverId === null || place.clusterId === null) return place.serverId;
  const { clusterId } = await readServer(tx, workspaceId, serverId);
  return clusterId === place.clusterId ? serverId : place.serverId;
}

function nothingSaid(): Fault {
  return new Fault('invalid_input', 'The request says no place.', {
    errors: [{ path: 'serverId', message: 'must be there, or `placement`' }],
  });
}

async function refuseDataElsewhere(
  tx: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  environment: EnvironmentState,
  serverId: ServerId | null,
): Promise<void> {
  const held = await dataOf(tx, hooks, workspaceId, environment);
  const elsewhere = held.filter((each) => each.serverId !== null && each.serverId !== serverId);
  const paths = new Set(elsewhere.map(({ path }) => path));
  if (paths.size === 0) return;
  throw new Fault('services_hold_data', 'The environment has data on another server.', {
    hint: 'Back it up first. With `leaveData: true` it stays where it is, and the environment begins empty.',
    errors: [...paths].map((path) => ({ path, message: 'has data on another server' })),
  });
}

function stillStands({ status }: EnvironmentState): Fault {
  return new Fault('in_use', 'The environment is still on a server.', {
    hint:
      status === 'deploying'
        ? 'Cancel the deployment first, or wait for its end.'
        : 'Link another server to move it there, or delete the environment.',
    errors: [{ path: 'serverId', message: 'cannot be null while something of it is on a server' }],
  });
}
