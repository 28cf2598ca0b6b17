/** The paths of notification connectors. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { change, manage, ofProject, type Routes, read } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { ConnectorId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { changeConnector, deleteConnector } from './change-connector.ts';
import { answerConsent } from './consent.ts';
import { createConnector } from './create-connector.ts';
import { linkConnectors, readLinks } from './link-connectors.ts';
import type { NotificationsContext } from './notifications.ts';
import { listConnectors, listDeliveries, readConnector } from './read-connectors.ts';
import * as schemas from './schemas.ts';
import { testConnector } from './test-connector.ts';

const base = `${apiPrefix}/notification-connectors`;

export function notificationRoutes(routes: Routes, ctx: NotificationsContext): void {
  const route = routes.tagged('Notification connectors');
  route.get(base, {
    access: read,
    schema: {
      operationId: 'listNotificationConnectors',
      summary: 'List your notification connectors',
      querystring: PageQuery,
      response: { 200: schemas.ConnectorsAnswer },
    },
    handler: ({ scope, query }) => listConnectors(ctx.db, scope.workspaceId, new Page(query)),
  });

  route.post(base, {
    access: manage,
    idempotent: true,
    schema: {
      operationId: 'createNotificationConnector',
      summary: 'Create a notification connector',
      description:
        'Secrets inside `config` are sealed and never returned. It hears of what concerns the workspace at once; of projects once it is linked to them, or with `allProjects`. Recipients of mail who are no members of the workspace are asked first, by one mail each; `recipients` shows who has agreed. Takes an `Idempotency-Key`.',
      body: schemas.CreateBody,
      response: { 201: schemas.CreatedAnswer },
    },
    handler: ({ scope, body, saveResponse }) => createConnector(ctx, scope.workspaceId, body, saveResponse),
  });

  route.get(`${base}/:id`, {
    access: read,
    schema: {
      operationId: 'getNotificationConnector',
      summary: 'One notification connector',
      params: idParams<ConnectorId>(),
      response: { 200: schemas.ConnectorAnswer },
    },
    handler: ({ scope, params }) => readConnector(ctx.db, scope.workspaceId, params.id),
  });

  route.patch(`${base}/:id`, {
    access: manage,
    schema: {
      operationId: 'updateNotificationConnector',
      summary: 'Change a notification connector, or switch it on or off',
      params: idParams<ConnectorId>(),
      body: schemas.ChangeBody,
      response: { 200: schemas.ConnectorAnswer },
    },
    handler: ({ scope, params, body }) => changeConnector(ctx, scope.workspaceId, params.id, body),
  });

  route.delete(`${base}/:id`, {
    access: manage,
    schema: {
      operationId: 'deleteNotificationConnector',
      summary: 'Delete a notification connector',
      description: 'With its links and the list of its deliveries. What waits to be sent by it is not sent.',
      params: idParams<ConnectorId>(),
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: async ({ scope, params }) => deleteConnector(ctx, scope.workspaceId, params.id),
  });

  route.post(`${base}/:id/test`, {
    access: change,
    idempotent: true,
    limit: 'connector-test',
    schema: {
      operationId: 'testNotificationConnector',
      summary: 'Send a test message now',
      description:
        'Sends a real message, once, and says exactly what the receiver answered. That it was not delivered is an answer too, not an error. Recipients who have not agreed get none. Takes an `Idempotency-Key`.',
      params: idParams<ConnectorId>(),
      response: { 200: schemas.TestAnswer },
    },
    handler: ({ scope, params, saveResponse }) =>
      testConnector(ctx, scope.workspaceId, params.id, saveResponse),
  });

  route.post(`${apiPrefix}/notification-recipients/answer`, {
    access: { kind: 'public' },
    signInLimit: 'guess',
    faults: ['invalid_consent_token'],
    schema: {
      operationId: 'answerNotificationRecipient',
      summary: 'Agree to mail of a workspace, or decline it',
      description:
        'For recipients of mail who are no members of the workspace, with the token of the mail that asked them. It works once, for seven days.',
      body: schemas.ConsentBody,
      response: { 204: Type.Null({ description: 'Noted.' }) },
    },
    handler: ({ body }) => answerConsent(ctx, body.token, body.answer === 'confirm'),
  });

  route.get(`${base}/:id/deliveries`, {
    access: read,
    schema: {
      operationId: 'listNotificationDeliveries',
      summary: 'What went out by a connector, and what became of it',
      params: idParams<ConnectorId>(),
      querystring: PageQuery,
      response: { 200: schemas.DeliveriesAnswer },
    },
    handler: ({ scope, params, query }) =>
      listDeliveries(ctx.db, scope.workspaceId, params.id, new Page(query)),
  });

  route.get(`${base}/project/:projectId`, {
    access: ofProject.read,
    schema: {
      operationId: 'getProjectNotifications',
      summary: 'The connectors that are linked to a project',
      params: schemas.ProjectParams,
      response: { 200: schemas.LinksAnswer },
    },
    handler: ({ scope, params }) => readLinks(ctx.db, scope.workspaceId, params.projectId),
  });

  route.put(`${base}/project/:projectId`, {
    access: change,
    schema: {
      operationId: 'linkNotificationConnectors',
      summary: 'Link connectors to a project',
      description: 'Replaces the links of the project: those that are not named hear of it no more.',
      params: schemas.ProjectParams,
      body: schemas.LinksBody,
      response: { 200: schemas.LinksAnswer },
    },
    handler: ({ scope, params, body }) => {
      const { connectorIds, events = null } = body;
      return linkConnectors(ctx, scope.workspaceId, params.projectId, { connectorIds, events });
    },
  });
}
