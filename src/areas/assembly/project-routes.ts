/** The paths of projects. No rules here: schema, permission, and the use case that does it. */

import { change, manage, type Routes, read, stream } from '../../http/routes.ts';
import { idParams, PageQuery, StreamQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { ProjectId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { analyseRepository } from '../projects/analyse-repository.ts';
import { createProject } from '../projects/create-project.ts';
import { followAnalysis } from '../projects/follow-analysis.ts';
import { readWish } from '../projects/repository-source.ts';
import { retryAnalysis } from '../projects/retry-analysis.ts';
import { showDockerfile } from '../projects/show-dockerfile.ts';
import { updateProject } from '../projects/update-project.ts';
import type { AssemblyContext } from './assembly.ts';
import { DeleteQuery } from './environment-schemas.ts';
import { finalizeProject } from './finalize.ts';
import * as schemas from './project-schemas.ts';
import { listProjects, readProject } from './read-projects.ts';
import { startProjectRemoval } from './remove-project.ts';

const base = `${apiPrefix}/projects`;
const repositoryFaults = [
  ...(['repository_not_found', 'provider_rejected', 'provider_scopes_missing'] as const),
  ...(['provider_rate_limited', 'provider_unreachable', 'provider_failed'] as const),
  ...(['egress_refused', 'egress_failed'] as const),
];

export function projectRoutes(routes: Routes, ctx: AssemblyContext): void {
  const route = routes.tagged('Projects');
  route.post(base, {
    access: change,
    idempotent: true,
    faults: ['name_taken', ...repositoryFaults],
    schema: {
      operationId: 'createProject',
      summary: 'Create a project from a repository',
      description:
        'The analysis begins at once. A repository by an ssh address gets a `deployKey`: add it there, then retry the analysis. Takes an `Idempotency-Key`.',
      body: schemas.CreateBody,
      response: { 201: schemas.ProjectAnswer },
    },
    handler: ({ scope, principal, body, saveResponse }) =>
      createProject(ctx, scope.workspaceId, principal.accountId, body, readProject, saveResponse),
  });

  route.get(base, {
    access: read,
    schema: {
      operationId: 'listProjects',
      summary: 'List your projects',
      querystring: PageQuery,
      response: { 200: schemas.ProjectsAnswer },
    },
    handler: ({ scope, query }) => listProjects(ctx.db, scope.workspaceId, new Page(query)),
  });

  route.get(`${base}/analyze-repo`, {
    access: change,
    limit: 'search',
    faults: [
      ...repositoryFaults,
      'git_failed',
      'git_unavailable',
      'commit_not_found',
      'repository_too_large',
    ],
    schema: {
      operationId: 'analyzeRepository',
      summary: 'Analyse a repository without making a project',
      description:
        'With `providerId` and `repo`, or with `url`. The answer is what a project’s analysis would say.',
      querystring: schemas.AnalyzeQuery,
      response: { 200: schemas.AnalyzeAnswer },
    },
    handler: ({ scope, query, signal }) =>
      analyseRepository(ctx, scope.workspaceId, readWish(query), query, signal),
  });

  route.get(`${base}/:id`, {
    access: read,
    schema: {
      operationId: 'getProject',
      summary: 'One project',
      params: idParams<ProjectId>(),
      response: { 200: schemas.ProjectAnswer },
    },
    handler: ({ scope, params }) => readProject(ctx.db, scope.workspaceId, params.id),
  });

  route.put(`${base}/:id`, {
    access: change,
    faults: ['analysis_running', 'name_taken'],
    schema: {
      operationId: 'updateProject',
      summary: 'Change a project',
      description: 'What is absent stays. Another branch or folder is analysed anew.',
      params: idParams<ProjectId>(),
      body: schemas.UpdateBody,
      response: { 200: schemas.ProjectAnswer },
    },
    handler: ({ scope, principal, params, body }) =>
      updateProject(ctx, scope.workspaceId, params.id, principal.accountId, body, readProject),
  });

  route.delete(`${base}/:id`, {
    access: manage,
    idempotent: true,
    faults: ['services_hold_data'],
    schema: {
      operationId: 'deleteProject',
      summary: 'Delete a project',
      description:
        'With everything that belongs to it, on the servers too, as an operation. Where there is data, `deleteData` has to say what becomes of it.',
      params: idParams<ProjectId>(),
      querystring: DeleteQuery,
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, query, saveResponse }) => {
      const { accountId: requestedBy } = principal;
      const { deleteData, force = false } = query;
      const wish = { deleteData, force, requestedBy };
      return startProjectRemoval(ctx, scope.workspaceId, params.id, wish, saveResponse);
    },
  });

  route.post(`${base}/:id/retry-analysis`, {
    access: change,
    idempotent: true,
    faults: ['analysis_running'],
    schema: {
      operationId: 'retryAnalysis',
      summary: 'Analyse the repository again',
      description: 'The last result stays until there is a new one. Takes an `Idempotency-Key`.',
      params: idParams<ProjectId>(),
      response: { 202: schemas.ProjectAnswer },
    },
    handler: ({ scope, principal, params, saveResponse }) =>
      retryAnalysis(ctx, scope.workspaceId, params.id, principal.accountId, readProject, saveResponse),
  });

  route.post(`${base}/:id/finalize`, {
    access: change,
    idempotent: true,
    faults: ['project_not_ready', 'already_finalized', 'server_not_linked'],
    schema: {
      operationId: 'finalizeProject',
      summary: 'Take over the analysis, with corrections, and make the first environment',
      description:
        'Secrets that only have to be random are made, unless given. With `deploy` the first deployment begins at once. Takes an `Idempotency-Key`.',
      params: idParams<ProjectId>(),
      body: schemas.FinalizeBody,
      response: { 200: schemas.FinalizeAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) =>
      finalizeProject(ctx, scope.workspaceId, params.id, principal.accountId, body, saveResponse),
  });

  route.get(`${base}/:id/dockerfile`, {
    access: read,
    faults: ['project_not_ready', 'commit_not_found', 'git_failed'],
    schema: {
      operationId: 'showDockerfile',
      summary: 'The Dockerfile that an app is built with',
      description:
        'Its own where it has one; else the one that is written for it, which you may take over into the repository.',
      params: idParams<ProjectId>(),
      querystring: schemas.DockerfileQuery,
      response: { 200: schemas.DockerfileAnswer },
    },
    handler: ({ scope, params, query }) => showDockerfile(ctx, scope.workspaceId, params.id, query.app),
  });

  route.stream(`${base}/:id/analysis-status`, {
    access: stream,
    schema: {
      operationId: 'followAnalysis',
      summary: 'Follow the analysis of a project',
      description:
        'Events `status` with `{status, fault?}`, `finding` with `{about, text}`, and `end` as the last one. From the beginning of the newest analysis, unless said otherwise.',
      params: idParams<ProjectId>(),
      querystring: StreamQuery,
    },
    events: 'The events of the analysis.',
    handler: async ({ scope, params }) => {
      const followed = await followAnalysis(ctx.db, scope.workspaceId, params.id);
      return { ...followed, from: 'beginning', finite: true };
    },
  });
}
