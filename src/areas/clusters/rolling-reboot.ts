/**
 * Every server of a cluster in turn is emptied, updated where that is wanted, rebooted and taken back. Each is back, by its own
 * word and by that of a manager, before the next begins; where one is not, nothing more is rebooted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { after, minute } from '../../clock.ts';
import { setAvailability } from '../../engine/swarm/nodes.ts';
import { bootIdOf, isInSwarm, orderReboot } from '../../engine/swarm/reboot.ts';
import { errorText, Fault } from '../../fault.ts';
import type { ServerId } from '../../ids.ts';
import {
  defineOperation,
  type OperationKind,
  type Step,
  type StepContext,
} from '../../operations/definition.ts';
import { followUnit } from '../../remote/units/follow-unit.ts';
import { upgradeScript } from '../servers/hardening/steps/system.ts';
import { type ClustersContext, rebootKind } from './clusters.ts';
import { emptyMember } from './empty-member.ts';
import { recordLook } from './look.ts';
import { managerOf, memberOf, memberRetry, viewOfManagers } from './members.ts';
import * as queries from './queries.ts';
import { type ClusterInput, readClusterInput } from './start-operation.ts';

interface RebootInput extends ClusterInput {
  /** As they were when it was asked for: the names of the steps must stay. */
  readonly names: readonly string[];
  readonly update: boolean;
  readonly backWithinMinutes: number;
}

function readInput(stored: unknown): RebootInput {
  const { names = [], update, backWithinMinutes } = Object(stored);
  if (!Array.isArray(names)) throw new Error('the input names no servers');
  return {
    ...readClusterInput(stored),
    names: names.map(String),
    update: update === true,
    backWithinMinutes: Number(backWithinMinutes) || 10,
  };
}

export function rebootOperation(ctx: ClustersContext): OperationKind {
  return defineOperation<RebootInput>({
    kind: rebootKind,
    readInput,
    steps: (input) => [
      ...input.serverIds.flatMap((serverId, place) =>
        stepsFor(ctx, serverId, input.names[place] ?? serverId, input),
      ),
      {
        name: 'look',
        deadlineMs: minute,
        undo: { none: 'The next look at the cluster says what it is.' },
        run: async ({ clusterId }, { workspaceId, signal }) => {
          await recordLook(ctx, { workspaceId, id: clusterId }, signal);
          return undefined;
        },
      },
    ],
  });
}

function stepsFor(
  ctx: ClustersContext,
  serverId: ServerId,
  name: string,
  { update, backWithinMinutes }: RebootInput,
): Step<RebootInput>[] {
  const find = async ({ clusterId }: RebootInput, { workspaceId }: StepContext) => {
    const rows = await queries.listMembers(ctx.db, workspaceId, [clusterId]);
    const row = rows.find((each) => each.serverId === serverId);
    if (!row || row.nodeId === null) throw new Fault('not_found', `${name} is no member of the cluster.`);
    // Whoever reboots is not asked about itself, unless nobody else could be.
    const others = rows.filter((each) => each.serverId !== serverId && each.role === 'manager');
    return {
      nodeId: row.nodeId,
      before: row.availability,
      managers: others.length > 0 ? others : rows,
      rows,
    };
  };
  const takeBack = async (input: RebootInput, context: StepContext) => {
    const { nodeId, before, managers } = await find(input, context);
    await setAvailability(await managerOf(ctx, context, managers), nodeId, before);
  };
  const drain: Step<RebootInput> = {
    name: `drain ${name}`,
    deadlineMs: 15 * minute,
    retry: memberRetry,
    run: async (input, context) => {
      const { nodeId, managers, rows } = await find(input, context);
      const bootId = await bootIdOf(await memberOf(ctx, context, serverId));
      const manager = await managerOf(ctx, context, managers);
      await emptyMember(ctx, context, manager, { nodeId, name }, rows);
      return { bootId };
    },
    undo: takeBack,
  };
  const upgrade: Step<RebootInput> = {
    name: `update ${name}`,
    deadlineMs: 30 * minute,
    retry: memberRetry,
    undo: { none: 'Packages are not downgraded to a version with known vulnerabilities.' },
    run: async (_input, context) => {
      const { remote, fence, signal } = await memberOf(ctx, context, serverId);
      const unit = {
        name: `slipway-${context.operationId}-update-${serverId}`,
        argv: ['sh', '-euc', updateScript],
        what: `Updating ${name}`,
        hintFor: () =>
          `Run \`apt-get update\` and \`apt-get upgrade\` on ${name} to see why, then begin again.`,
        ...(fence && { fence }),
      };
      await followUnit(remote, unit, { signal, line: context.log });
      return undefined;
    },
  };
  const reboot: Step<RebootInput> = {
    name: `reboot ${name}`,
    deadlineMs: (backWithinMinutes + 2) * minute,
    undo: { none: 'It is waited for no longer. The look at the cluster says whether it is back.' },
    run: async (input, context) => {
      const { managers } = await find(input, context);
      const bootId = String(Object(context.outputs.get(`drain ${name}`)).bootId);
      const isSeen = async () => {
        const { nodes } = await viewOfManagers(ctx, context.workspaceId, managers, context.signal);
        // A new leader takes every node for unknown until it has heard of it.
        return (
          nodes?.every(({ isUp, isManager, isReachable }) => isUp && (!isManager || isReachable)) ?? false
        );
      };
      const overAt = after(ctx.clock.now(), backWithinMinutes * minute);
      let last = `${name} has not taken the order.`;
      for (;;) {
        try {
          const member = await memberOf(ctx, context, serverId);
          const isBooted = (await bootIdOf(member)) !== bootId;
          if (!isBooted) {
            await member.remote.fence(context.operationId, context.epoch);
            await orderReboot(member, bootId);
            // The connection may not tell that the other end is gone.
            ctx.pool.drop(serverId);
          } else if (!(await isInSwarm(member))) last = 'Its Docker is not in the swarm yet.';
          else if (await isSeen()) return undefined;
          else last = 'No manager sees all servers as ready and all managers as reachable.';
        } catch (error) {
          context.signal.throwIfAborted();
          if (!(error instanceof Fault) || error.code === 'remote_fenced') throw error;
          last = errorText(error);
        }
        context.progress(0, `waiting for ${name}`);
        if (ctx.clock.now() >= overAt) throw notBack(name, backWithinMinutes, last);
        await sleep(1_000, undefined, { signal: context.signal });
      }
    },
  };
  const activate: Step<RebootInput> = {
    name: `activate ${name}`,
    deadlineMs: 2 * minute,
    retry: memberRetry,
    undo: { none: 'It is in use, as it was.' },
    run: async (input, context) => {
      await takeBack(input, context);
      context.log(`${name} is back`);
      return undefined;
    },
  };
  return [drain, ...(update ? [upgrade] : []), reboot, activate];
}

const updateScript = `export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C.UTF-8
dpkg --configure -a --force-confdef --force-confold
${upgradeScript}`;

function notBack(name: string, minutes: number, evidence: string): Fault {
  return new Fault(
    'remote_unreachable',
    `${name} did not come back within ${minutes === 1 ? 'a minute' : `${minutes} minutes`} after its reboot, so no other server was rebooted.`,
    {
      hint: `Look at ${name} by the console of its provider. Those before it are back in use, those after it were not touched; begin again once it is up, or take it out of the cluster.`,
      evidence,
    },
  );
}
