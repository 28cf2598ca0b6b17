/** A rolling reboot is asked for: in which order, and what it would take down. */
import { Fault } from '../../fault.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { type ClustersContext, publishClusterUpdate, rebootKind } from './clusters.ts';
import type { MemberRow } from './queries.ts';
import { type ClusterRequest, enqueueOnCluster, lockIdle } from './start-operation.ts';

export interface RebootWish {
  readonly update?: boolean;
  readonly acceptDowntime?: boolean;
  readonly backWithinMinutes?: number;
}

export function startReboot(
  ctx: ClustersContext,
  request: ClusterRequest,
  { update = false, acceptDowntime = false, backWithinMinutes = 10 }: RebootWish,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const { workspaceId, clusterId } = request;
  return ctx.db.transaction(async (tx) => {
    const { cluster, members } = await lockIdle(tx, request);
    if (cluster.status !== 'ready')
      throw new Fault(
        'server_not_ready',
        `Not all servers of the cluster are up. ${cluster.problem?.message ?? ''}`.trim(),
        {
          hint: 'A server more that is away could cost the majority: bring back those that are, or take them out.',
        },
      );
    const down = downtimeOf(members) ?? (await dataDowntime(tx, ctx, workspaceId, members));
    if (down !== undefined && !acceptDowntime)
      throw new Fault('downtime_unconfirmed', down, {
        hint: 'Send `acceptDowntime` where that is acceptable. With three servers or more, nothing else is down.',
        errors: [
          {
            path: 'acceptDowntime',
            message: 'must be true for a cluster of fewer than three managers, or with data of environments',
          },
        ],
      });
    const inOrder = [...members].sort((one, other) => rankOf(one) - rankOf(other));
    const input = {
      serverIds: inOrder.map(({ serverId }) => serverId),
      names: inOrder.map(({ name }) => name),
      update,
      backWithinMinutes,
    };
    const operationId = await enqueueOnCluster(tx, ctx, request, rebootKind, input);
    const answer = await answerStarted(tx, workspaceId, operationId, saveResponse);
    await publishClusterUpdate(tx, workspaceId, clusterId, 'rebooting');
    return answer;
  });
}

/** Each choice of a new leader is a moment in which nothing can be changed: the leader comes last, so there is one. */
function rankOf({ role, isLeader }: Pick<MemberRow, 'role' | 'isLeader'>): number {
  if (isLeader) return 2;
  return role === 'manager' ? 1 : 0;
}

/** Data is on one server, and nothing stands in for it. */
async function dataDowntime(
  tx: Queryable,
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  members: readonly MemberRow[],
): Promise<string | undefined> {
  const names: string[] = [];
  for (const { serverId } of members) {
    const there = await ctx.environmentsOn(tx, workspaceId, serverId);
    const data = await ctx.dataOn(
      tx,
      workspaceId,
      there.map(({ id }) => id),
      serverId,
    );
    names.push(...there.filter(({ id }) => data.has(id)).map(({ project, name }) => `${project}/${name}`));
  }
  if (names.length === 0) return undefined;
  return `These environments have data on one server, and are down or without it while that reboots: ${names.join(', ')}.`;
}

/** What nobody can prevent, in words; undefined where three managers or more stand in for each other. */
function downtimeOf(members: readonly MemberRow[]): string | undefined {
  const [only] = members;
  if (members.length === 1)
    return `${only?.name} is the only server: everything that runs on the cluster is down while it reboots.`;
  const managers = members.filter(({ role }) => role === 'manager');
  if (managers.length >= 3) return undefined;
  const names = managers.map(({ name }) => name).join(' and ');
  return `While ${names} reboots, the managers have no majority: nothing can be changed, and nothing that fails is replaced.`;
}
