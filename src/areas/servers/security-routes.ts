/** The paths of a server's security: its state, its hardening, and the way back. */
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { IdParams } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { OperationId, ServerId } from '../../ids.ts';
import { OperationAnswer } from '../operations/schemas.ts';
import { readSecurity } from './check-security.ts';
import { planHardening, startHardening, startUndo } from './harden.ts';
import * as schemas from './schemas.ts';
import type { ServersContext } from './servers.ts';

const read = { kind: 'workspace', permission: 'read' } as const;
const manage = { kind: 'workspace', permission: 'manage' } as const;
const tags = ['Servers'];
const base = `${apiPrefix}/servers/:id/security`;
const remoteFaults = [
  ...([
    'server_not_ready',
    'host_key_changed',
    'remote_unreachable',
    'remote_timeout',
    'remote_failed',
  ] as const),
  ...(['port_refused', 'port_filtered', 'name_not_resolved', 'login_refused', 'sudo_refused'] as const),
];
const repeatable = ['idempotency_in_progress', 'idempotency_mismatch', 'server_busy'] as const;

export function securityRoutes(app: HttpServer, ctx: ServersContext, idempotency: Idempotency): void {
  app.get(base, {
    config: { access: read, faults: remoteFaults },
    schema: {
      tags,
      operationId: 'getServerSecurity',
      summary: 'The security state of a server',
      description:
        'As it was last seen; `refresh=true` looks again first. What could not be read is `unknown`, never a pass.',
      params: IdParams,
      querystring: schemas.SecurityQuery,
      response: { 200: schemas.SecurityAnswer },
    },
    handler: async (request) => {
      const { workspaceId } = scopeOf(request);
      const answer = await readSecurity(
        ctx,
        workspaceId,
        request.params.id as ServerId,
        request.query.refresh ?? false,
      );
      return { ...answer, checks: [...answer.checks] };
    },
  });

  app.post(`${base}/harden`, {
    config: { access: manage, faults: [...remoteFaults, ...repeatable, 'changed_since'] },
    schema: {
      tags,
      operationId: 'hardenServer',
      summary: 'Harden a server, or show what that would do',
      description:
        'With `dryRun`, answers with the plan: every file as a diff, every command, every package. Without, runs exactly such a plan. Before each step that could lock you out a timer is set on the server itself, which undoes the step unless a new login has proven it. Takes an `Idempotency-Key`.',
      params: IdParams,
      body: schemas.HardenBody,
      response: { 200: schemas.PlanAnswer, 202: OperationAnswer },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as ServerId;
      const { dryRun, ...wish } = request.body;
      if (!dryRun) {
        return idempotency.once(request, reply, (remember) =>
          startHardening(ctx, workspaceId, id, accountId, wish, remember),
        );
      }
      return reply
        .code(200)
        .send(JSON.parse(JSON.stringify(await planHardening(ctx, workspaceId, id, wish))));
    },
  });

  app.post(`${base}/undo`, {
    config: { access: manage, faults: [...remoteFaults, ...repeatable] },
    schema: {
      tags,
      operationId: 'undoHardening',
      summary: 'Undo a hardening',
      description:
        'Brings back every byte, mode and owner that the hardening changed. Refuses, as a fault of the operation, where someone has changed a file since. Takes an `Idempotency-Key`.',
      params: IdParams,
      body: schemas.UndoBody,
      response: { 202: OperationAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as ServerId;
      const operationId = request.body.operationId as OperationId;
      return idempotency.once(request, reply, (remember) =>
        startUndo(ctx, workspaceId, id, accountId, operationId, remember),
      );
    },
  });
}
