/** Notices a token that was revoked, and one that is accepted again, without anyone asking. */
import { after, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import { sideBySide } from '../../side-by-side.ts';
import { askProvider, type GitProvidersContext, noteProblem, publishProviderEvent } from './git-providers.ts';
import * as queries from './queries.ts';
import { checkEveryMs } from './save-token.ts';

const limit = 200;
const fairness = { atOnce: 20, ofOne: 3, withinMs: minute } as const;

export function checkProvidersSchedule(ctx: GitProvidersContext): Schedule {
  return {
    name: 'check-git-providers',
    cron: '*/5 * * * *',
    timezone: 'UTC',
    run: () => checkDueProviders(ctx),
  };
}

export async function checkDueProviders(ctx: GitProvidersContext): Promise<void> {
  for (;;) {
    const now = ctx.clock.now();
    const due = await queries.takeDueProviders(ctx.db, now, after(now, checkEveryMs), limit);
    await sideBySide(due, fairness, ({ workspaceId, id }) => checkProvider(ctx, workspaceId, id));
    if (due.length < limit) return;
  }
}

export async function checkProvider(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId,
): Promise<void> {
  try {
    await askProvider(ctx, workspaceId, id, (host) => host.account(AbortSignal.timeout(20_000)));
  } catch (error) {
    // Refusals of the token are noted where they happen; anything else is the provider's trouble, not the token's.
    if (!(error instanceof Fault)) throw error;
    if (error.code === 'not_found' || error.code === 'provider_rejected') return;
    return noteProblem(ctx, workspaceId, id, 'unreachable', error);
  }
  await ctx.db.transaction(async (tx) => {
    const connected = { status: 'connected', problem: null } as const;
    const isNews = await queries.setStatus(tx, workspaceId, id, connected, ctx.clock.now());
    if (isNews) await publishProviderEvent(tx, workspaceId, id, 'connected');
  });
}
