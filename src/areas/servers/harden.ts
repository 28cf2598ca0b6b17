/**
 * Hardening as a durable operation. The plan that a dry run shows is the plan that is run: it is made when it is
 * asked for, and goes into the operation whole.
 */
import { Fault } from '../../fault.ts';
import type { AccountId, OperationId, ServerId, WorkspaceId } from '../../ids.ts';
import {
  defineOperation,
  type Json,
  type OperationKind,
  type StepContext,
} from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { Answer, Remember } from '../../store/answer.ts';
import { readOperation } from '../operations/operations.ts';
import { applyStep, makePlan, type Plan, type StepId, stepIds, undoRun } from './hardening/hardening.ts';
import { proveLogin } from './prove-login.ts';
import * as queries from './queries.ts';
import { lookAtSecurity } from './security-state.ts';
import { connectTo, notFound, type ServersContext } from './servers.ts';

export const hardenKind = 'server_harden';
export const undoKind = 'server_undo_hardening';
const minute = 60_000;

export interface HardenWish {
  readonly steps?: readonly StepId[];
  readonly allowPorts?: readonly number[];
  /** Of the plan that was looked at; another one is refused. */
  readonly planFingerprint?: string;
}

export async function planHardening(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  { steps, allowPorts = [] }: HardenWish,
): Promise<Plan> {
  const { remote, username, port, hostKey } = await connectTo(ctx, workspaceId, id);
  const ourAddress = await proveLogin(ctx, workspaceId, id);
  return makePlan(remote, {
    ...{ username, sshPort: port, ourAddress, allowPorts, hasKeyLogin: true, pinnedHostKey: hostKey },
    ...(steps && { steps }),
  });
}

export async function startHardening(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  accountId: AccountId,
  wish: HardenWish,
  remember: Remember,
): Promise<Answer<Awaited<ReturnType<typeof readOperation>>>> {
  const plan = await planHardening(ctx, workspaceId, id, wish);
  if (wish.planFingerprint !== undefined && wish.planFingerprint !== plan.fingerprint) {
    throw new Fault('changed_since', 'The server has changed since that plan was made.', {
      hint: 'Look at the plan again with `dryRun`.',
    });
  }
  const input: Json = { serverId: id, plan: JSON.parse(JSON.stringify(plan)) };
  return start(ctx, workspaceId, id, accountId, hardenKind, input, remember);
}

export function startUndo(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  accountId: AccountId,
  operationId: OperationId,
  remember: Remember,
): Promise<Answer<Awaited<ReturnType<typeof readOperation>>>> {
  return start(ctx, workspaceId, id, accountId, undoKind, { serverId: id, runId: operationId }, remember);
}

function start(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  requestedBy: AccountId,
  kind: string,
  input: Json,
  remember: Remember,
): Promise<Answer<Awaited<ReturnType<typeof readOperation>>>> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockServer(tx, workspaceId, id))) throw notFound();
    for (const other of [hardenKind, undoKind]) {
      if (await queries.hasActiveOperation(tx, id, other)) {
        throw new Fault('server_busy', 'The server is being hardened, or that is being undone.');
      }
    }
    const subject = { type: 'server', id };
    const wish = { workspaceId, kind, input, serverId: id, requestedBy, subject };
    const operationId = await enqueueOperation(tx, ctx.queue, wish);
    const body = await readOperation(tx, workspaceId, operationId);
    return remember(tx, { status: 202, location: `/api/v1/operations/${operationId}`, body });
  });
}

interface Input {
  readonly serverId: ServerId;
  readonly plan: Plan;
}

const stands = {
  none: 'A step that stands was proven by a new login. POST /servers/:id/security/undo brings everything back.',
};

export function hardenOperation(ctx: ServersContext): OperationKind {
  return defineOperation<Input>({
    kind: hardenKind,
    readInput: (stored) => {
      const { serverId, plan } = Object(stored);
      if (typeof serverId !== 'string' || Object(plan).version !== 1) throw new Error('no plan that we know');
      return { serverId: serverId as ServerId, plan };
    },
    steps: [
      ...stepIds.map((name) => ({
        name,
        deadlineMs: 20 * minute,
        undo: stands,
        run: async ({ serverId, plan }: Input, context: StepContext) => {
          if (!plan.steps.some(({ id }) => id === name)) return undefined;
          const { remote } = await connectTo(ctx, context.workspaceId, serverId);
          await remote.fence(serverId, context.epoch);
          await applyStep(remote, plan, name, {
            runId: context.operationId,
            proveLogin: async () => void (await proveLogin(ctx, context.workspaceId, serverId)),
            log: (line) => context.log(line),
          });
          return undefined;
        },
      })),
      {
        name: 'look',
        deadlineMs: 2 * minute,
        undo: { none: 'Looking changes nothing.' },
        run: async ({ serverId }, context) => {
          await lookAtSecurity(ctx, context.workspaceId, serverId);
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
          await remote.fence(serverId, context.epoch);
          await undoRun(remote, runId, (line) => context.log(line));
          await lookAtSecurity(ctx, context.workspaceId, serverId);
          return undefined;
        },
      },
    ],
  });
}
