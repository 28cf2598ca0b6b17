/** The paths of environments. No rules here: schema, permission, and the use case that does it. */

import { ofBody, ofEnvironment, ofList, type Routes } from '../../http/routes.ts';
import { idParams } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import type { EnvironmentsContext } from './context.ts';
import { createEnvironment } from './create-environment.ts';
import { linkServer } from './placement/link-server.ts';
import { listEnvironments, readEnvironment } from './read-environments.ts';
import { startEnvironmentRemoval } from './remove-environment.ts';
import * as schemas from './schemas.ts';
import { switchAutoDeploy } from './switch-auto-deploy.ts';
import { changeBranch, updateEnvironment } from './update-environment.ts';
import { variableRoutes } from './variables/routes.ts';

const base = `${apiPrefix}/environments`;
const repositoryFaults = [
  ...(['commit_not_found', 'repository_not_found', 'provider_rejected', 'git_failed'] as const),
  ...(['git_unavailable', 'egress_refused', 'egress_failed', 'deadline_exceeded'] as const),
];

export function environmentRoutes(routes: Routes, ctx: EnvironmentsContext): void {
  const route = routes.tagged('Environments');
  route.post(base, {
    access: ofBody.change,
    idempotent: true,
    faults: [
      ...(['project_not_ready', 'name_taken', 'server_in_cluster'] as const),
      ...(['server_not_ready', 'not_on_cluster'] as const),
      ...(['not_found', ...repositoryFaults] as const),
    ],
    schema: {
      operationId: 'createEnvironment',
      summary: 'Create an environment of a project',
      description:
        'Of a project that has been finalised. Secrets that only have to be random are made, unless given. Nothing is deployed yet. Takes an `Idempotency-Key`.',
      body: schemas.CreateBody,
      response: { 201: schemas.EnvironmentAnswer },
    },
    handler: ({ scope, body, saveResponse }) => createEnvironment(ctx, scope.workspaceId, body, saveResponse),
  });

  route.get(base, {
    access: ofList.read,
    faults: ['not_found'],
    schema: {
      operationId: 'listEnvironments',
      summary: 'List your environments',
      querystring: schemas.EnvironmentsQuery,
      response: { 200: schemas.EnvironmentsAnswer },
    },
    handler: ({ scope, query }) => {
      const { projectId, ...page } = query;
      return listEnvironments(ctx.db, ctx.hooks, scope, projectId, new Page(page));
    },
  });

  route.get(`${base}/:id`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'getEnvironment',
      summary: 'One environment',
      params: idParams<EnvironmentId>(),
      response: { 200: schemas.EnvironmentAnswer },
    },
    handler: ({ scope, params }) => readEnvironment(ctx.db, ctx.hooks, scope.workspaceId, params.id),
  });

  route.patch(`${base}/:id`, {
    access: ofEnvironment.change,
    faults: ['name_taken', 'not_on_cluster'],
    schema: {
      operationId: 'updateEnvironment',
      summary: 'Change an environment',
      description:
        'What is absent stays; a setting that is given is replaced as a whole. Nothing is deployed: `needs` says what the change needs to be in effect.',
      params: idParams<EnvironmentId>(),
      body: schemas.UpdateBody,
      response: { 200: schemas.ChangedAnswer },
    },
    handler: ({ scope, params, body }) => updateEnvironment(ctx, scope.workspaceId, params.id, body),
  });

  route.patch(`${base}/:id/branch`, {
    access: ofEnvironment.change,
    faults: repositoryFaults,
    schema: {
      operationId: 'setBranch',
      summary: 'Change the branch of an environment',
      description:
        'The branch has to exist. What runs stays; with auto-deploy on, the newest commit of the branch is deployed with the next look at the repository.',
      params: idParams<EnvironmentId>(),
      body: schemas.BranchBody,
      response: { 200: schemas.EnvironmentAnswer },
    },
    handler: ({ scope, params, body }) => changeBranch(ctx, scope.workspaceId, params.id, body.branch),
  });

  route.patch(`${base}/:id/server`, {
    access: ofEnvironment.change,
    faults: [
      ...(['server_not_ready', 'server_in_cluster', 'in_use', 'services_hold_data'] as const),
      ...(['server_full', 'not_on_cluster'] as const),
    ],
    schema: {
      operationId: 'linkServer',
      summary: 'Link an environment to a server or a cluster',
      description:
        'One that runs elsewhere moves: 202 with the deployment that brings it there, while the old server serves on. Data of services and volumes does not move: with some of it elsewhere, `leaveData` has to say that it may stay there.',
      params: idParams<EnvironmentId>(),
      body: schemas.ServerBody,
      response: { 200: schemas.LinkedAnswer, 202: schemas.LinkedAnswer },
    },
    handler: async ({ scope, principal, params, body }) => {
      const linked = await linkServer(ctx, scope.workspaceId, params.id, principal.accountId, body);
      const { deployment } = linked;
      if (!deployment) return { status: 200, body: linked };
      const location = `${base}/${params.id}/deployments/${deployment.id}`;
      return { status: 202, location, body: linked };
    },
  });

  route.patch(`${base}/:id/auto-deploy`, {
    access: ofEnvironment.change,
    faults: repositoryFaults,
    schema: {
      operationId: 'setAutoDeploy',
      summary: 'Deploy on push, or no longer',
      description:
        'Switching it on deploys nothing by itself: the commit that is the newest now counts as known. The webhook is made at the provider where it lets us; else polling finds pushes.',
      params: idParams<EnvironmentId>(),
      body: schemas.AutoDeployBody,
      response: { 200: schemas.AutoDeployAnswer },
    },
    handler: ({ scope, params, body }) => switchAutoDeploy(ctx, scope.workspaceId, params.id, body),
  });

  variableRoutes(routes, ctx);

  route.delete(`${base}/:id`, {
    access: ofEnvironment.manage,
    faults: ['services_hold_data'],
    schema: {
      operationId: 'deleteEnvironment',
      summary: 'Delete an environment',
      description:
        'Deployments of it are cancelled, everything of it is taken off its server, then it is forgotten. Where it has data, `deleteData` has to say what becomes of that.',
      params: idParams<EnvironmentId>(),
      querystring: schemas.DeleteQuery,
      response: { 202: OperationAnswer },
    },
    location: ({ id }) => `${apiPrefix}/operations/${id}`,
    handler: ({ scope, principal, params, query: { deleteData, force = false } }) => {
      const removal = { deleteData, force, requestedBy: principal.accountId };
      return startEnvironmentRemoval(ctx, scope.workspaceId, params.id, removal);
    },
  });
}
