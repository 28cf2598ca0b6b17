/** The paths of clusters. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { manage, type Routes, read } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import type { Scope } from '../../http/scope.ts';
import { apiPrefix } from '../../http/server.ts';
import type { ClusterId } from '../../ids.ts';
import { Page } from '../../page.ts';
import type { Principal } from '../../principal.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import {
  addServers,
  changeAvailability,
  createCluster,
  deleteCluster,
  removeServer,
  renameCluster,
} from './change-clusters.ts';
import type { ClustersContext } from './clusters.ts';
import { listClusters, readCluster } from './read-clusters.ts';
import * as schemas from './schemas.ts';
import type { ClusterRequest } from './start-operation.ts';
import { startReboot } from './start-reboot.ts';

const base = `${apiPrefix}/clusters`;
const joinFaults = ['server_in_cluster', 'server_not_ready', 'in_use', 'not_found'] as const;

function requestOf(
  { workspaceId }: Pick<Scope, 'workspaceId'>,
  { accountId }: Pick<Principal, 'accountId'>,
  clusterId: ClusterId,
): ClusterRequest {
  return { workspaceId, clusterId, requestedBy: accountId };
}

export function clusterRoutes(routes: Routes, ctx: ClustersContext): void {
  const route = routes.tagged('Clusters');
  route.post(base, {
    access: manage,
    idempotent: true,
    faults: ['name_taken', ...joinFaults],
    schema: {
      operationId: 'createCluster',
      summary: 'Make a cluster of servers',
      description:
        'A Docker Swarm of these servers, as the operation `cluster_join`: they are checked (no other swarm, one architecture, clocks, a way to each other on the ports of Swarm), the ports are opened for members alone, and they join. What fails takes all of them out again. Takes an `Idempotency-Key`.',
      body: schemas.CreateBody,
      response: { 202: schemas.ClusterAnswer },
    },
    handler: ({ scope, principal, body, saveResponse }) =>
      createCluster(
        ctx,
        { workspaceId: scope.workspaceId, requestedBy: principal.accountId },
        body,
        saveResponse,
      ),
  });

  route.get(base, {
    access: read,
    schema: {
      operationId: 'listClusters',
      summary: 'List your clusters',
      querystring: PageQuery,
      response: { 200: schemas.ClustersAnswer },
    },
    handler: ({ scope, query }) => listClusters(ctx.db, scope.workspaceId, new Page(query)),
  });

  route.get(`${base}/:id`, {
    access: read,
    schema: {
      operationId: 'getCluster',
      summary: 'One cluster, with its members and what its managers can stand',
      description: 'As it was seen at `checkedAt`; it is looked at every minute, and after each operation.',
      params: idParams<ClusterId>(),
      response: { 200: schemas.ClusterAnswer },
    },
    handler: ({ scope, params }) => readCluster(ctx.db, scope.workspaceId, params.id),
  });

  route.patch(`${base}/:id`, {
    access: manage,
    faults: ['name_taken'],
    schema: {
      operationId: 'updateCluster',
      summary: 'Rename a cluster',
      params: idParams<ClusterId>(),
      body: schemas.UpdateBody,
      response: { 200: schemas.ClusterAnswer },
    },
    handler: ({ scope, params, body }) => renameCluster(ctx, scope.workspaceId, params.id, body.name),
  });

  route.delete(`${base}/:id`, {
    access: manage,
    faults: ['cluster_busy', 'in_use'],
    schema: {
      operationId: 'deleteCluster',
      summary: 'Delete a cluster',
      description:
        'All of its servers leave the swarm, as an operation, and are servers on their own afterwards. With `lost=true`, those that do not answer are only forgotten.',
      params: idParams<ClusterId>(),
      querystring: schemas.LostQuery,
      response: { 202: OperationAnswer, 204: Type.Null({ description: 'Gone: it had no servers.' }) },
    },
    handler: ({ scope, principal, params, query }) => {
      const request = requestOf(scope, principal, params.id);
      return deleteCluster(ctx, request, query.lost ?? false);
    },
  });

  route.post(`${base}/:id/servers`, {
    access: manage,
    idempotent: true,
    faults: ['cluster_busy', ...joinFaults],
    schema: {
      operationId: 'createClusterMembers',
      summary: 'Add servers to a cluster',
      description:
        'As the operation `cluster_join`, with the same checks as for a new cluster. Which servers are managers is settled with it. Takes an `Idempotency-Key`.',
      params: idParams<ClusterId>(),
      body: schemas.AddBody,
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) => {
      const request = requestOf(scope, principal, params.id);
      return addServers(ctx, request, body.serverIds, saveResponse);
    },
  });

  route.delete(`${base}/:id/servers/:serverId`, {
    access: manage,
    faults: ['cluster_busy', 'in_use'],
    schema: {
      operationId: 'deleteClusterMember',
      summary: 'Take a server out of a cluster',
      description:
        'As the operation `cluster_leave`: it is emptied, replaced as a manager where it is one, leaves the swarm, and is as it was before it joined. With `lost=true` it is gone for good, and only taken off the list.',
      params: schemas.MemberParams,
      querystring: schemas.LostQuery,
      response: { 202: OperationAnswer },
    },
    location: ({ id }) => `${apiPrefix}/operations/${id}`,
    handler: async ({ scope, principal, params, query }) => {
      const request = requestOf(scope, principal, params.id);
      return (await removeServer(ctx, request, params.serverId, query.lost ?? false)).body;
    },
  });

  route.post(`${base}/:id/rolling-reboot`, {
    access: manage,
    idempotent: true,
    faults: ['cluster_busy', 'server_not_ready', 'downtime_unconfirmed'],
    schema: {
      operationId: 'rebootCluster',
      summary: 'Reboot all servers of a cluster, one after the other',
      description:
        'As the operation `cluster_reboot`, the leader last: each is emptied, updated, rebooted, and back in use before the next. Where one does not come back, the others are left as they are. Takes an `Idempotency-Key`.',
      params: idParams<ClusterId>(),
      body: schemas.RebootBody,
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) => {
      const request = requestOf(scope, principal, params.id);
      return startReboot(ctx, request, body, saveResponse);
    },
  });

  for (const { verb, availability, operationId, summary, description } of availabilities)
    route.post(`${base}/:id/servers/:serverId/${verb}`, {
      access: manage,
      idempotent: true,
      faults: ['cluster_busy'],
      schema: {
        operationId,
        summary,
        description,
        params: schemas.MemberParams,
        response: { 202: OperationAnswer },
      },
      handler: ({ scope, principal, params, saveResponse }) => {
        const request = {
          workspaceId: scope.workspaceId,
          clusterId: params.id,
          requestedBy: principal.accountId,
        };
        return changeAvailability(ctx, request, params.serverId, availability, saveResponse);
      },
    });
}

const availabilities = [
  {
    verb: 'drain',
    availability: 'drain',
    operationId: 'drainClusterMember',
    summary: 'Empty a server of a cluster',
    description:
      'What runs there is run elsewhere, and nothing is placed on it until it is activated: for an update, or a reboot. The operation ends when the server is empty. Takes an `Idempotency-Key`.',
  },
  {
    verb: 'activate',
    availability: 'active',
    operationId: 'activateClusterMember',
    summary: 'Take a server of a cluster back into use',
    description: 'After it was drained. What runs elsewhere stays there. Takes an `Idempotency-Key`.',
  },
] as const;
