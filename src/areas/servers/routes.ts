/** The paths of servers. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { manage, type Routes, read } from '../../http/routes.ts';
import { closed, idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { ServerId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { readOperation } from '../operations/operations.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { provisionServer } from './provision.ts';
import { listServers, readServer } from './read-server.ts';
import { registerServer } from './register.ts';
import { removeServerRecord, startRemoval } from './remove.ts';
import * as schemas from './schemas.ts';
import type { ServersContext } from './servers.ts';
import { testConnection } from './test-connection.ts';
import { updateServer } from './update.ts';

const base = `${apiPrefix}/servers`;
const wayFaults = [
  ...([
    'egress_refused',
    'name_not_resolved',
    'port_refused',
    'port_filtered',
    'host_key_mismatch',
    'ssh_algorithms_weak',
  ] as const),
  ...(['login_refused', 'sudo_refused', 'remote_unreachable', 'remote_timeout', 'remote_failed'] as const),
];

export function serverRoutes(routes: Routes, ctx: ServersContext): void {
  const route = routes.tagged('Servers');
  route.post(base, {
    access: manage,
    idempotent: true,
    limit: 'server-test',
    faults: ['name_taken', ...wayFaults],
    schema: {
      operationId: 'registerServer',
      summary: 'Register a server',
      description:
        'With `generated`, install the `publicKey` of the answer for the user; the server is provisioned once it lets us in. With `password`, the server is logged in to at once, a key of ours is installed, and the password forgotten. A machine that another record has, of any workspace, is not worked on: the server stays `pending` with the problem `server_taken`. Takes an `Idempotency-Key`.',
      body: schemas.RegisterBody,
      response: { 201: schemas.ServerAnswer },
    },
    handler: ({ scope, principal, body, saveResponse }) =>
      registerServer(ctx, scope.workspaceId, principal.accountId, body, saveResponse),
  });

  route.get(base, {
    access: read,
    schema: {
      operationId: 'listServers',
      summary: 'List your servers',
      querystring: PageQuery,
      response: { 200: schemas.ServersAnswer },
    },
    handler: ({ scope, query }) => listServers(ctx.db, scope.workspaceId, new Page(query)),
  });

  route.get(`${base}/:id`, {
    access: read,
    schema: {
      operationId: 'getServer',
      summary: 'One server',
      params: idParams<ServerId>(),
      response: { 200: schemas.ServerAnswer },
    },
    handler: ({ scope, params }) => readServer(ctx.db, scope.workspaceId, params.id),
  });

  route.patch(`${base}/:id`, {
    access: manage,
    limit: 'server-test',
    faults: ['host_key_mismatch', 'name_taken', 'egress_refused'],
    schema: {
      operationId: 'updateServer',
      summary: 'Change a server, or accept its new host key',
      description:
        'A server that is reached another way is looked at anew; its pinned host key stays, unless `acceptHostKey` names another.',
      params: idParams<ServerId>(),
      body: schemas.UpdateBody,
      response: { 200: schemas.ServerAnswer },
    },
    handler: ({ scope, params, body }) => updateServer(ctx, scope.workspaceId, params.id, body),
  });

  route.delete(`${base}/:id`, {
    access: manage,
    faults: ['server_busy', 'server_not_ready', 'server_in_cluster', 'in_use'],
    schema: {
      operationId: 'deleteServer',
      summary: 'Delete a server',
      description:
        'Takes away what Slipway put on it, as an operation: containers, networks, the proxy, units and our key. With `leave=true` the server is not touched and only forgotten, which also works when it is gone for good.',
      params: idParams<ServerId>(),
      querystring: Type.Object(
        { leave: Type.Optional(Type.Boolean({ description: 'Forget it without touching it.' })) },
        closed,
      ),
      response: { 202: OperationAnswer, 204: Type.Null({ description: 'Forgotten.' }) },
    },
    handler: async ({ scope, principal, params, query }) => {
      const { workspaceId } = scope;
      if (query.leave) {
        await removeServerRecord(ctx, workspaceId, params.id);
        return { status: 204, body: null };
      }
      const operationId = await startRemoval(ctx, workspaceId, params.id, principal.accountId);
      const location = `${apiPrefix}/operations/${operationId}`;
      return { status: 202, location, body: await readOperation(ctx.db, workspaceId, operationId) };
    },
  });

  route.post(`${base}/:id/provision`, {
    access: manage,
    idempotent: true,
    faults: ['server_busy'],
    schema: {
      operationId: 'provisionServer',
      summary: 'Make a server ready, again',
      description:
        'Installs Docker where it is missing, makes our folders and network, and starts the proxy. Begins by itself on registration; a second run changes nothing. Takes an `Idempotency-Key`.',
      params: idParams<ServerId>(),
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, saveResponse }) =>
      provisionServer(ctx, scope.workspaceId, params.id, principal.accountId, saveResponse),
  });

  route.live('POST', `${base}/test-connection`, {
    access: manage,
    limit: 'server-test',
    schema: {
      operationId: 'testConnection',
      summary: 'Test the connection to a server, saved or not',
      description:
        'One `step` after the other, then one `result`, and `end`. An address where no server may stand (`SLIPWAY_SERVER_NETWORKS`) ends it at `resolve`, before anything is sent there. Changes nothing on the server; what is not saved is not stored.',
      body: schemas.TestBody,
    },
    events: schemas.TestEvent,
    handler: ({ scope, body }) => testConnection(ctx, scope.workspaceId, body),
  });
}
