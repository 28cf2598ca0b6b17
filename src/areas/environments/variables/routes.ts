/** The paths of an environment's variables. */

import { ofEnvironment, type Routes } from '../../../http/routes.ts';
import { idParams, PageQuery } from '../../../http/schemas.ts';
import { apiPrefix } from '../../../http/server.ts';
import type { EnvironmentId } from '../../../ids.ts';
import { Page } from '../../../page.ts';
import type { EnvironmentsContext } from '../context.ts';
import { removeVariable, setVariables } from './change-variables.ts';
import { listVariables, readVariable } from './read-variables.ts';
import * as schemas from './schemas.ts';

const base = `${apiPrefix}/environments/:id/variables`;

export function variableRoutes(routes: Routes, ctx: EnvironmentsContext): void {
  const route = routes.tagged('Environments');
  route.post(base, {
    access: ofEnvironment.change,
    idempotent: true,
    schema: {
      operationId: 'setVariables',
      summary: 'Add or change variables',
      description:
        'Those that are not named stay. A secret one is never shown again. Nothing is deployed: `needs` says what the change needs to be in effect. Takes an `Idempotency-Key`.',
      params: idParams<EnvironmentId>(),
      body: schemas.VariablesBody,
      response: { 200: schemas.SetVariablesAnswer },
    },
    handler: ({ scope, params, body, saveResponse }) =>
      setVariables(ctx, scope.workspaceId, params.id, body.variables, saveResponse),
  });

  route.get(base, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'listVariables',
      summary: 'List the variables of an environment',
      description: 'Of a secret one there is no value, only when it last changed.',
      params: idParams<EnvironmentId>(),
      querystring: PageQuery,
      response: { 200: schemas.VariablesAnswer },
    },
    handler: ({ scope, params, query }) =>
      listVariables(ctx.db, ctx.sealer, scope.workspaceId, params.id, new Page(query)),
  });

  route.get(`${base}/:key`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'getVariable',
      summary: 'One variable',
      params: schemas.VariableParams,
      response: { 200: schemas.VariableAnswer },
    },
    handler: ({ scope, params }) =>
      readVariable(ctx.db, ctx.sealer, scope.workspaceId, params.id, params.key),
  });

  route.delete(`${base}/:key`, {
    access: ofEnvironment.change,
    schema: {
      operationId: 'deleteVariable',
      summary: 'Take a variable away',
      params: schemas.VariableParams,
      response: { 200: schemas.NeedsAnswer },
    },
    handler: ({ scope, params }) => removeVariable(ctx, scope.workspaceId, params.id, params.key),
  });
}
