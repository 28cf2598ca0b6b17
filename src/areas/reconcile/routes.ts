/** The paths that stop and start an environment. No rules here: schema, permission, and the use case that does it. */

import { ofEnvironment, type Routes } from '../../http/routes.ts';
import { idParams } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { type StartContext, startEnvironment } from './start-environment.ts';
import { stopEnvironment } from './stop-environment.ts';

const base = `${apiPrefix}/environments/:id`;

export function reconcileRoutes(routes: Routes, ctx: StartContext): void {
  const route = routes.tagged('Environments');
  route.post(`${base}/stop`, {
    access: ofEnvironment.change,
    idempotent: true,
    schema: {
      operationId: 'stopEnvironment',
      summary: 'Stop an environment',
      description:
        'Visitors get 503 at once, requests in flight are finished, then its containers and services stop. Its data and its releases stay. Takes an `Idempotency-Key`.',
      params: idParams<EnvironmentId>(),
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, saveResponse }) =>
      stopEnvironment(ctx, scope.workspaceId, params.id, principal.accountId, saveResponse),
  });

  route.post(`${base}/start`, {
    access: ofEnvironment.change,
    idempotent: true,
    faults: ['nothing_to_start'],
    schema: {
      operationId: 'startEnvironment',
      summary: 'Start an environment again',
      description: 'Its current release, without a build. Takes an `Idempotency-Key`.',
      params: idParams<EnvironmentId>(),
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, saveResponse }) =>
      startEnvironment(ctx, scope.workspaceId, params.id, principal.accountId, saveResponse),
  });
}
