/**
 * Looks at clusters, every minute, on whichever instance comes first: what their managers say is stored, a manager that is lost
 * is replaced where another server can be one, and a member that was away gets the rules it missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { after, minute } from '../../clock.ts';
import { majorityOf, planManagers } from '../../engine/swarm/managers.ts';
import { demoteSurplus, promoteMissing } from '../../engine/swarm/nodes.ts';
import { Fault } from '../../fault.ts';
import type { WorkspaceId } from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { hasUnfinishedInQueue } from '../../operations/operations.ts';
import type { Schedule } from '../../operations/queue.ts';
import { sideBySide } from '../../side-by-side.ts';
import { type ClustersContext, managersKind } from './clusters.ts';
import { judgeCluster } from './judge-cluster.ts';
import {
  longestViewMs,
  type ManagersView,
  managerOf,
  memberRetry,
  putRulesBack,
  viewOfManagers,
} from './members.ts';
import * as queries from './queries.ts';
import { recordJudgement } from './record-judgement.ts';
import { enqueueOnCluster, readClusterInput } from './start-operation.ts';

const limit = 50;
const fairness = { atOnce: 10, ofOne: 3, withinMs: minute } as const;
const lookTimeoutMs = 55_000;
const choosingMs = 5_000;
/** A reboot takes less. */
const lostAfterMs = 5 * minute;

export function clusterCheckSchedule(ctx: ClustersContext): Schedule {
  return { name: 'check-clusters', cron: '* * * * *', timezone: 'UTC', run: () => lookAtDue(ctx) };
}

export async function lookAtDue(ctx: ClustersContext): Promise<void> {
  for (;;) {
    const now = ctx.clock.now();
    const due = await queries.takeDueClusters(ctx.db, { now, next: after(now, minute), limit });
    await sideBySide(due, fairness, (key) => lookAt(ctx, key));
    if (due.length < limit) return;
  }
}

async function lookAt(ctx: ClustersContext, key: queries.ClusterKey): Promise<void> {
  // What is being changed is looked at when that is done. A drain may last, and who comes back meanwhile needs its rules.
  const isChanging = await hasUnfinishedInQueue(ctx.db, key.id);
  if (!isChanging) await recordLook(ctx, key, AbortSignal.timeout(lookTimeoutMs));
  const rows = await queries.listMembers(ctx.db, key.workspaceId, [key.id]);
  if (!rows.some(({ state }) => state === 'joining' || state === 'leaving')) {
    const asked = isChanging ? rows : rows.filter(({ state }) => state === 'ready');
    await putRulesBack(ctx, key.workspaceId, { rows, asked }, AbortSignal.timeout(lookTimeoutMs));
  }
  if (!isChanging) await replaceLost(ctx, key);
}

/** Stores what the managers say now. Members that join or leave keep what their operation says. */
export async function recordLook(
  ctx: ClustersContext,
  key: queries.ClusterKey,
  signal: AbortSignal,
): Promise<void> {
  const { workspaceId, id } = key;
  const rows = await queries.listMembers(ctx.db, workspaceId, [id]);
  const settled = rows.filter(({ state }) => state === 'ready' || state === 'down');
  if (settled.length === 0) return;
  const { nodes, answering } = await steadyView(ctx, workspaceId, settled, signal);
  const judgement = judgeCluster(settled, nodes, answering);
  const now = ctx.clock.now();
  await ctx.db.transaction((tx) => recordJudgement(tx, key, settled, judgement, now));
}

/**
 * While managers choose a leader, none of them knows anything, and it is no news: they have some more seconds then, as long as
 * there is time for one more round of questions.
 */
async function steadyView(
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  rows: readonly queries.MemberRow[],
  signal: AbortSignal,
): Promise<ManagersView> {
  const managers = rows.filter(({ role }) => role === 'manager').length;
  const lastRound = performance.now() + lookTimeoutMs - choosingMs - longestViewMs;
  for (let looks = 1; ; looks += 1) {
    const view = await viewOfManagers(ctx, workspaceId, rows, signal);
    const isChoosing = view.nodes === null && view.answering.length >= majorityOf(managers);
    if (!isChoosing || looks >= 4 || performance.now() > lastRound) return view;
    await sleep(choosingMs, undefined, { signal });
  }
}

/** A node is lost when its server has been down for longer than a reboot takes. */
export function isLostIn(rows: readonly queries.MemberRow[], now: Date): (nodeId: string) => boolean {
  const lost = rows.filter(({ downSince }) => downSince !== null && now >= after(downSince, lostAfterMs));
  return (nodeId) => lost.some((each) => each.nodeId === nodeId);
}

async function replaceLost(ctx: ClustersContext, key: queries.ClusterKey): Promise<void> {
  const { workspaceId, id: clusterId } = key;
  await ctx.db.transaction(async (tx) => {
    const cluster = await queries.lockCluster(tx, key);
    if (!cluster || cluster.status === 'no_quorum' || cluster.status === 'unreachable') return;
    if (await hasUnfinishedInQueue(tx, clusterId)) return;
    const rows = await queries.listMembers(tx, workspaceId, [clusterId]);
    if (rows.some(({ state }) => state === 'joining' || state === 'leaving')) return;
    const isLost = isLostIn(rows, ctx.clock.now());
    const { promote, demote } = planManagers(
      rows.flatMap(({ nodeId: id, role, isLeader, state }) =>
        id === null
          ? []
          : [{ id, isManager: role === 'manager', isLeader, isUp: state === 'ready', isLost: isLost(id) }],
      ),
    );
    if (promote.length + demote.length === 0) return;
    await enqueueOnCluster(tx, ctx, { workspaceId, clusterId }, managersKind, { serverIds: [] });
  });
}

/** Started by a look; the same rule as where servers join and leave. */
export function managersOperation(ctx: ClustersContext): OperationKind {
  return defineOperation({
    kind: managersKind,
    readInput: readClusterInput,
    steps: [
      {
        name: 'managers',
        deadlineMs: 10 * minute,
        retry: memberRetry,
        undo: { none: 'The next look at the cluster goes on from what was done.' },
        run: async ({ clusterId }, context) => {
          const rows = await queries.listMembers(ctx.db, context.workspaceId, [clusterId]);
          if (rows.length === 0) throw new Fault('not_found', 'The cluster is gone.');
          const manager = await managerOf(ctx, context, rows);
          const rule = { isLost: isLostIn(rows, ctx.clock.now()), leaving: [], log: context.log };
          await promoteMissing(manager, rule);
          await demoteSurplus(manager, rule);
          await recordLook(ctx, { workspaceId: context.workspaceId, id: clusterId }, context.signal);
          return undefined;
        },
      },
    ],
  });
}
