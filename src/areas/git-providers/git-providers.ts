/**
 * The Git accounts that users connect. Owns each account's token, what the provider says of it, and the way to ask the
 * provider; refuses to give a token to anyone but the provider it belongs to, and never shows one.
 */
import type { Egress } from '../../adapters/egress/egress.ts';
import { type GitHost, type GitHostAccess, openGitHost } from '../../adapters/git-hosts/git-hosts.ts';
import type { Clock } from '../../clock.ts';
import type { GitProviderUpdate, WorkspaceEvent } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { raiseNotice } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import type { GitProviderId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import * as queries from './queries.ts';
import type { RepositoryCache } from './repository-cache.ts';

export interface GitProvidersContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly egress: Egress;
  readonly cache: RepositoryCache;
  /** What is read with an account keeps it from being disconnected; those who read know. */
  readonly projectsUsing: ProjectsUsing;
}

export type ProjectsUsing = (
  tx: Queryable,
  workspaceId: WorkspaceId,
  providerId: GitProviderId,
) => Promise<{ readonly id: ProjectId; readonly name: string }[]>;

export function providerNotFound(): Fault {
  return new Fault('not_found', 'No such Git account.');
}

export function tokenPlace(workspaceId: WorkspaceId, id: GitProviderId) {
  return { workspaceId, table: 'git_providers', row: id, column: 'token_sealed' } as const;
}

/** In the transaction that changed it, last. */
export function publishProviderEvent(
  tx: Queryable,
  workspaceId: WorkspaceId,
  providerId: GitProviderId,
  reason: GitProviderUpdate['reason'],
) {
  const data = { providerId, reason };
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'git_provider_updated', data },
  ]);
}

/** What it takes to speak as this account: to its API, or to its repositories with git. */
export async function accessTo(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId,
): Promise<GitHostAccess> {
  const row = await queries.findAccess(ctx.db, workspaceId, id);
  if (!row) throw providerNotFound();
  const token = await ctx.sealer.open(ctx.db, tokenPlace(workspaceId, id), row.tokenSealed);
  const { kind, baseUrl, username } = row;
  return { kind, baseUrl, token, ...(username !== null && { username }) };
}

/** Asks the provider. A refusal of the token is noted with the account, whoever was asking. */
export async function askProvider<T>(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId,
  ask: (host: GitHost) => Promise<T>,
): Promise<T> {
  const access = await accessTo(ctx, workspaceId, id);
  try {
    return await ask(await openGitHost(access, ctx.egress.fetch));
  } catch (error) {
    if (error instanceof Fault && error.code === 'provider_rejected')
      await noteProblem(ctx, workspaceId, id, 'rejected', error);
    throw error;
  }
}

/** Told once: an account that is known to be refused is not news. */
export async function noteProblem(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId,
  status: Exclude<queries.ProviderStatus, 'connected'>,
  fault: Fault,
): Promise<void> {
  const problem = { code: fault.code, message: fault.message, hint: fault.hint ?? null };
  await ctx.db.transaction(async (tx) => {
    const isNews = await queries.setStatus(tx, workspaceId, id, { status, problem }, ctx.clock.now());
    if (isNews && status === 'rejected') await noticeRevoked(tx, workspaceId, id, fault, ctx.clock.now());
    if (isNews) await publishProviderEvent(tx, workspaceId, id, status);
  });
}

async function noticeRevoked(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: GitProviderId,
  { code, message, hint }: Fault,
  now: Date,
): Promise<void> {
  const provider = await queries.findProvider(tx, workspaceId, id);
  await raiseNotice(tx, {
    workspaceId,
    kind: 'token_revoked',
    key: `token_revoked:${id}:${now.toISOString()}`,
    subject: { type: 'git_provider', id },
    data: { provider: provider?.kind, label: provider?.label, fault: { code, message, hint: hint ?? null } },
  });
}
