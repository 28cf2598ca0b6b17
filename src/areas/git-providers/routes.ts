/** The paths of Git accounts. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { manage, type Routes, read } from '../../http/routes.ts';
import { closed, idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { GitProviderId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { disconnectProvider } from './disconnect.ts';
import type { GitProvidersContext } from './git-providers.ts';
import { listBranches } from './list-branches.ts';
import { listProviders, readProvider } from './read-providers.ts';
import { saveToken } from './save-token.ts';
import * as schemas from './schemas.ts';
import { searchRepositories } from './search-repositories.ts';

const base = `${apiPrefix}/git-providers`;
const providerFaults = [
  ...(['provider_rejected', 'provider_scopes_missing', 'provider_rate_limited'] as const),
  ...(['provider_unreachable', 'provider_failed', 'egress_refused', 'egress_failed'] as const),
];

export function gitProviderRoutes(routes: Routes, ctx: GitProvidersContext): void {
  const route = routes.tagged('Git providers');
  route.post(`${apiPrefix}/git-provider/save-token`, {
    access: manage,
    idempotent: true,
    faults: [...providerFaults],
    schema: {
      operationId: 'saveGitToken',
      summary: 'Connect a Git account',
      description:
        'The token is checked with the provider before it is kept. A new token of an account that is connected takes the old one’s place (200), and everything that uses the account goes on. Takes an `Idempotency-Key`.',
      body: schemas.SaveTokenBody,
      response: { 200: schemas.ProviderAnswer, 201: schemas.ProviderAnswer },
    },
    handler: ({ scope, body, saveResponse }) => saveToken(ctx, scope.workspaceId, body, saveResponse),
  });

  route.get(base, {
    access: read,
    schema: {
      operationId: 'listGitProviders',
      summary: 'List your Git accounts',
      querystring: PageQuery,
      response: { 200: schemas.ProvidersAnswer },
    },
    handler: ({ scope, query }) => listProviders(ctx.db, scope.workspaceId, new Page(query)),
  });

  route.get(`${base}/:id`, {
    access: read,
    schema: {
      operationId: 'getGitProvider',
      summary: 'One Git account',
      params: idParams<GitProviderId>(),
      response: { 200: schemas.ProviderAnswer },
    },
    handler: ({ scope, params }) => readProvider(ctx.db, scope.workspaceId, params.id),
  });

  route.get(`${base}/repositories`, {
    access: read,
    limit: 'search',
    schema: {
      operationId: 'searchRepositories',
      summary: 'Search the repositories of all your Git accounts',
      description:
        'Better matches first, then the newest push. What an account can reach is kept for a minute, so that a search per letter asks the provider once.',
      querystring: schemas.SearchQuery,
      response: { 200: schemas.RepositoriesAnswer },
    },
    handler: ({ scope, query }) => searchRepositories(ctx, scope.workspaceId, query),
  });

  route.get(`${base}/:providerId/repos/:repo/branches`, {
    access: read,
    limit: 'search',
    faults: [...providerFaults, 'repository_not_found'],
    schema: {
      operationId: 'listBranches',
      summary: 'List the branches of a repository',
      params: schemas.BranchParams,
      querystring: schemas.BranchQuery,
      response: { 200: schemas.BranchesAnswer },
    },
    handler: ({ scope, params, query }) =>
      listBranches(ctx, scope.workspaceId, params.providerId, params.repo, query),
  });

  route.delete(`${base}/:id`, {
    access: manage,
    faults: ['in_use'],
    schema: {
      operationId: 'disconnectGitProvider',
      summary: 'Disconnect a Git account',
      description:
        'Refused while projects are read with it, unless `force=true`. Revoke the token at the provider too.',
      params: idParams<GitProviderId>(),
      querystring: Type.Object(
        { force: Type.Optional(Type.Boolean({ description: 'Also where projects use it.' })) },
        closed,
      ),
      response: { 204: Type.Null({ description: 'Disconnected.' }) },
    },
    handler: ({ scope, params, query }) =>
      disconnectProvider(ctx, scope.workspaceId, params.id, query.force ?? false),
  });
}
