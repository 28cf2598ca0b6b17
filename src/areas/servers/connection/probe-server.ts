/**
 * Probes a server: connects, pins its host key the first time (trust on first use), and stores what it is. A key that is
 * not the pinned one blocks the server until a person accepts it.
 */
import type { NoticeKind } from '../../../events/notices.ts';
import { errorText, Fault } from '../../../fault.ts';
import type { ServerId, WorkspaceId } from '../../../ids.ts';
import { readHostKey } from '../../../remote/ssh/connect.ts';
import * as queries from '../queries.ts';
import {
  publishServerUpdate,
  raiseServerNotice,
  type ServerStatus,
  type ServersContext,
  serverNotFound,
} from '../servers.ts';
import { connectTo, hostKeyChanged, serverTaken } from './connect-server.ts';
import { type ProbedServer, readFacts } from './server-facts.ts';

export async function probeServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  signal?: AbortSignal,
): Promise<ProbedServer> {
  try {
    await pinOnFirstUse(ctx, { workspaceId, id });
    const { remote } = await connectTo(ctx, workspaceId, id);
    const seen = await readFacts(remote, signal);
    await recordSeen(ctx, { workspaceId, id }, seen);
    return seen;
  } catch (error) {
    if (!signal?.aborted) await recordProblem(ctx, { workspaceId, id }, error);
    throw error;
  }
}

async function pinOnFirstUse(ctx: ServersContext, server: queries.ServerKey): Promise<void> {
  const row = await queries.findTarget(ctx.db, server);
  if (!row) throw serverNotFound();
  if (row.hostKey !== null) return;
  const { fingerprint } = await readHostKey({ host: row.host, port: row.port, resolve: ctx.resolveHost });
  if (!(await queries.pinHostKey(ctx.db, server, fingerprint))) {
    throw hostKeyChanged(null, fingerprint);
  }
}

async function recordSeen(
  ctx: ServersContext,
  server: queries.ServerKey,
  { facts }: ProbedServer,
): Promise<void> {
  const { workspaceId, id } = server;
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const before = await queries.findServer(tx, server);
    if (!before) return;
    if (!(await queries.holdMachine(tx, server))) throw serverTaken();
    await queries.setServerSeen(tx, server, { facts, isProvisioned: false }, now);
    // Only what a person would want to know is published, not what fluctuates.
    const status = before.provisionedAt ? 'ready' : 'pending';
    const isNews =
      before.status !== status ||
      before.facts?.os !== facts.os ||
      before.facts?.dockerVersion !== facts.dockerVersion;
    const wasUnavailable = before.status === 'unreachable' || before.status === 'host_key_changed';
    if (wasUnavailable && status === 'ready')
      await raiseServerNotice(tx, workspaceId, before, { kind: 'server_back', now });
    if (isNews) await publishServerUpdate(tx, workspaceId, id, 'seen');
  });
}

/** Only faults of the connection say something about the server. */
const connectionFaults = [
  'egress_refused',
  'remote_unreachable',
  'remote_timeout',
  'name_not_resolved',
  'port_refused',
  'port_filtered',
  'login_refused',
  'sudo_refused',
  'ssh_algorithms_weak',
  'host_key_changed',
  'server_taken',
];

async function recordProblem(ctx: ServersContext, server: queries.ServerKey, error: unknown): Promise<void> {
  const { workspaceId, id } = server;
  if (!(error instanceof Fault) || !connectionFaults.includes(error.code)) return;
  const problem = { code: error.code, message: errorText(error), hint: error.hint ?? null };
  const offered = error.code === 'host_key_changed' ? offeredIn(error.evidence) : null;
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const before = await queries.findServer(tx, server);
    if (!before) return;
    // A server that was never reached is pending, not unreachable.
    const status = offered ? 'host_key_changed' : before.provisionedAt ? 'unreachable' : 'pending';
    await queries.setProblem(tx, server, { status, problem, offered }, now);
    const kind = noticeKinds[status];
    if (kind && before.status !== status)
      await raiseServerNotice(tx, workspaceId, before, {
        kind,
        now,
        data: { fault: { ...problem, evidence: error.evidence ?? null } },
      });
    if (before.status !== status || before.problem?.code !== problem.code) {
      await publishServerUpdate(tx, workspaceId, id, problem.code);
    }
  });
  if (offered) ctx.pool.drop(id);
}

const noticeKinds: Partial<Record<ServerStatus, NoticeKind>> = {
  unreachable: 'server_unreachable',
  host_key_changed: 'server_host_key_changed',
};

function offeredIn(evidence: string | undefined): string | null {
  return /offered (SHA256:\S+)/.exec(evidence ?? '')?.[1] ?? null;
}
