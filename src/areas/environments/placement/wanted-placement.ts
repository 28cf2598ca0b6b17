/** Where an environment is asked to stand: on a server, or on a cluster. */
import { Fault } from '../../../fault.ts';
import type { ClusterId, ServerId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { readHeldServer } from '../../servers/read-server.ts';
import type { ServerFacts } from '../../servers/servers.ts';
import type { EnvironmentSettings } from '../environments.ts';
import { chooseHome } from './cluster-home.ts';

/** What a placement on a cluster may say of the settings. */
type ClusterWishes = Pick<EnvironmentSettings, 'replicas' | 'spread'>;

export type WantedPlacement =
  | { readonly serverId: ServerId }
  | ({ readonly clusterId: ClusterId } & ClusterWishes);

/** What a request says, and the field that says it. */
export interface NamedPlacement {
  readonly wanted: WantedPlacement;
  readonly path: string;
}

/** `serverId` is short for a placement on a server. */
export function namedPlacement(
  request: { readonly serverId?: ServerId | null; readonly placement?: WantedPlacement },
  within = '',
): NamedPlacement | undefined {
  const { serverId, placement } = request;
  if (serverId !== undefined && placement !== undefined)
    throw new Fault('invalid_input', 'An environment is placed once.', {
      errors: [{ path: `${within}serverId`, message: 'must be absent where there is `placement`' }],
    });
  if (placement) {
    const field = 'serverId' in placement ? 'serverId' : 'clusterId';
    return { wanted: placement, path: `${within}placement.${field}` };
  }
  return serverId ? { wanted: { serverId }, path: `${within}serverId` } : undefined;
}

export interface HeldPlace {
  readonly serverId: ServerId;
  readonly clusterId: ClusterId | null;
  readonly facts: ServerFacts | null;
  /** The server can take something now. */
  readonly isReady: boolean;
  readonly settings: ClusterWishes;
}

/** It is the caller's, and until the transaction ends nobody takes it away; the answer says which field named it. */
export async function holdPlace(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { wanted, path }: NamedPlacement,
): Promise<HeldPlace> {
  if ('serverId' in wanted) {
    const { facts, status, provisionedAt } = await checkServer(tx, workspaceId, wanted.serverId, path);
    const isReady = status !== 'pending' && provisionedAt !== null;
    return { serverId: wanted.serverId, clusterId: null, facts, isReady, settings: {} };
  }
  const { clusterId, ...settings } = wanted;
  const serverId = await chooseHome(tx, workspaceId, clusterId, path);
  const { facts } = await readHeldServer(tx, workspaceId, serverId, 'shared');
  return { serverId, clusterId, facts, isReady: true, settings };
}

async function checkServer(tx: Queryable, workspaceId: WorkspaceId, serverId: ServerId, path: string) {
  const server = await readHeldServer(tx, workspaceId, serverId, 'shared').catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
    throw new Fault('not_found', 'No such server.', {
      errors: [{ path, message: 'is none of your servers' }],
    });
  });
  if (server.clusterId === null) return server;
  throw new Fault('server_in_cluster', `${server.name} is a member of a cluster.`, {
    hint: `Place it on the cluster: \`placement: {"clusterId": "${server.clusterId}"}\`.`,
    errors: [
      { path, message: 'must be a server outside of clusters: a member belongs to its cluster as a whole' },
    ],
  });
}
