/** The paths of deployments. No rules here: schema, permission, and the use case that does it. */
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, read, repeatable, stream } from '../../http/route-config.ts';
import { IdParams, PageQuery, StreamQuery, streamAnswer } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { Streams } from '../../http/streams.ts';
import type { DeploymentId, EnvironmentId } from '../../ids.ts';
import { Page } from '../../page.ts';
import type { DeploymentsContext } from './deployments.ts';
import { findIn, listDeployments, readDeployment, readLogs } from './read-deployments.ts';
import * as schemas from './schemas.ts';
import { cancelDeployment, startDeployment, startRollback } from './start-deployment.ts';

const tags = ['Deployments'];
const base = `${apiPrefix}/environments/:id/deployments`;

export function deploymentRoutes(
  app: HttpServer,
  ctx: DeploymentsContext,
  idempotency: Idempotency,
  streams: Streams,
): void {
  app.post(base, {
    config: { ...change, limit: 'trigger', faults: [...repeatable, 'server_not_linked', 'server_full'] },
    schema: {
      tags,
      operationId: 'deploy',
      summary: 'Deploy an environment',
      description:
        'The newest commit of its branch, unless another is named. One deployment at a time is at work in an environment; one that waits is overtaken by this one (`superseded`). Takes an `Idempotency-Key`.',
      params: IdParams,
      body: schemas.DeployBody,
      response: { 202: schemas.DeploymentAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId: requestedBy } = principalOf(request);
      const asked = { workspaceId, environmentId: request.params.id as EnvironmentId, requestedBy };
      return idempotency.once(request, reply, (remember) =>
        startDeployment(ctx, asked, request.body, remember),
      );
    },
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listDeployments',
      summary: 'The deployments of an environment',
      params: IdParams,
      querystring: PageQuery,
      response: { 200: schemas.DeploymentsAnswer },
    },
    handler: (request) =>
      listDeployments(
        ctx.db,
        scopeOf(request).workspaceId,
        request.params.id as EnvironmentId,
        new Page(request.query),
      ),
  });

  app.get(`${base}/:did`, {
    config: read,
    schema: {
      tags,
      operationId: 'getDeployment',
      summary: 'One deployment, with its plan and its health checks',
      params: schemas.DeploymentParams,
      response: { 200: schemas.DeploymentAnswer },
    },
    handler: (request) => {
      const { id, did } = request.params;
      return readDeployment(ctx.db, scopeOf(request).workspaceId, id as EnvironmentId, did as DeploymentId);
    },
  });

  app.post(`${base}/:did/cancel`, {
    config: { ...change, faults: ['already_finished'] },
    schema: {
      tags,
      operationId: 'cancelDeployment',
      summary: 'Cancel a deployment',
      description:
        'It stops what it does on the server and takes away what it made there; the release before goes on serving. It is cancelled when its status says so.',
      params: schemas.DeploymentParams,
      response: { 202: schemas.DeploymentAnswer },
    },
    handler: async (request, reply) => {
      const { id, did } = request.params;
      const asked = { workspaceId: scopeOf(request).workspaceId, environmentId: id as EnvironmentId };
      reply.code(202);
      return cancelDeployment(ctx, asked, did as DeploymentId);
    },
  });

  app.post(`${base}/:did/rollback`, {
    config: {
      ...change,
      limit: 'trigger',
      faults: [...repeatable, 'nothing_to_roll_back', 'server_not_linked'],
    },
    schema: {
      tags,
      operationId: 'rollBack',
      summary: 'Put the release of an earlier deployment back',
      description:
        'Without a build: the image is kept on the server for the newest five. An older one is built once more. Takes an `Idempotency-Key`.',
      params: schemas.DeploymentParams,
      body: schemas.RollbackBody,
      response: { 202: schemas.DeploymentAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId: requestedBy } = principalOf(request);
      const { id, did } = request.params;
      const asked = { workspaceId, environmentId: id as EnvironmentId, requestedBy };
      const { variables = 'then' } = request.body;
      return idempotency.once(request, reply, (remember) =>
        startRollback(ctx, asked, did as DeploymentId, variables, remember),
      );
    },
  });

  app.get(`${base}/:did/logs`, {
    config: read,
    schema: {
      tags,
      operationId: 'getDeploymentLogs',
      summary: 'What a deployment printed',
      description: 'Oldest first. Secrets are taken out before a line is stored.',
      params: schemas.DeploymentParams,
      querystring: schemas.LogsQuery,
      response: { 200: schemas.LogsAnswer },
    },
    handler: (request) => {
      const { id, did } = request.params;
      const { limit = 500, cursor = '0' } = request.query;
      return readLogs(ctx.db, scopeOf(request).workspaceId, id as EnvironmentId, did as DeploymentId, {
        after: Number(cursor),
        limit,
      });
    },
  });

  app.get(`${base}/:did/status`, {
    config: stream,
    schema: {
      tags,
      operationId: 'followDeployment',
      summary: 'Follow a deployment',
      description:
        'Events `status` with `{status, step}`, `log` with `{step, line}`, `progress`, and `end` as the last one. From the beginning, unless said otherwise.',
      params: schemas.DeploymentParams,
      querystring: StreamQuery,
      response: { 200: streamAnswer('The events of the deployment.') },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { id, did } = request.params;
      const found = await findIn(ctx.db, workspaceId, id as EnvironmentId, did as DeploymentId);
      const feed = { workspaceId, feedId: found.id };
      const isOver = found.finishedAt !== null;
      await streams.open(request, reply, { feed, from: 'beginning', finite: true, isOver });
      return reply;
    },
  });
}
