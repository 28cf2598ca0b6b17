/** The paths of operations, and of the workspace's own stream. */

import { OperationEvent, WorkspaceEvent } from '../../events/event-kinds.ts';
import { ofList, ofOperation, type Routes } from '../../http/routes.ts';
import { idParams, PageQuery, StreamQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { OperationId } from '../../ids.ts';
import type { OperationKinds } from '../../operations/kinds.ts';
import { cancelOperation } from '../../operations/operations.ts';
import { Page } from '../../page.ts';
import type { Database } from '../../store/database.ts';
import { listOperations, readOperation } from './operations.ts';
import * as schemas from './schemas.ts';

export function operationRoutes(routes: Routes, db: Database, kinds: OperationKinds): void {
  const route = routes.tagged('Operations');
  route.get(`${apiPrefix}/operations`, {
    access: ofList.read,
    schema: {
      operationId: 'listOperations',
      summary: 'List the operations of your workspace',
      querystring: PageQuery,
      response: { 200: schemas.OperationsAnswer },
    },
    handler: ({ scope, query }) => listOperations(db, scope, new Page(query)),
  });

  route.get(`${apiPrefix}/operations/:id`, {
    access: ofOperation.read,
    schema: {
      operationId: 'getOperation',
      summary: 'One operation, with its steps',
      params: idParams<OperationId>(),
      response: { 200: schemas.OperationAnswer },
    },
    handler: ({ scope, params }) => readOperation(db, scope.workspaceId, params.id),
  });

  route.post(`${apiPrefix}/operations/:id/cancel`, {
    access: ofOperation.change,
    faults: ['already_finished'],
    schema: {
      operationId: 'cancelOperation',
      summary: 'Cancel an operation',
      description: 'It stops what it does and undoes what it did; it is cancelled when its status says so.',
      params: idParams<OperationId>(),
      response: { 202: schemas.OperationAnswer },
    },
    location: ({ id }) => `${apiPrefix}/operations/${id}`,
    handler: async ({ scope, params }) => {
      await cancelOperation(db, kinds, scope.workspaceId, params.id);
      return readOperation(db, scope.workspaceId, params.id);
    },
  });

  route.stream(`${apiPrefix}/operations/:id/events`, {
    access: ofOperation.stream,
    schema: {
      operationId: 'followOperation',
      summary: 'Follow an operation',
      description:
        'From the beginning, unless `Last-Event-ID` or `after` says otherwise; `end` is the last event.',
      params: idParams<OperationId>(),
      querystring: StreamQuery,
    },
    events: OperationEvent,
    handler: async ({ scope, params }) => {
      const { workspaceId } = scope;
      const { id, finishedAt } = await readOperation(db, workspaceId, params.id);
      const isOver = finishedAt !== null;
      return { feed: { workspaceId, feedId: id }, from: 'beginning', finite: true, isOver };
    },
  });

  routes.tagged('Events').stream(`${apiPrefix}/events`, {
    access: ofList.stream,
    schema: {
      operationId: 'followEvents',
      summary: 'Follow everything that happens in your workspace',
      description:
        'From now on, unless `Last-Event-ID` or `after` says otherwise. Whoever is limited to some projects gets the events that have a `projectId` of theirs.',
      querystring: StreamQuery,
    },
    events: WorkspaceEvent,
    handler: ({ scope: { workspaceId, projects } }) => ({
      feed: { workspaceId, feedId: workspaceId },
      projects,
      from: 'now',
      finite: false,
    }),
  });
}
