/**
 * Servers leave a cluster, or all of them do and it is gone. Who leaves is emptied first, and replaced as a manager before it is
 * missed; afterwards nothing of the swarm is left on it.
 */
import { minute } from '../../clock.ts';
import { hasLiveRestore, leave, removeImages, removeServing } from '../../engine/swarm/member.ts';
import { ensureMemberRules, removeMemberRules } from '../../engine/swarm/member-rules.ts';
import { demoteSurplus, forgetNode, promoteMissing, setAvailability } from '../../engine/swarm/nodes.ts';
import { Fault } from '../../fault.ts';
import type { ServerId } from '../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../operations/definition.ts';
import { isServerUnavailable } from '../servers/connection/server-retry.ts';
import { setLiveRestore } from '../servers/docker-settings.ts';
import { type ClustersContext, leaveKind, publishClusterUpdate } from './clusters.ts';
import { emptyMember } from './empty-member.ts';
import { isLostIn, recordLook } from './look.ts';
import { ifReachable, managerOf, memberOf, memberRetry } from './members.ts';
import * as queries from './queries.ts';
import { type ClusterInput, readClusterInput } from './start-operation.ts';

export interface LeaveInput extends ClusterInput {
  /** Those that do not answer are gone for good: they are not asked. */
  readonly lost: boolean;
  /** The cluster goes with them. */
  readonly all: boolean;
}

function readInput(stored: unknown): LeaveInput {
  const { lost, all } = Object(stored);
  return { ...readClusterInput(stored), lost: lost === true, all: all === true };
}

export function leaveOperation(ctx: ClustersContext): OperationKind {
  const rowsOf = ({ clusterId }: LeaveInput, { workspaceId }: StepContext) =>
    queries.listMembers(ctx.db, workspaceId, [clusterId]);
  return defineOperation<LeaveInput>({
    kind: leaveKind,
    readInput,
    // Ended without its end: they are members still, and may be asked to leave again.
    onStateChange: async (tx, { workspaceId, input }, { state }) => {
      if (state !== 'failed' && state !== 'cancelled') return;
      await queries.setMemberStates(tx, { workspaceId, id: input.clusterId }, input.serverIds, 'ready');
      await publishClusterUpdate(tx, workspaceId, input.clusterId, 'not_left');
    },
    steps: [
      {
        name: 'drain',
        deadlineMs: 15 * minute,
        retry: memberRetry,
        run: async (input, context) => {
          if (input.all || input.lost) return undefined;
          const rows = await rowsOf(input, context);
          const manager = await managerOf(ctx, context, rows);
          for (const { nodeId, name } of leaversIn(rows, input)) {
            if (nodeId === null) continue;
            await emptyMember(ctx, context, manager, { nodeId, name }, rows);
          }
          return undefined;
        },
        undo: async (input, context) => {
          if (input.all || input.lost) return;
          const rows = await rowsOf(input, context);
          const manager = await managerOf(ctx, context, rows);
          for (const { nodeId, availability } of leaversIn(rows, input))
            if (nodeId !== null) await setAvailability(manager, nodeId, availability);
        },
      },
      {
        name: 'managers',
        deadlineMs: 5 * minute,
        retry: memberRetry,
        undo: { none: 'The managers that were added do no harm; the next look settles their number.' },
        run: async (input, context) => {
          if (input.all) return undefined;
          const rows = await rowsOf(input, context);
          const leaving = leaversIn(rows, input).flatMap(({ nodeId }) => nodeId ?? []);
          const rule = { isLost: isLostIn(rows, ctx.clock.now()), leaving, log: context.log };
          await promoteMissing(await managerOf(ctx, context, rows), rule);
          await demoteSurplus(await managerOf(ctx, context, withRoles(rows), input.serverIds), rule);
          return undefined;
        },
      },
      {
        name: 'leave',
        deadlineMs: 10 * minute,
        retry: memberRetry,
        undo: { none: 'Add the server again instead.' },
        run: async (input, context) => {
          const rows = await rowsOf(input, context);
          for (const { serverId, nodeId, name } of leaversIn(rows, input)) {
            const manager = input.all
              ? undefined
              : await managerOf(ctx, context, withRoles(rows), input.serverIds);
            await unlessLost(input, name, async () => leave(await memberOf(ctx, context, serverId)));
            if (manager && nodeId !== null) await forgetNode(manager, nodeId);
            context.log(`${name} has left`);
          }
          return undefined;
        },
      },
      {
        name: 'tidy',
        deadlineMs: 5 * minute,
        retry: memberRetry,
        undo: { none: 'Add the server again instead.' },
        run: async (input, context) => {
          const rows = await rowsOf(input, context);
          for (const { serverId, name, hadLiveRestore } of leaversIn(rows, input))
            await unlessLost(input, name, () => tidy(ctx, context, input, serverId, hadLiveRestore ?? true));
          const staying = rows.filter(({ serverId }) => !input.serverIds.includes(serverId));
          const addresses = staying.flatMap(({ address }) => address ?? []);
          for (const { serverId } of staying) {
            const member = memberOf(ctx, context, serverId);
            // One that is away gets them when it is back.
            await ifReachable(
              member.then(({ remote, signal }) => ensureMemberRules(remote, addresses, signal)),
            );
          }
          return undefined;
        },
      },
      {
        name: 'forget',
        deadlineMs: minute,
        undo: { none: 'It is the last step.' },
        run: async (input, { workspaceId, signal }) => {
          const key = { workspaceId, id: input.clusterId };
          await ctx.db.transaction(async (tx) => {
            if (input.all) await queries.deleteCluster(tx, key);
            else await queries.deleteMembers(tx, key, input.serverIds);
            await publishClusterUpdate(tx, workspaceId, input.clusterId, input.all ? 'deleted' : 'left');
          });
          if (!input.all) await recordLook(ctx, key, signal);
          return undefined;
        },
      },
    ],
  });
}

function leaversIn(rows: readonly queries.MemberRow[], { serverIds }: LeaveInput): queries.MemberRow[] {
  return rows.filter(({ serverId }) => serverIds.includes(serverId));
}

/** Any of them may have become a manager a moment ago; the rows know it after the next look. */
function withRoles(rows: readonly queries.MemberRow[]): queries.MemberRow[] {
  return rows.map((row) => ({ ...row, role: null }));
}

async function unlessLost({ lost }: LeaveInput, name: string, work: () => Promise<void>): Promise<void> {
  if (lost) {
    await ifReachable(work());
    return;
  }
  await work().catch((error: unknown) => {
    if (!(error instanceof Fault) || !isServerUnavailable(error)) throw error;
    throw new Fault(error.code, `${name}: ${error.message}`, {
      hint: `${error.hint ?? ''} If ${name} is gone for good, take it out with \`lost=true\`.`.trim(),
      ...(error.evidence !== undefined && { evidence: error.evidence }),
      cause: error,
    });
  });
}

async function tidy(
  ctx: ClustersContext,
  context: StepContext,
  input: LeaveInput,
  serverId: ServerId,
  hadLiveRestore: boolean,
): Promise<void> {
  const member = await memberOf(ctx, context, serverId);
  const { remote, signal } = member;
  const fence = { scope: context.operationId, epoch: context.epoch };
  await remote.fence(fence.scope, fence.epoch);
  await removeServing(member, fence);
  // Of a cluster that is taken apart each environment stands on its home then, and needs its image there.
  if (!input.all) await removeImages(member, fence);
  await setLiveRestore(remote, hadLiveRestore, () => hasLiveRestore(member));
  await removeMemberRules(remote, signal);
}
