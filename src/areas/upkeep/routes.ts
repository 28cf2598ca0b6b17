/** The paths that stop and start an environment. No rules here: schema, permission, and the use case that does it. */
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, repeatable } from '../../http/route-config.ts';
import { IdParams } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { startEnvironment } from './start-environment.ts';
import { stopEnvironment } from './stop-environment.ts';
import type { UpkeepContext } from './upkeep.ts';

const tags = ['Environments'];
const base = `${apiPrefix}/environments/:id`;

export function upkeepRoutes(app: HttpServer, ctx: UpkeepContext, idempotency: Idempotency): void {
  app.post(`${base}/stop`, {
    config: { ...change, faults: [...repeatable] },
    schema: {
      tags,
      operationId: 'stopEnvironment',
      summary: 'Stop an environment',
      description:
        'Visitors get 503 at once, requests in flight are finished, then its containers and services stop. Its data and its releases stay. Takes an `Idempotency-Key`.',
      params: IdParams,
      response: { 202: OperationAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as EnvironmentId;
      return idempotency.once(request, reply, (remember) =>
        stopEnvironment(ctx, workspaceId, id, accountId, remember),
      );
    },
  });

  app.post(`${base}/start`, {
    config: { ...change, faults: [...repeatable, 'nothing_to_start'] },
    schema: {
      tags,
      operationId: 'startEnvironment',
      summary: 'Start an environment again',
      description: 'Its current release, without a build. Takes an `Idempotency-Key`.',
      params: IdParams,
      response: { 202: OperationAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as EnvironmentId;
      return idempotency.once(request, reply, (remember) =>
        startEnvironment(ctx, workspaceId, id, accountId, remember),
      );
    },
  });
}
