/** The security state of a server as it is kept: looked at on a schedule, on request, and after hardening. */
import { after, hour } from '../../clock.ts';
import { raiseNotice } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import { tcpCheck } from '../../remote/ssh/tcp.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';
import type { PortState } from './security/facts.ts';
import { connectTo, notFound, publishServerUpdate, type ServersContext } from './servers.ts';

export async function readSecurity(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  refresh: boolean,
) {
  if (refresh) await lookAtSecurity(ctx, workspaceId, id);
  const row = await queries.findSecurity(ctx.db, workspaceId, id);
  if (!row) throw notFound();
  const { state, score, checks, checkedAt } = row;
  return {
    state: state ?? ('unknown' as const),
    score,
    checkedAt: checkedAt?.toISOString() ?? null,
    checks: checks ?? [],
  };
}

export async function lookAtSecurity(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<void> {
  const { remote, host, port, username } = await connectTo(ctx, workspaceId, id);
  const now = ctx.clock.now();
  // Some forty files, and no start has a use for them.
  const { checkSecurity } = await import('./security/security.ts');
  const report = await checkSecurity(remote, { host, port, username, now: new Date(), connect: tryPort });
  await ctx.db.transaction(async (tx) => {
    const before = await queries.findSecurity(tx, workspaceId, id);
    if (!before) throw notFound();
    await queries.setSecurity(tx, workspaceId, id, report, now);
    await noticeIfWorse(tx, workspaceId, id, before, report, now);
    const told = (checks: readonly { id: string; status: string }[]) =>
      checks.map((each) => `${each.id}:${each.status}`).join();
    if (told(before.checks ?? []) !== told(report.checks))
      await publishServerUpdate(tx, workspaceId, id, 'security');
  });
}

const rank: Readonly<Record<string, number>> = { at_risk: 0, fair: 1, hardened: 2 };

/** A state below the one before. Within one, checks come and go without anyone having to hear of it. */
async function noticeIfWorse(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ServerId,
  before: { readonly state: string | null },
  report: {
    readonly state: string;
    readonly checks: readonly { readonly title: string; readonly status: string }[];
  },
  now: Date,
): Promise<void> {
  const [was, is] = [rank[before.state ?? ''], rank[report.state]];
  if (was === undefined || is === undefined || is >= was) return;
  const server = await queries.findServer(tx, workspaceId, id);
  const failed = report.checks.filter(({ status }) => status === 'fail').map(({ title }) => title);
  await raiseNotice(tx, {
    workspaceId,
    kind: 'server_security_worse',
    key: `server_security_worse:${id}:${now.toISOString()}`,
    subject: { type: 'server', id },
    data: {
      serverName: server?.name,
      host: server?.host,
      was: before.state,
      now: report.state,
      reason: `It was ${before.state}, and is ${report.state} now.`,
      evidence: failed.join('\n'),
    },
  });
}

/** Twice a day each, a few at a time, by whichever instance the schedule finds. */
export function securitySchedule(ctx: ServersContext): Schedule {
  return {
    name: 'check-security',
    cron: '7,37 * * * *',
    timezone: 'UTC',
    run: async () => {
      const old = after(ctx.clock.now(), -12 * hour);
      for (const { workspaceId, id } of await queries.listSecurityDue(ctx.db, old, 20)) {
        await lookAtSecurity(ctx, workspaceId, id).catch((error: unknown) => {
          // A server that cannot be reached is told by the light check; its last state stays, with its date.
          if (!(error instanceof Fault)) throw error;
        });
      }
    },
  };
}

/** From here, as anyone outside would try it. */
function tryPort(host: string, port: number, timeoutMs: number): Promise<PortState> {
  return tcpCheck({ host, port }, timeoutMs).then(
    () => 'open',
    (error: unknown) => {
      if (!(error instanceof Fault)) throw error;
      return error.code === 'port_refused' ? 'closed' : 'filtered';
    },
  );
}
