/**
 * Hardening as a durable operation. The plan that a dry run shows is the plan that is run: it is computed on request and
 * stored whole as the operation's input.
 */
import { minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { AccountId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import {
  defineOperation,
  type Json,
  type OperationKind,
  type StepContext,
} from '../../operations/definition.ts';
import type { SaveResponse } from '../../store/answer.ts';
import { readOperation } from '../operations/operations.ts';
import { refreshSecurity } from './check-security.ts';
import { connectTo } from './connection/connect-server.ts';
import { verifyLogin } from './connection/verify-login.ts';
import { type Plan, type StepId, stepIds } from './hardening/plan.ts';
import { readServer } from './read-server.ts';
import type { ServersContext } from './servers.ts';
import { hardenKind, type StartedOperation, startOnServer, undoKind } from './start-operation.ts';

/** Loaded when first used: no start of the service needs it. */
const hardening = () => import('./hardening/hardening.ts');

export interface HardenRequest {
  readonly steps?: readonly StepId[];
  readonly allowPorts?: readonly number[];
  /** Of the plan that was reviewed; another one is refused. */
  readonly planFingerprint?: string;
}

export async function planHardening(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  { steps, allowPorts = [] }: HardenRequest,
): Promise<Plan> {
  const { remote, username, port, hostKey } = await connectTo(ctx, workspaceId, id);
  const ourAddress = await verifyLogin(ctx, workspaceId, id);
  const { makePlan } = await hardening();
  return makePlan(remote, {
    username,
    sshPort: port,
    ourAddress,
    allowPorts,
    pinnedHostKey: hostKey,
    ...(steps && { steps }),
  });
}

export async function startHardening(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  requestedBy: AccountId,
  request: HardenRequest,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const plan = await planHardening(ctx, workspaceId, serverId, request);
  if (request.planFingerprint !== undefined && request.planFingerprint !== plan.fingerprint) {
    throw new Fault('changed_since', 'The server has changed since that plan was made.', {
      hint: 'Review the plan again with `dryRun`.',
    });
  }
  const input: Json = { serverId, plan: JSON.parse(JSON.stringify(plan)) };
  return startOnServer(ctx, { workspaceId, serverId, kind: hardenKind, input, requestedBy }, saveResponse);
}

export async function startUndo(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  requestedBy: AccountId,
  operationId: OperationId,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  await requireHardening(ctx, workspaceId, serverId, operationId);
  const input = { serverId, runId: operationId };
  return startOnServer(ctx, { workspaceId, serverId, kind: undoKind, input, requestedBy }, saveResponse);
}

/** Operations of servers are kept for good, so one that is not here was never run. */
async function requireHardening(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  operationId: OperationId,
): Promise<void> {
  await readServer(ctx.db, workspaceId, serverId);
  const found = await readOperation(ctx.db, workspaceId, operationId).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  });
  if (found?.kind === hardenKind && found.subject?.id === serverId) return;
  const what = found && found.kind !== hardenKind ? `is of the kind ${found.kind}` : 'is not known here';
  throw new Fault('not_found', `No hardening of this server has this id: the operation ${what}.`, {
    hint: 'Name the operation of a hardening; GET /operations lists them.',
    errors: [{ path: 'operationId', message: 'is not a hardening of this server' }],
  });
}

interface Input {
  readonly serverId: ServerId;
  readonly plan: Plan;
}

const noUndo = {
  none: 'An applied step was verified by a new login. POST /servers/:id/security/undo undoes everything.',
};

export function hardenOperation(ctx: ServersContext): OperationKind {
  return defineOperation<Input>({
    kind: hardenKind,
    readInput: (stored) => {
      const { serverId, plan } = Object(stored);
      if (typeof serverId !== 'string' || Object(plan).version !== 1) throw new Error('not a known plan');
      return { serverId: serverId as ServerId, plan };
    },
    steps: [
      ...stepIds.map((name) => ({
        name,
        deadlineMs: 20 * minute,
        undo: noUndo,
        run: async ({ serverId, plan }: Input, context: StepContext) => {
          const place = plan.steps.findIndex(({ id }) => id === name);
          const step = plan.steps[place];
          if (!step) return undefined;
          const count = plan.steps.length;
          const progress = (within: number, doing = '') =>
            context.progress((place + within) / count, `${place + 1} of ${count}: ${step.title}${doing}`);
          progress(0);
          const { remote } = await connectTo(ctx, context.workspaceId, serverId);
          const fence = { scope: context.operationId, epoch: context.epoch };
          await remote.fence(fence.scope, fence.epoch);
          const { applyStep } = await hardening();
          await applyStep(remote, plan, name, {
            runId: context.operationId,
            fence,
            verifyLogin: async () => void (await verifyLogin(ctx, context.workspaceId, serverId)),
            log: (line) => context.log(line),
            progress: (within, doing) => progress(within, `, ${doing}`),
          });
          return undefined;
        },
      })),
      {
        name: 'look',
        deadlineMs: 2 * minute,
        undo: { none: 'Checking changes nothing.' },
        run: async ({ serverId }, context) => {
          context.progress(1, 'checking the security of the server');
          await refreshSecurity(ctx, context.workspaceId, serverId);
          return undefined;
        },
      },
    ],
  });
}

export function undoHardeningOperation(ctx: ServersContext): OperationKind {
  return defineOperation({
    kind: undoKind,
    readInput: (stored) => {
      const { serverId, runId } = Object(stored);
      return { serverId: String(serverId) as ServerId, runId: String(runId) };
    },
    steps: [
      {
        name: 'undo',
        deadlineMs: 20 * minute,
        undo: { none: 'Harden the server again instead.' },
        run: async ({ serverId, runId }, context) => {
          const { remote } = await connectTo(ctx, context.workspaceId, serverId);
          const fence = { scope: context.operationId, epoch: context.epoch };
          await remote.fence(fence.scope, fence.epoch);
          const { undoRun } = await hardening();
          await undoRun(remote, runId, (line) => context.log(line), fence);
          await refreshSecurity(ctx, context.workspaceId, serverId);
          return undefined;
        },
      },
    ],
  });
}
