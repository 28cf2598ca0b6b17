/**
 * Keeps what is known of servers fresh: every minute those that are due are looked at, by whichever instance comes
 * first. A server with a key of ours that its owner had to install is provisioned as soon as it lets us in.
 */

import { after, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import { hasOperationOn } from '../../operations/operations.ts';
import type { Schedule } from '../../operations/queue.ts';
import { probeServer } from './connection/probe-server.ts';
import * as queries from './queries.ts';
import type { ServersContext } from './servers.ts';
import { enqueueOnServer, provisionKind } from './start-operation.ts';

const atOnce = 10;
const lookLimitMs = 40_000;

export function serverCheckSchedule(ctx: ServersContext): Schedule {
  return { name: 'check-servers', cron: '* * * * *', timezone: 'UTC', run: () => checkDueServers(ctx) };
}

export async function checkDueServers(ctx: ServersContext): Promise<void> {
  for (;;) {
    const now = ctx.clock.now();
    const due = await queries.takeDueServers(ctx.db, now, after(now, minute), atOnce);
    await Promise.all(due.map(({ workspaceId, id }) => look(ctx, workspaceId, id)));
    if (due.length < atOnce) return;
  }
}

async function look(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<void> {
  try {
    await probeServer(ctx, workspaceId, id, AbortSignal.timeout(lookLimitMs));
    await provisionIfNew(ctx, workspaceId, id);
  } catch (error) {
    // What is wrong with the server is written down with it; what is wrong with us is not the server's.
    if (!(error instanceof Fault) && !isTimeout(error)) throw error;
    const missed = await queries.countMissed(ctx.db, workspaceId, id);
    // A server that is gone is asked less and less often, but never forgotten.
    const pause = Math.min(2 ** missed, 30) * minute;
    await queries.postponeCheck(ctx.db, workspaceId, id, after(ctx.clock.now(), pause));
  }
}

async function provisionIfNew(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    if (!(await queries.lockServer(tx, workspaceId, id))) return;
    const server = await queries.findServer(tx, workspaceId, id);
    if (!server || server.provisionedAt || (await hasOperationOn(tx, id, provisionKind))) return;
    const work = { workspaceId, serverId: id, kind: provisionKind, input: { serverId: id } } as const;
    await enqueueOnServer(tx, ctx, work);
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
