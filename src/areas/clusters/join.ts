/**
 * Servers become members: the first of a cluster makes the swarm, the others join it. Everything is looked at and tried before
 * anything is changed, and what fails takes every new member out again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { minute } from '../../clock.ts';
import { ensureJoined, ensureSwarm, hasLiveRestore, leave, readMember } from '../../engine/swarm/member.ts';
import { ensureMemberRules, removeMemberRules } from '../../engine/swarm/member-rules.ts';
import {
  demoteNode,
  demoteSurplus,
  forgetNode,
  labelNode,
  noQuorum,
  promoteMissing,
  waitUntilUp,
} from '../../engine/swarm/nodes.ts';
import { type Closed, findClosed, type ReachMember } from '../../engine/swarm/reach.ts';
import { Fault } from '../../fault.ts';
import type { ServerId } from '../../ids.ts';
import {
  defineOperation,
  type Json,
  type OperationKind,
  type StepContext,
} from '../../operations/definition.ts';
import { setLiveRestore } from '../servers/docker-settings.ts';
import { addressesOf, lookAtServer, requireAlike, requireFree } from './check-members.ts';
import { type ClustersContext, clusterNotFound, joinKind, publishClusterUpdate } from './clusters.ts';
import { isLostIn, recordLook } from './look.ts';
import { ifReachable, managerOf, memberOf, memberRetry, putRulesBack, viewOfManagers } from './members.ts';
import * as queries from './queries.ts';
import { type ClusterInput, readClusterInput } from './start-operation.ts';

/** What the check has found of those that answer; every later step reads only this. */
interface PlannedMember {
  readonly serverId: ServerId;
  readonly name: string;
  readonly address: string;
  readonly isNew: boolean;
  /** Docker has the ports of Swarm there: so also where a broken-off attempt has left a new one. */
  readonly isInSwarm: boolean;
  readonly isManager: boolean;
  readonly canEncrypt: boolean;
  readonly hadLiveRestore: boolean;
}

export function joinOperation(ctx: ClustersContext): OperationKind {
  return defineOperation<ClusterInput>({
    kind: joinKind,
    readInput: readClusterInput,
    onStateChange: async (tx, { workspaceId, input }, change) => {
      if (change.state !== 'failed' && change.state !== 'cancelled') return;
      const key = { workspaceId, id: input.clusterId };
      await queries.deleteMembers(tx, key, input.serverIds);
      const left = await queries.listMembers(tx, workspaceId, [input.clusterId]);
      const problem = change.fault;
      if (left.length === 0) await queries.setStatus(tx, key, { status: 'failed', problem }, ctx.clock.now());
      await publishClusterUpdate(tx, workspaceId, input.clusterId, 'not_joined');
    },
    steps: [
      {
        name: 'check',
        deadlineMs: 5 * minute,
        retry: memberRetry,
        undo: { none: 'Looking changes nothing.' },
        run: (input, context) => check(ctx, input, context),
      },
      {
        name: 'firewall',
        deadlineMs: 5 * minute,
        retry: memberRetry,
        run: async (input, context) => {
          await putRules(ctx, input, context, plannedIn(context));
          return undefined;
        },
        undo: async (input, context) => {
          for (const { serverId, isNew } of plannedIn(context)) {
            if (!isNew) continue;
            const { remote, signal } = await memberOf(ctx, context, serverId);
            await removeMemberRules(remote, signal);
          }
          await putRules(ctx, input, context, []);
        },
      },
      {
        name: 'ports',
        deadlineMs: 3 * minute,
        retry: memberRetry,
        undo: { none: 'Nothing is left of the try.' },
        run: async (_input, context) => {
          const members = plannedIn(context).map(async (each) => ({
            ...each,
            isNew: each.isNew && !each.isInSwarm,
            remote: (await memberOf(ctx, context, each.serverId)).remote,
          }));
          await requireOpen(await Promise.all(members), context.signal);
          return undefined;
        },
      },
      {
        name: 'docker',
        deadlineMs: 5 * minute,
        retry: memberRetry,
        run: async (_input, context) => {
          await setLiveRestores(ctx, context, () => false);
          return undefined;
        },
        undo: (_input, context) => setLiveRestores(ctx, context, ({ hadLiveRestore }) => hadLiveRestore),
      },
      {
        name: 'swarm',
        deadlineMs: 10 * minute,
        retry: memberRetry,
        run: (input, context) => joinAll(ctx, input, context),
        undo: (input, context) => leaveAgain(ctx, input, context),
      },
      {
        name: 'managers',
        deadlineMs: 5 * minute,
        retry: memberRetry,
        undo: { none: 'Who leaves again is replaced as a manager on its way out.' },
        run: async ({ clusterId }, context) => {
          const rows = await queries.listMembers(ctx.db, context.workspaceId, [clusterId]);
          const manager = await managerOf(ctx, context, withNodes(rows, context));
          const rule = { isLost: isLostIn(rows, ctx.clock.now()), leaving: [], log: context.log };
          await promoteMissing(manager, rule);
          await demoteSurplus(manager, rule);
          return undefined;
        },
      },
      {
        name: 'ready',
        deadlineMs: 2 * minute,
        retry: memberRetry,
        undo: { none: 'The next look at the cluster says what it is.' },
        run: async ({ clusterId }, context) => {
          const key = { workspaceId: context.workspaceId, id: clusterId };
          const nodeIds = nodeIdsIn(context);
          await ctx.db.transaction(async (tx) => {
            for (const each of plannedIn(context))
              if (each.isNew)
                await queries.setJoined(tx, key, { ...each, nodeId: nodeIds.get(each.serverId) ?? '' });
            await publishClusterUpdate(tx, context.workspaceId, clusterId, 'joined');
          });
          // One that was away at the beginning may be back.
          const rows = await queries.listMembers(ctx.db, context.workspaceId, [clusterId]);
          await putRulesBack(ctx, context.workspaceId, { rows, asked: rows }, context.signal);
          await recordLook(ctx, key, context.signal);
          return undefined;
        },
      },
    ],
  });
}

async function check(ctx: ClustersContext, input: ClusterInput, context: StepContext): Promise<Json> {
  const { workspaceId } = context;
  const cluster = await queries.findCluster(ctx.db, { workspaceId, id: input.clusterId });
  if (!cluster) throw clusterNotFound();
  const rows = await queries.listMembers(ctx.db, workspaceId, [input.clusterId]);
  const isNew = (serverId: ServerId) => input.serverIds.includes(serverId);
  const looks = rows.map(async ({ serverId, name }) => {
    const about = { serverId, name, isNew: isNew(serverId) };
    const look = memberOf(ctx, context, serverId).then((member) => lookAtServer(member, about));
    // One that is away gets the rules of the new ones when it is back.
    return about.isNew ? look : ifReachable(look);
  });
  const servers = (await Promise.all(looks)).filter((each) => each !== undefined);
  for (const { serverId, name } of servers.filter((each) => each.isNew)) {
    const users = await ctx.environmentsOn(ctx.db, workspaceId, serverId);
    if (users.length > 0) throw hasEnvironments(name);
  }
  const former = rows.filter(({ serverId }) => !isNew(serverId));
  const view = await viewOfManagers(ctx, workspaceId, former, context.signal);
  // Who joins needs one that lets it in. One that came back only after it was looked at above would not: it gets no rules here.
  const hasManager = servers.some((each) => each.isManager && !each.isNew);
  if (former.length > 0 && !(view.nodes && hasManager)) throw noQuorum();
  for (const each of servers) await requireFree(each, input.clusterId, view.nodes);
  requireAlike(servers);
  const addresses = addressesOf(servers, cluster.network, former);
  const plan = servers.map((each) => ({
    serverId: each.serverId,
    name: each.name,
    address: addresses.get(each.serverId) ?? '',
    isNew: each.isNew,
    isInSwarm: each.state !== 'inactive',
    isManager: each.isManager,
    canEncrypt: each.canEncrypt,
    hadLiveRestore: each.hasLiveRestore,
  }));
  for (const { name, address } of plan) context.log(`${name}: ${address}`);
  return plan;
}

export function hasEnvironments(name: string): Fault {
  return new Fault('in_use', `Environments are on ${name}.`, {
    hint: 'Move them to a server outside of clusters, or delete them, before it joins one.',
  });
}

function plannedIn({ outputs }: Pick<StepContext, 'outputs'>): PlannedMember[] {
  const plan = outputs.get('check');
  if (!Array.isArray(plan)) throw new Error('nothing was checked');
  return plan.map((each) => ({
    serverId: String(each.serverId) as ServerId,
    name: String(each.name),
    address: String(each.address),
    isNew: each.isNew === true,
    isInSwarm: each.isInSwarm === true,
    isManager: each.isManager === true,
    canEncrypt: each.canEncrypt === true,
    hadLiveRestore: each.hadLiveRestore === true,
  }));
}

function nodeIdsIn({ outputs }: Pick<StepContext, 'outputs'>): Map<ServerId, string> {
  const pairs = Object.entries(Object(outputs.get('swarm')));
  return new Map(pairs.map(([serverId, nodeId]) => [serverId as ServerId, String(nodeId)]));
}

/** New members have a node, but no row says so yet. */
function withNodes(rows: readonly queries.MemberRow[], context: StepContext): queries.MemberRow[] {
  const nodeIds = nodeIdsIn(context);
  return rows.map((row) => ({ ...row, nodeId: row.nodeId ?? nodeIds.get(row.serverId) ?? null }));
}

/** On all that answer; who is away has an address too, and gets the rules when it is back. */
async function putRules(
  ctx: ClustersContext,
  { clusterId }: ClusterInput,
  context: StepContext,
  joining: readonly PlannedMember[],
): Promise<void> {
  const rows = await queries.listMembers(ctx.db, context.workspaceId, [clusterId]);
  const known = rows.flatMap(({ address }) => address ?? []);
  const addresses = new Set([...known, ...joining.map(({ address }) => address)]);
  const on = plannedIn(context).filter((each) => !each.isNew || joining.length > 0);
  await Promise.all(
    on.map(async ({ serverId }) => {
      const { remote, signal } = await memberOf(ctx, context, serverId);
      await remote.fence(context.operationId, context.epoch);
      await ensureMemberRules(remote, [...addresses], signal);
    }),
  );
}

async function setLiveRestores(
  ctx: ClustersContext,
  context: StepContext,
  wanted: (member: PlannedMember) => boolean,
): Promise<void> {
  for (const each of plannedIn(context).filter(({ isNew }) => isNew)) {
    const member = await memberOf(ctx, context, each.serverId);
    await member.remote.fence(context.operationId, context.epoch);
    await setLiveRestore(member.remote, wanted(each), () => hasLiveRestore(member));
  }
}

async function joinAll(
  ctx: ClustersContext,
  { clusterId }: ClusterInput,
  context: StepContext,
): Promise<Json> {
  const plan = plannedIn(context);
  const rows = await queries.listMembers(ctx.db, context.workspaceId, [clusterId]);
  const former = rows.filter(({ nodeId }) => nodeId !== null);
  const fresh = plan.filter(({ isNew }) => isNew);
  const [first] = fresh;
  if (!first) throw new Error('nobody joins');
  const nodeIds: Record<string, string> = {};
  const isFirst = former.length === 0;
  const manager = isFirst
    ? await memberOf(ctx, context, first.serverId)
    : await managerOf(ctx, context, former);
  const managerAddresses = isFirst
    ? [first.address]
    : plan.filter((each) => each.isManager && !each.isNew).map(({ address }) => address);
  if (isFirst) nodeIds[first.serverId] = await ensureSwarm(manager, first.address, clusterId);
  for (const each of isFirst ? fresh.slice(1) : fresh) {
    const member = await memberOf(ctx, context, each.serverId);
    nodeIds[each.serverId] = await ensureJoined(member, each.address, manager, managerAddresses);
    context.log(`${each.name} has joined`);
  }
  for (const [serverId, nodeId] of Object.entries(nodeIds)) {
    await waitUntilUp(manager, nodeId);
    await labelNode(manager, nodeId, { 'slipway.cluster': clusterId, 'slipway.server': serverId });
  }
  return nodeIds;
}

/** By what each server says of itself: a step that was broken off has noted nothing. */
async function leaveAgain(
  ctx: ClustersContext,
  { clusterId }: ClusterInput,
  context: StepContext,
): Promise<void> {
  const rows = await queries.listMembers(ctx.db, context.workspaceId, [clusterId]);
  const former = rows.filter(({ nodeId }) => nodeId !== null);
  const manager = former.length > 0 ? await managerOf(ctx, context, former) : undefined;
  for (const { serverId, isNew } of plannedIn(context)) {
    if (!isNew) continue;
    const member = await memberOf(ctx, context, serverId);
    const { nodeId } = await readMember(member);
    if (manager && nodeId !== '') await demoteNode(manager, nodeId, context.log);
    await leave(member);
    if (manager && nodeId !== '') await forgetNode(manager, nodeId);
  }
}

/** Asked again before it is told: the link may have been down for a moment, or a Docker have been started again. */
async function requireOpen(members: readonly ReachMember[], signal: AbortSignal): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    const closed = await findClosed(members, signal);
    if (closed.length === 0) return;
    if (looks === 3) throw portsClosed(closed);
    await sleep(5_000, undefined, { signal });
  }
}

function portsClosed(closed: readonly Closed[]): Fault {
  const [first] = closed;
  const isRouteless = closed.some(({ ports }) => ports.some((each) => /no route|unreachable/i.test(each)));
  const sentence = isRouteless
    ? `There is no route from ${first?.from} to ${first?.to} (${first?.address}).`
    : `${first?.from} does not reach ${first?.to} (${first?.address}) on ${first?.ports.join(', ')}.`;
  return new Fault('cluster_ports_closed', sentence, {
    hint: 'Between members, 2377 and 7946 (TCP), 7946 and 4789 (UDP) have to be open, in the firewall of the provider too. A server that an older Slipway has hardened has to be hardened again; ufw has to allow the addresses of the members.',
    evidence: closed
      .map(({ from, to, address, ports }) => `${from} → ${to} (${address}): ${ports.join(', ')}`)
      .join('\n'),
  });
}
