/** The stored security state of a server: checked on a schedule, on request, and after hardening. */
import { after, hour } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import { type Endpoint, tcpCheck } from '../../remote/ssh/tcp.ts';
import type { Queryable } from '../../store/database.ts';
import { connectTo } from './connection/connect-server.ts';
import * as queries from './queries.ts';
import type { PortState } from './security/facts.ts';
import type { SecurityContext } from './security/rule.ts';
import type { SecurityReport } from './security/security.ts';
import { publishServerUpdate, raiseServerNotice, type ServersContext, serverNotFound } from './servers.ts';

export async function readSecurity(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  refresh: boolean,
) {
  if (refresh) await refreshSecurity(ctx, workspaceId, id);
  const row = await queries.findSecurity(ctx.db, { workspaceId, id });
  if (!row) throw serverNotFound();
  const { state, score, checks, checkedAt } = row;
  return {
    state: state ?? ('unknown' as const),
    score,
    checkedAt: checkedAt?.toISOString() ?? null,
    checks: checks ?? [],
  };
}

export async function refreshSecurity(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
): Promise<void> {
  const { remote, host, port, username } = await connectTo(ctx, workspaceId, id);
  const now = ctx.clock.now();
  // Loaded when first used: no start of the service needs it.
  const { checkSecurity } = await import('./security/security.ts');
  const connect: SecurityContext['connect'] = (address, at, timeoutMs) =>
    tryPort({ host: address, port: at, resolve: ctx.resolveHost }, timeoutMs);
  const report = await checkSecurity(remote, { host, port, username, now: new Date(), connect });
  await ctx.db.transaction(async (tx) => {
    const before = await queries.findSecurity(tx, { workspaceId, id });
    if (!before) throw serverNotFound();
    await queries.setSecurity(tx, { workspaceId, id }, report, now);
    await noticeIfWorse(tx, { workspaceId, id }, before, report, now);
    const statusesOf = (checks: readonly { id: string; status: string }[]) =>
      checks.map((each) => `${each.id}:${each.status}`).join();
    if (statusesOf(before.checks ?? []) !== statusesOf(report.checks))
      await publishServerUpdate(tx, workspaceId, id, 'security');
  });
}

const rank: Readonly<Record<string, number>> = { at_risk: 0, fair: 1, hardened: 2 };

/** A state below the one before. Changes within one state are not worth a notice. */
async function noticeIfWorse(
  tx: Queryable,
  { workspaceId, id }: queries.ServerKey,
  before: queries.SecurityRow,
  report: SecurityReport,
  now: Date,
): Promise<void> {
  const [was, is] = [rank[before.state ?? ''], rank[report.state]];
  if (was === undefined || is === undefined || is >= was) return;
  const failed = report.checks.filter(({ status }) => status === 'fail').map(({ title }) => title);
  const data = {
    was: before.state,
    now: report.state,
    reason: `It was ${before.state}, and is ${report.state} now.`,
    evidence: failed.join('\n'),
  };
  await raiseServerNotice(tx, workspaceId, { ...before, id }, { kind: 'server_security_worse', now, data });
}

/** Twice a day each, a few at a time, on one instance. */
export function securitySchedule(ctx: ServersContext): Schedule {
  return {
    name: 'check-security',
    cron: '7,37 * * * *',
    timezone: 'UTC',
    run: async () => {
      const old = after(ctx.clock.now(), -12 * hour);
      for (const { workspaceId, id } of await queries.listSecurityDue(ctx.db, old, 20)) {
        await refreshSecurity(ctx, workspaceId, id).catch((error: unknown) => {
          // The check of servers reports an unreachable one; its last state stays, with its date.
          if (!(error instanceof Fault)) throw error;
        });
      }
    },
  };
}

/** From here, as anyone outside would try it. */
function tryPort(endpoint: Endpoint, timeoutMs: number): Promise<PortState> {
  return tcpCheck(endpoint, timeoutMs).then(
    () => 'open',
    (error: unknown) => {
      if (!(error instanceof Fault)) throw error;
      return error.code === 'port_refused' ? 'closed' : 'filtered';
    },
  );
}
