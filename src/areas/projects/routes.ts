/** The paths of projects. No rules here: schema, permission, and the use case that does it. */

import { AnalysisEvent } from '../../events/event-kinds.ts';
import { change, ofList, ofProject, type Routes } from '../../http/routes.ts';
import { idParams, PageQuery, StreamQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { ProjectId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { readDeployment } from '../deployments/read-deployments.ts';
import type { EnvironmentsContext } from '../environments/context.ts';
import { finalizeProject } from '../environments/finalize-project.ts';
import { listProjects, readProject, type ShownProject } from '../environments/read-projects.ts';
import { DeleteQuery } from '../environments/schemas.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { followAnalysis, retryAnalysis } from './analyse-project.ts';
import { createProject } from './create-project.ts';
import type { ProjectsContext, ShowProject } from './projects.ts';
import { analyseRepository } from './read-repository.ts';
import { type ProjectRemovalContext, startProjectRemoval } from './remove-project.ts';
import { readRepositoryReference } from './repository-source.ts';
import * as schemas from './schemas.ts';
import { showDockerfile } from './show-dockerfile.ts';
import { updateProject } from './update-project.ts';

const base = `${apiPrefix}/projects`;
const repositoryFaults = [
  ...(['repository_not_found', 'provider_rejected', 'provider_scopes_missing'] as const),
  ...(['provider_rate_limited', 'provider_unreachable', 'provider_failed'] as const),
  ...(['egress_refused', 'egress_failed'] as const),
];

export function projectRoutes(
  routes: Routes,
  ctx: ProjectsContext,
  removals: ProjectRemovalContext,
  environments: EnvironmentsContext,
): void {
  const route = routes.tagged('Projects');
  const { hooks } = environments;
  // A project is shown with its environments, which are not the projects' to read.
  const show: ShowProject<ShownProject> = (tx, workspaceId, id) => readProject(tx, hooks, workspaceId, id);

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
      createProject(ctx, scope.workspaceId, principal.accountId, body, show, saveResponse),
  });

  route.get(base, {
    access: ofList.read,
    schema: {
      operationId: 'listProjects',
      summary: 'List your projects',
      querystring: PageQuery,
      response: { 200: schemas.ProjectsAnswer },
    },
    handler: ({ scope, query }) => listProjects(ctx.db, hooks, scope, new Page(query)),
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
      'mirrors_full',
      'no_space',
      'analysis_stopped',
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
      analyseRepository(ctx, scope.workspaceId, readRepositoryReference(query), query, signal),
  });

  route.get(`${base}/:id`, {
    access: ofProject.read,
    schema: {
      operationId: 'getProject',
      summary: 'One project',
      params: idParams<ProjectId>(),
      response: { 200: schemas.ProjectAnswer },
    },
    handler: ({ scope, params }) => show(ctx.db, scope.workspaceId, params.id),
  });

  route.put(`${base}/:id`, {
    access: ofProject.change,
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
      updateProject(ctx, scope.workspaceId, params.id, principal.accountId, body, show),
  });

  route.delete(`${base}/:id`, {
    access: ofProject.manage,
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
    handler: ({ scope, principal, params, query: { deleteData, force = false }, saveResponse }) => {
      const removal = { deleteData, force, requestedBy: principal.accountId };
      return startProjectRemoval(removals, scope.workspaceId, params.id, removal, saveResponse);
    },
  });

  route.post(`${base}/:id/retry-analysis`, {
    access: ofProject.change,
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
      retryAnalysis(ctx, scope.workspaceId, params.id, principal.accountId, show, saveResponse),
  });

  route.post(`${base}/:id/finalize`, {
    access: ofProject.change,
    idempotent: true,
    faults: [
      ...(['project_not_ready', 'already_finalized', 'server_not_linked', 'server_in_cluster'] as const),
      ...(['server_not_ready', 'not_on_cluster'] as const),
    ],
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
      finalizeProject(
        environments,
        scope.workspaceId,
        params.id,
        principal.accountId,
        body,
        readDeployment,
        saveResponse,
      ),
  });

  route.get(`${base}/:id/dockerfile`, {
    access: ofProject.read,
    faults: ['project_not_ready', 'commit_not_found', 'git_failed', 'analysis_stopped'],
    schema: {
      operationId: 'getDockerfile',
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
    access: ofProject.stream,
    schema: {
      operationId: 'followAnalysis',
      summary: 'Follow the analysis of a project',
      description:
        'From the beginning of the newest analysis, unless `Last-Event-ID` or `after` says otherwise; `end` is the last event.',
      params: idParams<ProjectId>(),
      querystring: StreamQuery,
    },
    events: AnalysisEvent,
    handler: async ({ scope, params }) => {
      const followed = await followAnalysis(ctx.db, scope.workspaceId, params.id);
      return { ...followed, from: 'beginning', finite: true };
    },
  });
}
