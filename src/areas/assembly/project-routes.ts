/** The paths of projects. No rules here: schema, permission, and the use case that does it. */
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, manage, read, repeatable, stream } from '../../http/route-config.ts';
import { IdParams, PageQuery, StreamQuery, streamAnswer } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { Streams } from '../../http/streams.ts';
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

const tags = ['Projects'];
const base = `${apiPrefix}/projects`;
const repositoryFaults = [
  ...(['repository_not_found', 'provider_rejected', 'provider_scopes_missing'] as const),
  ...(['provider_rate_limited', 'provider_unreachable', 'provider_failed'] as const),
  ...(['egress_refused', 'egress_failed'] as const),
];

export function projectRoutes(
  app: HttpServer,
  ctx: AssemblyContext,
  idempotency: Idempotency,
  streams: Streams,
): void {
  app.post(base, {
    config: { ...change, faults: [...repeatable, 'name_taken', ...repositoryFaults] },
    schema: {
      tags,
      operationId: 'createProject',
      summary: 'Create a project from a repository',
      description:
        'The analysis begins at once. A repository by an ssh address gets a `deployKey`: add it there, then retry the analysis. Takes an `Idempotency-Key`.',
      body: schemas.CreateBody,
      response: { 201: schemas.ProjectAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      return idempotency.once(request, reply, (remember) =>
        createProject(ctx, workspaceId, accountId, request.body, readProject, remember),
      );
    },
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listProjects',
      summary: 'List your projects',
      querystring: PageQuery,
      response: { 200: schemas.ProjectsAnswer },
    },
    handler: (request) => listProjects(ctx.db, scopeOf(request).workspaceId, new Page(request.query)),
  });

  app.get(`${base}/analyze-repo`, {
    config: {
      ...change,
      limit: 'search',
      faults: [
        ...repositoryFaults,
        'git_failed',
        'git_unavailable',
        'commit_not_found',
        'repository_too_large',
      ],
    },
    schema: {
      tags,
      operationId: 'analyzeRepository',
      summary: 'Analyse a repository without making a project',
      description:
        'With `providerId` and `repo`, or with `url`. The answer is what a project’s analysis would say.',
      querystring: schemas.AnalyzeQuery,
      response: { 200: schemas.AnalyzeAnswer },
    },
    handler: (request, reply) => {
      const gone = new AbortController();
      // Of the answer: the request is closed as soon as it has been read.
      reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
      const { workspaceId } = scopeOf(request);
      return analyseRepository(ctx, workspaceId, readWish(request.query), request.query, gone.signal);
    },
  });

  app.get(`${base}/:id`, {
    config: read,
    schema: {
      tags,
      operationId: 'getProject',
      summary: 'One project',
      params: IdParams,
      response: { 200: schemas.ProjectAnswer },
    },
    handler: (request) => readProject(ctx.db, scopeOf(request).workspaceId, request.params.id as ProjectId),
  });

  app.put(`${base}/:id`, {
    config: { ...change, faults: ['analysis_running', 'name_taken'] },
    schema: {
      tags,
      operationId: 'updateProject',
      summary: 'Change a project',
      description: 'What is absent stays. Another branch or folder is analysed anew.',
      params: IdParams,
      body: schemas.UpdateBody,
      response: { 200: schemas.ProjectAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as ProjectId;
      return updateProject(ctx, workspaceId, id, accountId, request.body, readProject);
    },
  });

  app.delete(`${base}/:id`, {
    config: { ...manage, faults: ['services_hold_data'] },
    schema: {
      tags,
      operationId: 'deleteProject',
      summary: 'Delete a project',
      description:
        'With everything that belongs to it, on the servers too, as an operation. Where there is data, `deleteData` has to say what becomes of it.',
      params: IdParams,
      querystring: DeleteQuery,
      response: { 202: OperationAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId: requestedBy } = principalOf(request);
      const { deleteData, force = false } = request.query;
      const wish = { deleteData, force, requestedBy };
      return idempotency.once(request, reply, (remember) =>
        startProjectRemoval(ctx, workspaceId, request.params.id as ProjectId, wish, remember),
      );
    },
  });

  app.post(`${base}/:id/retry-analysis`, {
    config: { ...change, faults: [...repeatable, 'analysis_running'] },
    schema: {
      tags,
      operationId: 'retryAnalysis',
      summary: 'Analyse the repository again',
      description: 'The last result stays until there is a new one. Takes an `Idempotency-Key`.',
      params: IdParams,
      response: { 202: schemas.ProjectAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      return idempotency.once(request, reply, (remember) =>
        retryAnalysis(ctx, workspaceId, request.params.id as ProjectId, accountId, readProject, remember),
      );
    },
  });

  app.post(`${base}/:id/finalize`, {
    config: {
      ...change,
      faults: [...repeatable, 'project_not_ready', 'already_finalized', 'server_not_linked'],
    },
    schema: {
      tags,
      operationId: 'finalizeProject',
      summary: 'Take over the analysis, with corrections, and make the first environment',
      description:
        'Secrets that only have to be random are made, unless given. With `deploy` the first deployment begins at once. Takes an `Idempotency-Key`.',
      params: IdParams,
      body: schemas.FinalizeBody,
      response: { 200: schemas.FinalizeAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as ProjectId;
      return idempotency.once(request, reply, (remember) =>
        finalizeProject(ctx, workspaceId, id, accountId, request.body, remember),
      );
    },
  });

  app.get(`${base}/:id/dockerfile`, {
    config: { ...read, faults: ['project_not_ready', 'commit_not_found', 'git_failed'] },
    schema: {
      tags,
      operationId: 'showDockerfile',
      summary: 'The Dockerfile that an app is built with',
      description:
        'Its own where it has one; else the one that is written for it, which you may take over into the repository.',
      params: IdParams,
      querystring: schemas.DockerfileQuery,
      response: { 200: schemas.DockerfileAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      return showDockerfile(ctx, workspaceId, request.params.id as ProjectId, request.query.app);
    },
  });

  app.get(`${base}/:id/analysis-status`, {
    config: stream,
    schema: {
      tags,
      operationId: 'followAnalysis',
      summary: 'Follow the analysis of a project',
      description:
        'Events `status` with `{status, fault?}`, `finding` with `{about, text}`, and `end` as the last one. From the beginning of the newest analysis, unless said otherwise.',
      params: IdParams,
      querystring: StreamQuery,
      response: { 200: streamAnswer('The events of the analysis.') },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const followed = await followAnalysis(ctx.db, workspaceId, request.params.id as ProjectId);
      await streams.open(request, reply, { ...followed, from: 'beginning', finite: true });
      return reply;
    },
  });
}
