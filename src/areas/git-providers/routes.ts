/** The paths of Git accounts. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { manage, read } from '../../http/route-config.ts';
import { closed, IdParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { GitProviderId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { disconnectProvider } from './disconnect.ts';
import type { GitProvidersContext } from './git-providers.ts';
import { listBranches } from './list-branches.ts';
import { listProviders, readProvider } from './read-providers.ts';
import { saveToken } from './save-token.ts';
import * as schemas from './schemas.ts';
import { searchRepositories } from './search-repositories.ts';

const tags = ['Git providers'];
const base = `${apiPrefix}/git-providers`;
const providerFaults = [
  ...(['provider_rejected', 'provider_scopes_missing', 'provider_rate_limited'] as const),
  ...(['provider_unreachable', 'provider_failed', 'egress_refused', 'egress_failed'] as const),
];

export function gitProviderRoutes(app: HttpServer, ctx: GitProvidersContext, idempotency: Idempotency): void {
  app.post(`${apiPrefix}/git-provider/save-token`, {
    config: { ...manage, faults: [...providerFaults, 'idempotency_in_progress', 'idempotency_mismatch'] },
    schema: {
      tags,
      operationId: 'saveGitToken',
      summary: 'Connect a Git account',
      description:
        'The token is checked with the provider before it is kept. A new token of an account that is connected takes the old one’s place (200), and everything that uses the account goes on. Takes an `Idempotency-Key`.',
      body: schemas.SaveTokenBody,
      response: { 200: schemas.ProviderAnswer, 201: schemas.ProviderAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      return idempotency.once(request, reply, (remember) =>
        saveToken(ctx, workspaceId, request.body, remember),
      );
    },
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listGitProviders',
      summary: 'List your Git accounts',
      querystring: PageQuery,
      response: { 200: schemas.ProvidersAnswer },
    },
    handler: (request) => listProviders(ctx.db, scopeOf(request).workspaceId, new Page(request.query)),
  });

  app.get(`${base}/:id`, {
    config: read,
    schema: {
      tags,
      operationId: 'getGitProvider',
      summary: 'One Git account',
      params: IdParams,
      response: { 200: schemas.ProviderAnswer },
    },
    handler: (request) =>
      readProvider(ctx.db, scopeOf(request).workspaceId, request.params.id as GitProviderId),
  });

  app.get(`${base}/repositories`, {
    config: { ...read, limit: 'search' },
    schema: {
      tags,
      operationId: 'searchRepositories',
      summary: 'Search the repositories of all your Git accounts',
      description:
        'Better matches first, then the newest push. What an account can reach is kept for a minute, so that a search per letter asks the provider once.',
      querystring: schemas.SearchQuery,
      response: { 200: schemas.RepositoriesAnswer },
    },
    handler: (request) => searchRepositories(ctx, scopeOf(request).workspaceId, request.query),
  });

  app.get(`${base}/:providerId/repos/:repo/branches`, {
    config: { ...read, limit: 'search', faults: [...providerFaults, 'repository_not_found'] },
    schema: {
      tags,
      operationId: 'listBranches',
      summary: 'List the branches of a repository',
      params: schemas.BranchParams,
      querystring: schemas.BranchQuery,
      response: { 200: schemas.BranchesAnswer },
    },
    handler: (request) => {
      const { providerId, repo } = request.params;
      const { workspaceId } = scopeOf(request);
      return listBranches(ctx, workspaceId, providerId as GitProviderId, repo, request.query);
    },
  });

  app.delete(`${base}/:id`, {
    config: { ...manage, faults: ['in_use'] },
    schema: {
      tags,
      operationId: 'disconnectGitProvider',
      summary: 'Disconnect a Git account',
      description:
        'Refused while projects are read with it, unless `force=true`. Revoke the token at the provider too.',
      params: IdParams,
      querystring: Type.Object(
        { force: Type.Optional(Type.Boolean({ description: 'Also where projects use it.' })) },
        closed,
      ),
      response: { 204: Type.Null({ description: 'Disconnected.' }) },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { force = false } = request.query;
      await disconnectProvider(ctx, workspaceId, request.params.id as GitProviderId, force);
      return reply.code(204).send(null);
    },
  });
}
