/** The paths of environments. No rules here: schema, permission, and the use case that does it. */
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, manage, read } from '../../http/route-config.ts';
import { IdParams } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { EnvironmentId, ProjectId, ServerId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { variableRoutes } from '../environments/variable-routes.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { addEnvironment } from './add-environment.ts';
import type { AssemblyContext } from './assembly.ts';
import { switchAutoDeploy } from './auto-deploy.ts';
import { changeBranch } from './change-branch.ts';
import * as schemas from './environment-schemas.ts';
import { linkServer } from './link-server.ts';
import { listEnvironments, readEnvironment } from './read-environments.ts';
import { startEnvironmentRemoval } from './remove-environment.ts';
import { updateEnvironment } from './update-environment.ts';

const tags = ['Environments'];
const base = `${apiPrefix}/environments`;
const repositoryFaults = [
  ...(['commit_not_found', 'repository_not_found', 'provider_rejected', 'git_failed'] as const),
  ...(['git_unavailable', 'egress_refused', 'egress_failed', 'deadline_exceeded'] as const),
];

export function environmentRoutes(app: HttpServer, ctx: AssemblyContext, idempotency: Idempotency): void {
  app.post(base, {
    config: {
      ...change,
      faults: [
        ...(['idempotency_in_progress', 'idempotency_mismatch', 'project_not_ready', 'name_taken'] as const),
        ...(['not_found', ...repositoryFaults] as const),
      ],
    },
    schema: {
      tags,
      operationId: 'createEnvironment',
      summary: 'Create an environment of a project',
      description:
        'Of a project that has been finalised. Secrets that only have to be random are made, unless given. Nothing is deployed yet. Takes an `Idempotency-Key`.',
      body: schemas.CreateBody,
      response: { 201: schemas.EnvironmentAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { projectId, serverId, ...rest } = request.body;
      const wish = {
        ...rest,
        projectId: projectId as ProjectId,
        ...(serverId !== undefined && { serverId: serverId as ServerId }),
      };
      return idempotency.once(request, reply, (remember) => addEnvironment(ctx, workspaceId, wish, remember));
    },
  });

  app.get(base, {
    config: { ...read, faults: ['not_found'] },
    schema: {
      tags,
      operationId: 'listEnvironments',
      summary: 'List your environments',
      querystring: schemas.EnvironmentsQuery,
      response: { 200: schemas.EnvironmentsAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      const { projectId, ...page } = request.query;
      return listEnvironments(ctx.db, workspaceId, (projectId ?? null) as ProjectId | null, new Page(page));
    },
  });

  app.get(`${base}/:id`, {
    config: read,
    schema: {
      tags,
      operationId: 'getEnvironment',
      summary: 'One environment',
      params: IdParams,
      response: { 200: schemas.EnvironmentAnswer },
    },
    handler: (request) =>
      readEnvironment(ctx.db, scopeOf(request).workspaceId, request.params.id as EnvironmentId),
  });

  app.patch(`${base}/:id`, {
    config: { ...change, faults: ['name_taken'] },
    schema: {
      tags,
      operationId: 'updateEnvironment',
      summary: 'Change an environment',
      description:
        'What is absent stays; a setting that is given is replaced as a whole. Nothing is deployed: `needs` says what the change needs to be in effect.',
      params: IdParams,
      body: schemas.UpdateBody,
      response: { 200: schemas.ChangedAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      return updateEnvironment(ctx, workspaceId, request.params.id as EnvironmentId, request.body);
    },
  });

  app.patch(`${base}/:id/branch`, {
    config: { ...change, faults: repositoryFaults },
    schema: {
      tags,
      operationId: 'changeBranch',
      summary: 'Change the branch of an environment',
      description:
        'The branch has to exist. What runs stays; with auto-deploy on, the newest commit of the branch is deployed with the next look at the repository.',
      params: IdParams,
      body: schemas.BranchBody,
      response: { 200: schemas.EnvironmentAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      return changeBranch(ctx, workspaceId, request.params.id as EnvironmentId, request.body.branch);
    },
  });

  app.patch(`${base}/:id/server`, {
    config: { ...change, faults: ['server_not_ready', 'in_use', 'services_hold_data', 'server_full'] },
    schema: {
      tags,
      operationId: 'linkServer',
      summary: 'Link an environment to a server',
      description:
        'One that runs elsewhere moves: 202 with the deployment that brings it there, while the old server serves on. Data of services and volumes does not move: with some of it elsewhere, `leaveData` has to say that it may stay there.',
      params: IdParams,
      body: schemas.ServerBody,
      response: { 200: schemas.LinkedAnswer, 202: schemas.LinkedAnswer },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const { serverId, ...rest } = request.body;
      const id = request.params.id as EnvironmentId;
      const wish = { ...rest, serverId: serverId as ServerId | null };
      const linked = await linkServer(ctx, workspaceId, id, accountId, wish);
      const { deployment } = linked;
      if (deployment) reply.header('location', `${base}/${id}/deployments/${deployment.id}`);
      return reply.code(deployment ? 202 : 200).send(linked);
    },
  });

  app.patch(`${base}/:id/auto-deploy`, {
    config: { ...change, faults: repositoryFaults },
    schema: {
      tags,
      operationId: 'switchAutoDeploy',
      summary: 'Deploy on push, or no longer',
      description:
        'Switching it on deploys nothing by itself: the commit that is the newest now counts as known. The webhook is made at the provider where it lets us; else polling finds pushes.',
      params: IdParams,
      body: schemas.AutoDeployBody,
      response: { 200: schemas.AutoDeployAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      return switchAutoDeploy(ctx, workspaceId, request.params.id as EnvironmentId, request.body);
    },
  });

  variableRoutes(app, ctx, idempotency);

  app.delete(`${base}/:id`, {
    config: { ...manage, faults: ['services_hold_data'] },
    schema: {
      tags,
      operationId: 'deleteEnvironment',
      summary: 'Delete an environment',
      description:
        'Deployments of it are cancelled, everything of it is taken off its server, then it is forgotten. Where it has data, `deleteData` has to say what becomes of that.',
      params: IdParams,
      querystring: schemas.DeleteQuery,
      response: { 202: OperationAnswer },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId: requestedBy } = principalOf(request);
      const { deleteData, force = false } = request.query;
      const wish = { deleteData, force, requestedBy };
      const id = request.params.id as EnvironmentId;
      const { body, location } = await startEnvironmentRemoval(
        ctx,
        workspaceId,
        id,
        wish,
        async (_, answer) => answer,
      );
      reply.code(202).header('location', location ?? '');
      return body;
    },
  });
}
