/** The paths of an environment's variables. */
import { scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, read } from '../../http/route-config.ts';
import { IdParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { removeVariable, setVariables } from './change-variables.ts';
import type { EnvironmentsContext } from './environments.ts';
import { listVariables, readVariable } from './read-variables.ts';
import * as schemas from './schemas.ts';

const tags = ['Environments'];
const base = `${apiPrefix}/environments/:id/variables`;

export function variableRoutes(app: HttpServer, ctx: EnvironmentsContext, idempotency: Idempotency): void {
  app.post(base, {
    config: { ...change, faults: ['idempotency_in_progress', 'idempotency_mismatch'] },
    schema: {
      tags,
      operationId: 'setVariables',
      summary: 'Add or change variables',
      description:
        'Those that are not named stay. A secret one is never shown again. Nothing is deployed: `needs` says what the change needs to be in effect. Takes an `Idempotency-Key`.',
      params: IdParams,
      body: schemas.VariablesBody,
      response: { 200: schemas.SetVariablesAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const id = request.params.id as EnvironmentId;
      return idempotency.once(request, reply, (remember) =>
        setVariables(ctx, workspaceId, id, request.body.variables, remember),
      );
    },
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listVariables',
      summary: 'List the variables of an environment',
      description: 'Of a secret one there is no value, only when it last changed.',
      params: IdParams,
      querystring: PageQuery,
      response: { 200: schemas.VariablesAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      const id = request.params.id as EnvironmentId;
      return listVariables(ctx.db, ctx.sealer, workspaceId, id, new Page(request.query));
    },
  });

  app.get(`${base}/:key`, {
    config: read,
    schema: {
      tags,
      operationId: 'getVariable',
      summary: 'One variable',
      params: schemas.VariableParams,
      response: { 200: schemas.VariableAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      const { id, key } = request.params;
      return readVariable(ctx.db, ctx.sealer, workspaceId, id as EnvironmentId, key);
    },
  });

  app.delete(`${base}/:key`, {
    config: change,
    schema: {
      tags,
      operationId: 'deleteVariable',
      summary: 'Take a variable away',
      params: schemas.VariableParams,
      response: { 200: schemas.NeedsAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      const { id, key } = request.params;
      return removeVariable(ctx, workspaceId, id as EnvironmentId, key);
    },
  });
}
