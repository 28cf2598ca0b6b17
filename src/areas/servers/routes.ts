/** The paths of servers. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { sendLive } from '../../http/live.ts';
import { manage, read, repeatable } from '../../http/route-config.ts';
import { closed, IdParams, PageQuery, streamAnswer } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
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

const tags = ['Servers'];
const base = `${apiPrefix}/servers`;
const wayFaults = [
  ...([
    'name_not_resolved',
    'port_refused',
    'port_filtered',
    'host_key_mismatch',
    'ssh_algorithms_weak',
  ] as const),
  ...(['login_refused', 'sudo_refused', 'remote_unreachable', 'remote_timeout', 'remote_failed'] as const),
];

export function serverRoutes(app: HttpServer, ctx: ServersContext, idempotency: Idempotency): void {
  app.post(base, {
    config: { ...manage, faults: [...repeatable, 'name_taken', ...wayFaults] },
    schema: {
      tags,
      operationId: 'registerServer',
      summary: 'Register a server',
      description:
        'With `generated`, install the `publicKey` of the answer for the user; the server is provisioned once it lets us in. With `password`, the server is logged in to at once, a key of ours is installed, and the password forgotten. Takes an `Idempotency-Key`.',
      body: schemas.RegisterBody,
      response: { 201: schemas.ServerAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      return idempotency.once(request, reply, (remember) =>
        registerServer(ctx, workspaceId, accountId, request.body, remember),
      );
    },
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listServers',
      summary: 'List your servers',
      querystring: PageQuery,
      response: { 200: schemas.ServersAnswer },
    },
    handler: (request) => listServers(ctx.db, scopeOf(request).workspaceId, new Page(request.query)),
  });

  app.get(`${base}/:id`, {
    config: read,
    schema: {
      tags,
      operationId: 'getServer',
      summary: 'One server',
      params: IdParams,
      response: { 200: schemas.ServerAnswer },
    },
    handler: (request) => readServer(ctx.db, scopeOf(request).workspaceId, request.params.id as ServerId),
  });

  app.patch(`${base}/:id`, {
    config: { ...manage, faults: ['host_key_mismatch', 'name_taken'] },
    schema: {
      tags,
      operationId: 'updateServer',
      summary: 'Change a server, or accept its new host key',
      description:
        'A server that is reached another way is looked at anew; its pinned host key stays, unless `acceptHostKey` names another.',
      params: IdParams,
      body: schemas.UpdateBody,
      response: { 200: schemas.ServerAnswer },
    },
    handler: (request) =>
      updateServer(ctx, scopeOf(request).workspaceId, request.params.id as ServerId, request.body),
  });

  app.delete(`${base}/:id`, {
    config: { ...manage, faults: ['server_busy', 'in_use'] },
    schema: {
      tags,
      operationId: 'deleteServer',
      summary: 'Delete a server',
      description:
        'Takes away what Slipway put on it, as an operation: containers, networks, the proxy, units and our key. With `leave=true` the server is not touched and only forgotten, which also works when it is gone for good.',
      params: IdParams,
      querystring: Type.Object(
        { leave: Type.Optional(Type.Boolean({ description: 'Forget it without touching it.' })) },
        closed,
      ),
      response: { 202: OperationAnswer, 204: Type.Null({ description: 'Forgotten.' }) },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const id = request.params.id as ServerId;
      if (request.query.leave) {
        await removeServerRecord(ctx, workspaceId, id);
        return reply.code(204).send(null);
      }
      const operationId = await startRemoval(ctx, workspaceId, id, principalOf(request).accountId);
      reply.code(202).header('location', `${apiPrefix}/operations/${operationId}`);
      return readOperation(ctx.db, workspaceId, operationId);
    },
  });

  app.post(`${base}/:id/provision`, {
    config: { ...manage, faults: [...repeatable, 'server_busy'] },
    schema: {
      tags,
      operationId: 'provisionServer',
      summary: 'Make a server ready, again',
      description:
        'Installs Docker where it is missing, makes our folders and network, and starts the proxy. Begins by itself on registration; a second run changes nothing. Takes an `Idempotency-Key`.',
      params: IdParams,
      response: { 202: OperationAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as ServerId;
      return idempotency.once(request, reply, (remember) =>
        provisionServer(ctx, workspaceId, id, accountId, remember),
      );
    },
  });

  app.post(`${base}/test-connection`, {
    config: manage,
    schema: {
      tags,
      operationId: 'testConnection',
      summary: 'Test the connection to a server, saved or not',
      description:
        'Events `step` with `{step, status, message, code?, hint?, evidence?}` for `resolve`, `tcp`, `host_key`, `authenticate`, `privilege`, `system`, `docker`, `resources` and `clock`, then one `result` with `{ok, hostKeyFingerprint, facts}`. Changes nothing on the server; what is not saved is not stored.',
      body: schemas.TestBody,
      response: { 200: streamAnswer('The steps, and the result.') },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const steps = await testConnection(ctx, workspaceId, request.body);
      return sendLive(request, reply, steps);
    },
  });
}
