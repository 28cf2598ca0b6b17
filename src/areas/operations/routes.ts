/** The paths of operations, and of the workspace's own stream. */
import { scopeOf } from '../../http/access.ts';
import { change, read, stream } from '../../http/route-config.ts';
import { IdParams, PageQuery, StreamQuery, streamAnswer } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { Streams } from '../../http/streams.ts';
import type { OperationId } from '../../ids.ts';
import type { OperationKinds } from '../../operations/kinds.ts';
import { cancelOperation } from '../../operations/operations.ts';
import { Page } from '../../page.ts';
import type { Database } from '../../store/database.ts';
import { listOperations, readOperation } from './operations.ts';
import * as schemas from './schemas.ts';

const tags = ['Operations'];

export function operationRoutes(
  app: HttpServer,
  db: Database,
  kinds: OperationKinds,
  streams: Streams,
): void {
  app.get(`${apiPrefix}/operations`, {
    config: read,
    schema: {
      tags,
      operationId: 'listOperations',
      summary: 'List the operations of your workspace',
      querystring: PageQuery,
      response: { 200: schemas.OperationsAnswer },
    },
    handler: (request) => listOperations(db, scopeOf(request).workspaceId, new Page(request.query)),
  });

  app.get(`${apiPrefix}/operations/:id`, {
    config: read,
    schema: {
      tags,
      operationId: 'getOperation',
      summary: 'One operation, with its steps',
      params: IdParams,
      response: { 200: schemas.OperationAnswer },
    },
    handler: (request) => readOperation(db, scopeOf(request).workspaceId, request.params.id as OperationId),
  });

  app.post(`${apiPrefix}/operations/:id/cancel`, {
    config: { ...change, faults: ['already_finished'] },
    schema: {
      tags,
      operationId: 'cancelOperation',
      summary: 'Cancel an operation',
      description: 'It stops what it does and undoes what it did; it is cancelled when its status says so.',
      params: IdParams,
      response: { 202: schemas.OperationAnswer },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const id = request.params.id as OperationId;
      await cancelOperation(db, kinds, workspaceId, id);
      reply.code(202).header('location', `${apiPrefix}/operations/${id}`);
      return readOperation(db, workspaceId, id);
    },
  });

  app.get(`${apiPrefix}/operations/:id/events`, {
    config: stream,
    schema: {
      tags,
      operationId: 'followOperation',
      summary: 'Follow an operation',
      description:
        'Events `status`, `progress`, `log`, and `end` as the last one. From the beginning, unless said otherwise.',
      params: IdParams,
      querystring: StreamQuery,
      response: { 200: streamAnswer('The events of the operation.') },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { id, finishedAt } = await readOperation(db, workspaceId, request.params.id as OperationId);
      await streams.open(request, reply, {
        feed: { workspaceId, feedId: id },
        from: 'beginning',
        finite: true,
        isOver: finishedAt !== null,
      });
      return reply;
    },
  });

  app.get(`${apiPrefix}/events`, {
    config: stream,
    schema: {
      tags: ['Events'],
      operationId: 'followEvents',
      summary: 'Follow everything that happens in your workspace',
      description:
        'Events `operation_updated` with `{operationId, operationKind, status}`, `project_updated` with `{projectId, reason, environmentId?, deploymentId?, status?}`, `domain_updated` with `{domainId?, certificateId?, hostname, reason, status?}`, `server_updated` with `{serverId, reason}`, `backup_updated` with `{backupId, environmentId, status, reason?}` and `git_provider_updated` with `{providerId, reason}`. From now on, unless `Last-Event-ID` or `after` says otherwise.',
      querystring: StreamQuery,
      response: { 200: streamAnswer('The events of the workspace.') },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      await streams.open(request, reply, {
        feed: { workspaceId, feedId: workspaceId },
        from: 'now',
        finite: false,
      });
      return reply;
    },
  });
}
