/** The paths of notification connectors. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, manage, read, repeatable } from '../../http/route-config.ts';
import { IdParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { ConnectorId, ProjectId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { changeConnector, deleteConnector } from './change-connector.ts';
import { createConnector } from './create-connector.ts';
import { linkConnectors, readLinks } from './link-connectors.ts';
import type { NotificationsContext } from './notifications.ts';
import { listConnectors, listDeliveries, readConnector } from './read-connectors.ts';
import * as schemas from './schemas.ts';
import { testConnector } from './test-connector.ts';

const tags = ['Notification connectors'];
const base = `${apiPrefix}/notification-connectors`;

export function notificationRoutes(
  app: HttpServer,
  ctx: NotificationsContext,
  idempotency: Idempotency,
): void {
  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listNotificationConnectors',
      summary: 'List your notification connectors',
      querystring: PageQuery,
      response: { 200: schemas.ConnectorsAnswer },
    },
    handler: (request) => listConnectors(ctx.db, scopeOf(request).workspaceId, new Page(request.query)),
  });

  app.post(base, {
    config: { ...manage, faults: [...repeatable] },
    schema: {
      tags,
      operationId: 'createNotificationConnector',
      summary: 'Create a notification connector',
      description:
        'Secrets inside `config` are sealed and never returned. It hears of what concerns the workspace at once; of projects once it is linked to them, or with `allProjects`. Takes an `Idempotency-Key`.',
      body: schemas.CreateBody,
      response: { 201: schemas.CreatedAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      return idempotency.once(request, reply, (remember) =>
        createConnector(ctx, workspaceId, request.body, remember),
      );
    },
  });

  app.get(`${base}/:id`, {
    config: read,
    schema: {
      tags,
      operationId: 'getNotificationConnector',
      summary: 'One notification connector',
      params: IdParams,
      response: { 200: schemas.ConnectorAnswer },
    },
    handler: (request) =>
      readConnector(ctx.db, scopeOf(request).workspaceId, request.params.id as ConnectorId),
  });

  app.patch(`${base}/:id`, {
    config: manage,
    schema: {
      tags,
      operationId: 'changeNotificationConnector',
      summary: 'Change a notification connector, or switch it on or off',
      params: IdParams,
      body: schemas.ChangeBody,
      response: { 200: schemas.ConnectorAnswer },
    },
    handler: (request) =>
      changeConnector(ctx, scopeOf(request).workspaceId, request.params.id as ConnectorId, request.body),
  });

  app.delete(`${base}/:id`, {
    config: manage,
    schema: {
      tags,
      operationId: 'deleteNotificationConnector',
      summary: 'Delete a notification connector',
      description: 'With its links and the list of its deliveries. What waits to be sent by it is not sent.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: async (request, reply) => {
      await deleteConnector(ctx, scopeOf(request).workspaceId, request.params.id as ConnectorId);
      return reply.code(204).send(null);
    },
  });

  app.post(`${base}/:id/test`, {
    config: { ...change, limit: 'trigger', faults: [...repeatable] },
    schema: {
      tags,
      operationId: 'testNotificationConnector',
      summary: 'Send a test message now',
      description:
        'Sends a real message, once, and says exactly what the receiver answered. That it was not delivered is an answer too, not an error. Takes an `Idempotency-Key`.',
      params: IdParams,
      response: { 200: schemas.TestAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      return idempotency.once(request, reply, (remember) =>
        testConnector(ctx, workspaceId, request.params.id as ConnectorId, remember),
      );
    },
  });

  app.get(`${base}/:id/deliveries`, {
    config: read,
    schema: {
      tags,
      operationId: 'listNotificationDeliveries',
      summary: 'What went out by a connector, and what became of it',
      params: IdParams,
      querystring: PageQuery,
      response: { 200: schemas.DeliveriesAnswer },
    },
    handler: (request) =>
      listDeliveries(
        ctx.db,
        scopeOf(request).workspaceId,
        request.params.id as ConnectorId,
        new Page(request.query),
      ),
  });

  app.get(`${base}/project/:projectId`, {
    config: read,
    schema: {
      tags,
      operationId: 'getProjectNotifications',
      summary: 'The connectors that are linked to a project',
      params: schemas.ProjectParams,
      response: { 200: schemas.LinksAnswer },
    },
    handler: (request) =>
      readLinks(ctx.db, scopeOf(request).workspaceId, request.params.projectId as ProjectId),
  });

  app.put(`${base}/project/:projectId`, {
    config: change,
    schema: {
      tags,
      operationId: 'linkNotificationConnectors',
      summary: 'Link connectors to a project',
      description: 'Replaces the links of the project: those that are not named hear of it no more.',
      params: schemas.ProjectParams,
      body: schemas.LinksBody,
      response: { 200: schemas.LinksAnswer },
    },
    handler: (request) => {
      const { connectorIds, events = null } = request.body;
      const links = { connectorIds: connectorIds.map((id) => id as ConnectorId), events };
      return linkConnectors(ctx, scopeOf(request).workspaceId, request.params.projectId as ProjectId, links);
    },
  });
}
