/**
 * Probes servers that are due, every minute, on whichever instance comes first. A server whose owner had to install our
 * key is provisioned as soon as it lets us in. Rules for what containers may reach that are missing, because someone
 * flushed them or an older Slipway made the server ready, are put in place.
 */

import { after, minute } from '../../clock.ts';
import { ensureNetworkRules } from '../../engine/single-server/single-server.ts';
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import { hasOperationOn, hasUnfinishedOn } from '../../operations/operations.ts';
import type { Schedule } from '../../operations/queue.ts';
import { sideBySide } from '../../side-by-side.ts';
import { connectTo } from './connection/connect-server.ts';
import { probeServer } from './connection/probe-server.ts';
import * as queries from './queries.ts';
import type { ServersContext } from './servers.ts';
import { enqueueOnServer, provisionKind, removeServerKind } from './start-operation.ts';

const limit = 200;
const fairness = { atOnce: 20, ofOne: 5, withinMs: minute } as const;
const probeTimeoutMs = 40_000;

export function serverCheckSchedule(ctx: ServersContext): Schedule {
  return { name: 'check-servers', cron: '* * * * *', timezone: 'UTC', run: () => checkDueServers(ctx) };
}

export async function checkDueServers(ctx: ServersContext): Promise<void> {
  for (;;) {
    const now = ctx.clock.now();
    const due = await queries.takeDueServers(ctx.db, { now, next: after(now, minute), limit });
    await sideBySide(due, fairness, ({ workspaceId, id }) => checkServer(ctx, workspaceId, id));
    if (due.length < limit) return;
  }
}

async function checkServer(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<void> {
  try {
    const seen = await probeServer(ctx, workspaceId, id, AbortSignal.timeout(probeTimeoutMs));
    await provisionIfNew(ctx, workspaceId, id);
    if (!seen.hasNetworkRules) await putRulesBack(ctx, workspaceId, id);
  } catch (error) {
    // A fault of the server is stored with it; any other error is ours.
    if (!(error instanceof Fault) && !isTimeout(error)) throw error;
    const missed = await queries.countMissed(ctx.db, { workspaceId, id });
    // A server that is gone is probed less and less often, but never given up.
    const pause = Math.min(2 ** missed, 30) * minute;
    await queries.postponeCheck(ctx.db, { workspaceId, id }, after(ctx.clock.now(), pause));
  }
}

async function provisionIfNew(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    if (!(await queries.lockServer(tx, { workspaceId, id }))) return;
    const server = await queries.findServer(tx, { workspaceId, id });
    if (!server || server.provisionedAt || (await hasOperationOn(tx, id, provisionKind))) return;
    const work = { workspaceId, serverId: id, kind: provisionKind, input: { serverId: id } } as const;
    await enqueueOnServer(tx, ctx, work);
  });
}

async function putRulesBack(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<void> {
  const server = await queries.findServer(ctx.db, { workspaceId, id });
  if (!server?.provisionedAt || (await hasUnfinishedOn(ctx.db, id, removeServerKind))) return;
  const { remote } = await connectTo(ctx, workspaceId, id);
  await ensureNetworkRules(remote, { insists: false, signal: AbortSignal.timeout(probeTimeoutMs) });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
