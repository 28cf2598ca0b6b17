/** The paths of a server's security: its state, its hardening, and the way back. */

import { manage, type Routes, read } from '../../http/routes.ts';
import { idParams } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { ServerId } from '../../ids.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { readSecurity } from './check-security.ts';
import { planHardening, startHardening, startUndo } from './harden.ts';
import * as schemas from './schemas.ts';
import type { ServersContext } from './servers.ts';

const base = `${apiPrefix}/servers/:id/security`;
const remoteFaults = [
  ...([
    'server_not_ready',
    'egress_refused',
    'server_taken',
    'host_key_changed',
    'remote_unreachable',
    'remote_timeout',
    'remote_failed',
  ] as const),
  ...(['port_refused', 'port_filtered', 'name_not_resolved', 'login_refused', 'sudo_refused'] as const),
];

export function securityRoutes(routes: Routes, ctx: ServersContext): void {
  const route = routes.tagged('Servers');
  route.get(base, {
    access: read,
    faults: remoteFaults,
    schema: {
      operationId: 'getServerSecurity',
      summary: 'The security state of a server',
      description:
        'As it was last seen; `refresh=true` looks again first. What could not be read is `unknown`, never a pass.',
      params: idParams<ServerId>(),
      querystring: schemas.SecurityQuery,
      response: { 200: schemas.SecurityAnswer },
    },
    handler: async ({ scope, params, query }) => {
      const answer = await readSecurity(ctx, scope.workspaceId, params.id, query.refresh ?? false);
      return { ...answer, checks: [...answer.checks] };
    },
  });

  route.post(`${base}/harden`, {
    access: manage,
    idempotent: true,
    faults: [...remoteFaults, 'server_busy', 'changed_since'],
    schema: {
      operationId: 'hardenServer',
      summary: 'Harden a server, or show what that would do',
      description:
        'With `dryRun`, answers with the plan: every file as a diff, every command, every package. Without, runs exactly such a plan. Before each step that could lock you out a timer is set on the server itself, which undoes the step unless a new login has proven it. Takes an `Idempotency-Key`.',
      params: idParams<ServerId>(),
      body: schemas.HardenBody,
      response: { 200: schemas.PlanAnswer, 202: OperationAnswer },
    },
    handler: async ({ scope, principal, params, body, saveResponse }) => {
      const { dryRun, ...input } = body;
      if (!dryRun)
        return startHardening(ctx, scope.workspaceId, params.id, principal.accountId, input, saveResponse);
      const plan = await planHardening(ctx, scope.workspaceId, params.id, input);
      return { status: 200, body: plan };
    },
  });

  route.post(`${base}/undo`, {
    access: manage,
    idempotent: true,
    faults: [...remoteFaults, 'server_busy'],
    schema: {
      operationId: 'undoHardening',
      summary: 'Undo a hardening',
      description:
        'Brings back every byte, mode and owner that the hardening changed. Refuses, as a fault of the operation, where someone has changed a file since. Takes an `Idempotency-Key`.',
      params: idParams<ServerId>(),
      body: schemas.UndoBody,
      response: { 202: OperationAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) =>
      startUndo(ctx, scope.workspaceId, params.id, principal.accountId, body.operationId, saveResponse),
  });
}
