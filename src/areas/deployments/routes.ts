/** The paths of deployments. No rules here: schema, permission, and the use case that does it. */

import { DeploymentEvent } from '../../events/event-kinds.ts';
import { ofEnvironment, type Routes } from '../../http/routes.ts';
import { idParams, PageQuery, StreamQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { Page } from '../../page.ts';
import type { DeploymentsContext } from './deployments.ts';
import { findIn, listDeployments, readDeployment, readLogs } from './read-deployments.ts';
import * as schemas from './schemas.ts';
import { cancelDeployment, startDeployment, startRollback } from './start-deployment.ts';
import { uploadRoute } from './uploads/upload-routes.ts';

const base = `${apiPrefix}/environments/:id/deployments`;

export function deploymentRoutes(routes: Routes, ctx: DeploymentsContext): void {
  const route = routes.tagged('Deployments');
  route.post(base, {
    access: ofEnvironment.deploy,
    idempotent: true,
    limit: 'trigger',
    faults: ['server_not_linked', 'server_full', 'commit_not_found'],
    schema: {
      operationId: 'deploy',
      summary: 'Deploy an environment',
      description:
        'The newest commit of its branch, unless another is named. One deployment at a time is at work in an environment; one that waits is overtaken by this one (`superseded`). Takes an `Idempotency-Key`.',
      params: idParams<EnvironmentId>(),
      body: schemas.DeployBody,
      response: { 202: schemas.DeploymentAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) => {
      const { workspaceId } = scope;
      const { accountId: requestedBy } = principal;
      const asked = { workspaceId, environmentId: params.id, requestedBy };
      return startDeployment(ctx, asked, body, saveResponse);
    },
  });

  uploadRoute(route, ctx);

  route.get(base, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'listDeployments',
      summary: 'The deployments of an environment',
      params: idParams<EnvironmentId>(),
      querystring: PageQuery,
      response: { 200: schemas.DeploymentsAnswer },
    },
    handler: ({ scope, params, query }) =>
      listDeployments(ctx.db, scope.workspaceId, params.id, new Page(query)),
  });

  route.get(`${base}/:did`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'getDeployment',
      summary: 'One deployment, with its plan and its health checks',
      params: schemas.DeploymentParams,
      response: { 200: schemas.DeploymentAnswer },
    },
    handler: ({ scope, params }) => readDeployment(ctx.db, scope.workspaceId, params.id, params.did),
  });

  route.post(`${base}/:did/cancel`, {
    access: ofEnvironment.deploy,
    faults: ['already_finished'],
    schema: {
      operationId: 'cancelDeployment',
      summary: 'Cancel a deployment',
      description:
        'It stops what it does on the server and takes away what it made there; the release before goes on serving. It is cancelled when its status says so.',
      params: schemas.DeploymentParams,
      response: { 202: schemas.DeploymentAnswer },
    },
    location: ({ environmentId, id }) => `${apiPrefix}/environments/${environmentId}/deployments/${id}`,
    handler: ({ scope, params }) => {
      const asked = { workspaceId: scope.workspaceId, environmentId: params.id };
      return cancelDeployment(ctx, asked, params.did);
    },
  });

  route.post(`${base}/:did/rollback`, {
    access: ofEnvironment.deploy,
    idempotent: true,
    limit: 'trigger',
    faults: ['nothing_to_roll_back', 'server_not_linked'],
    schema: {
      operationId: 'rollBackDeployment',
      summary: 'Put the release of an earlier deployment back',
      description:
        'Without a build: the image is kept on the server for the newest five. An older one is built once more. Takes an `Idempotency-Key`.',
      params: schemas.DeploymentParams,
      body: schemas.RollbackBody,
      response: { 202: schemas.DeploymentAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) => {
      const { workspaceId } = scope;
      const { accountId: requestedBy } = principal;
      const asked = { workspaceId, environmentId: params.id, requestedBy };
      const { variables = 'then' } = body;
      return startRollback(ctx, asked, params.did, variables, saveResponse);
    },
  });

  route.get(`${base}/:did/logs`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'getDeploymentLogs',
      summary: 'What a deployment printed',
      description: 'Oldest first. Secrets are taken out before a line is stored.',
      params: schemas.DeploymentParams,
      querystring: schemas.LogsQuery,
      response: { 200: schemas.LogsAnswer },
    },
    handler: ({ scope, params, query }) => {
      const { limit = 500, cursor = '0' } = query;
      return readLogs(ctx.db, scope.workspaceId, params.id, params.did, {
        after: Number(cursor),
        limit,
      });
    },
  });

  route.stream(`${base}/:did/status`, {
    access: ofEnvironment.stream,
    schema: {
      operationId: 'followDeployment',
      summary: 'Follow a deployment',
      description:
        'From the beginning, unless `Last-Event-ID` or `after` says otherwise; `end` is the last event.',
      params: schemas.DeploymentParams,
      querystring: StreamQuery,
    },
    events: DeploymentEvent,
    handler: async ({ scope, params }) => {
      const { workspaceId } = scope;
      const found = await findIn(ctx.db, workspaceId, params.id, params.did);
      const feed = { workspaceId, feedId: found.id };
      const isOver = found.finishedAt !== null;
      return { feed, from: 'beginning', finite: true, isOver };
    },
  });
}
