/** The servers of a cluster in hand: connected, with those that do not answer left out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { second } from '../../clock.ts';
import type { SwarmMember } from '../../engine/swarm/member.ts';
import { ensureMemberRules } from '../../engine/swarm/member-rules.ts';
import { nodesSeenBy, noQuorum, type SwarmNode } from '../../engine/swarm/nodes.ts';
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import type { Retry, StepContext } from '../../operations/definition.ts';
import { connectTo } from '../servers/connection/connect-server.ts';
import { isPlaceUnavailable, isServerUnavailable } from '../servers/connection/server-retry.ts';
import type { ClustersContext } from './clusters.ts';
import type { MemberRow } from './queries.ts';

export type Work = Pick<StepContext, 'workspaceId' | 'operationId' | 'epoch' | 'signal'>;

export async function memberOf(ctx: ClustersContext, work: Work, serverId: ServerId): Promise<SwarmMember> {
  const { remote } = await connectTo(ctx, work.workspaceId, serverId);
  const fence = { scope: work.operationId, epoch: work.epoch };
  return { remote, fence, signal: work.signal };
}

/** For a look, which no operation does. */
async function lookingAt(
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  signal: AbortSignal,
) {
  const { remote } = await connectTo(ctx, workspaceId, serverId);
  return { remote, signal };
}

/** What one that does not answer would have said is undefined; any other failure is one. */
export async function ifReachable<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isServerUnavailable(error) || (error instanceof Fault && error.code === 'host_key_changed'))
      return undefined;
    throw error;
  }
}

/** One that is silent must not take the time of the others: what it would have said is undefined too. */
export async function inItsTime<T>(
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const late = AbortSignal.timeout(askedMs);
  try {
    return await ifReachable(ask(AbortSignal.any([signal, late])));
  } catch (error) {
    if (late.aborted && !signal.aborted) return undefined;
    throw error;
  }
}

/** Of members that were away while others joined or left, or whose rules somebody has flushed. Who is away is left out. */
export async function putRulesBack(
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  { rows, asked }: { readonly rows: readonly MemberRow[]; readonly asked: readonly MemberRow[] },
  signal: AbortSignal,
): Promise<void> {
  const addresses = rows.flatMap(({ address }) => address ?? []);
  await Promise.all(
    asked.map(({ serverId }) =>
      inItsTime(signal, async (inTime) => {
        const { remote } = await lookingAt(ctx, workspaceId, serverId, inTime);
        await ensureMemberRules(remote, addresses, inTime);
      }),
    ),
  );
}

/** Of one member; a look has time for three of these, one after the other. */
const askedMs = 18 * second;
/** The leader first, then the others side by side. */
export const longestViewMs = 2 * askedMs;

export interface ManagersView {
  /** Null where no manager with a majority was found. */
  readonly nodes: readonly SwarmNode[] | null;
  /** The server that said so. */
  readonly serverId: ServerId | null;
  /** Managers that answered, with a majority or without. */
  readonly answering: readonly ServerId[];
}

/** Managers are asked one after the other, the leader first, until one knows of all. */
export async function viewOfManagers(
  ctx: ClustersContext,
  workspaceId: WorkspaceId,
  members: readonly MemberRow[],
  signal: AbortSignal,
): Promise<ManagersView> {
  const managers = members
    .filter(({ role, nodeId }) => role !== 'worker' && nodeId !== null)
    .sort((a, b) => Number(b.isLeader) - Number(a.isLeader));
  const ask = ({ serverId }: MemberRow) =>
    inItsTime(signal, async (inTime) => {
      const member = await lookingAt(ctx, workspaceId, serverId, inTime);
      return { serverId, nodes: await nodesSeenBy(member) };
    });
  const [leader, ...others] = managers;
  const first = leader && (await ask(leader));
  const seen = first?.nodes ? [first] : [first, ...(await Promise.all(others.map(ask)))];
  const answered = seen.flatMap((each) => each ?? []);
  const answering = answered.map(({ serverId }) => serverId);
  for (const { serverId, nodes } of answered) if (nodes) return { nodes, serverId, answering };
  return { nodes: null, serverId: null, answering };
}

/** A manager with a majority behind it, other than those that are named. A leader may be chosen anew at this moment. */
export async function managerOf(
  ctx: ClustersContext,
  work: Work,
  members: readonly MemberRow[],
  without: readonly ServerId[] = [],
): Promise<SwarmMember> {
  const others = members.filter(({ serverId }) => !without.includes(serverId));
  for (let tries = 0; tries < 20; tries += 1) {
    const { serverId } = await viewOfManagers(ctx, work.workspaceId, others, work.signal);
    if (serverId !== null) return memberOf(ctx, work, serverId);
    await sleep(1_000, undefined, { signal: work.signal });
  }
  throw noQuorum();
}

/** Less than a minute: one that stays away is for the caller to decide about. */
export const memberRetry: Retry = { attempts: 12, firstMs: 500, maxMs: 5_000, when: isPlaceUnavailable };
