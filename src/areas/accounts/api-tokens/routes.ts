/** The paths of API tokens. */
import Type from 'typebox';
import type { Routes } from '../../../http/routes.ts';
import { idParams, PageQuery } from '../../../http/schemas.ts';
import type { Scope } from '../../../http/scope.ts';
import { apiPrefix } from '../../../http/server.ts';
import type { ApiTokenId } from '../../../ids.ts';
import { Page } from '../../../page.ts';
import type { AccountsContext } from '../accounts.ts';
import { createApiToken, listApiTokens, type Maker, revokeApiToken } from './api-tokens.ts';
import * as schemas from './schemas.ts';

/** Of one's own: whoever may look may let a program look. What a token may do its maker's role says. */
const own = { kind: 'workspace', permission: 'read', reach: 'list', person: true } as const;
const base = `${apiPrefix}/api-tokens`;

export function apiTokenRoutes(routes: Routes, ctx: Pick<AccountsContext, 'db' | 'clock'>): void {
  const route = routes.tagged('API tokens');
  route.post(base, {
    // It outlives the session, and asks for nothing again.
    access: { ...own, fresh: { abilities: ['manage', 'read_secrets'] } },
    idempotent: true,
    schema: {
      operationId: 'createApiToken',
      summary: 'Make an API token',
      description:
        'For programs: sent as `Authorization: Bearer`, like an access token. It can do no more than its abilities, and no more than you at that moment; it ends when you leave the workspace. For a CI: `{"abilities": ["deploy"], "projectId": …}`.',
      body: schemas.ApiTokenBody,
      response: { 201: schemas.NewApiTokenAnswer },
    },
    handler: ({ scope, body, saveResponse }) => createApiToken(ctx, makerOf(scope), body, saveResponse),
  });

  route.get(base, {
    access: own,
    schema: {
      operationId: 'listApiTokens',
      summary: 'List your API tokens',
      description: 'Whoever may `manage` the workspace sees those of all its members.',
      querystring: PageQuery,
      response: { 200: schemas.ApiTokensAnswer },
    },
    handler: ({ scope, query }) => listApiTokens(ctx, makerOf(scope), new Page(query)),
  });

  route.delete(`${base}/:id`, {
    access: own,
    schema: {
      operationId: 'deleteApiToken',
      summary: 'Revoke an API token',
      description: 'It is refused from then on, and the streams that it has open end at once.',
      params: idParams<ApiTokenId>(),
      response: { 204: Type.Null({ description: 'It is revoked.' }) },
    },
    handler: ({ scope, params }) => revokeApiToken(ctx, makerOf(scope), params.id),
  });
}

function makerOf({ workspaceId, principal, role, projects }: Scope): Maker {
  return { workspaceId, accountId: principal.accountId, role, projects };
}
