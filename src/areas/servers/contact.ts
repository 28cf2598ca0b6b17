/**
 * First contact and every later look: reaches the server, pins its host key the first time, and writes down what it
 * is. A key that is not the pinned one blocks the server until a person accepts it.
 */
import { errorText, Fault } from '../../fault.ts';
import type { ServerId, WorkspaceId } from '../../ids.ts';
import { readHostKey } from '../../remote/connect.ts';
import { readFacts, type SeenServer } from './facts.ts';
import * as queries from './queries.ts';
import { connectTo, hostKeyChanged, notFound, type ServersContext, tellServer } from './servers.ts';

export async function makeContact(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  signal?: AbortSignal,
): Promise<SeenServer> {
  try {
    await pinAtFirstContact(ctx, workspaceId, id);
    const { remote } = await connectTo(ctx, workspaceId, id);
    const seen = await readFacts(remote, signal);
    await noteSeen(ctx, workspaceId, id, seen);
    return seen;
  } catch (error) {
    if (!signal?.aborted) await noteProblem(ctx, workspaceId, id, error);
    throw error;
  }
}

async function pinAtFirstContact(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<void> {
  const row = await queries.findTarget(ctx.db, workspaceId, id);
  if (!row) throw notFound();
  if (row.hostKey !== null) return;
  const { fingerprint } = await readHostKey({ host: row.host, port: row.port });
  if (!(await queries.pinHostKey(ctx.db, workspaceId, id, fingerprint))) {
    throw hostKeyChanged(null, fingerprint);
  }
}

async function noteSeen(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  { facts }: SeenServer,
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const before = await queries.findServer(tx, workspaceId, id);
    if (!before) return;
    await queries.setSeen(tx, workspaceId, id, facts, now);
    // What fluctuates is no news; what a person would want to know is.
    const status = before.provisionedAt ? 'ready' : 'pending';
    const news =
      before.status !== status ||
      before.facts?.os !== facts.os ||
      before.facts?.dockerVersion !== facts.dockerVersion;
    if (news) await tellServer(tx, workspaceId, id, 'seen');
  });
}

/** Only what concerns the way to the server says something about the server. */
const wayFaults = [
  'remote_unreachable',
  'remote_timeout',
  'name_not_resolved',
  'port_refused',
  'port_filtered',
  'login_refused',
  'sudo_refused',
  'ssh_algorithms_weak',
  'host_key_changed',
];

async function noteProblem(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  id: ServerId,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Fault) || !wayFaults.includes(error.code)) return;
  const problem = { code: error.code, message: errorText(error), hint: error.hint ?? null };
  const offered = error.code === 'host_key_changed' ? offeredIn(error.evidence) : null;
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const before = await queries.findServer(tx, workspaceId, id);
    if (!before) return;
    // A server that was never reached is pending, not lost.
    const status = offered ? 'host_key_changed' : before.provisionedAt ? 'unreachable' : 'pending';
    await queries.setProblem(tx, workspaceId, id, { status, problem, offered }, now);
    if (before.status !== status || before.problem?.code !== problem.code) {
      await tellServer(tx, workspaceId, id, problem.code);
    }
  });
  if (offered) ctx.pool.drop(id);
}

function offeredIn(evidence: string | undefined): string | null {
  return /offered (SHA256:\S+)/.exec(evidence ?? '')?.[1] ?? null;
}
