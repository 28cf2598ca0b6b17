/**
 * For those whom no webhook reaches: looks at the branches of a project now and then, and takes a new commit as a push.
 * One that a webhook reported was decided on already, and is none.
 */
import type { MirrorKey, Mirrors } from '../../adapters/git/mirrors.ts';
import { after } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import { sideBySide } from '../../side-by-side.ts';
import { lockPushed, takeDuePolls } from '../environments/pushed-environments.ts';
import { mirrorKeyOf, sourceOf } from '../projects/projects.ts';
import { readableRepository } from '../projects/read-source.ts';
import { handlePush, type PushesContext } from './pushes.ts';

const limit = 200;
/** A first fetch may take minutes, and so may a host that wants to keep us. */
const fairness = { atOnce: 10, ofOne: 2, withinMs: 5 * 60_000 } as const;

export function pollSchedule(ctx: PushesContext, everySeconds: number): Schedule {
  return {
    name: 'poll-branches',
    cron: '* * * * *',
    timezone: 'UTC',
    run: () => (everySeconds === 0 ? Promise.resolve() : pollDueProjects(ctx, everySeconds)),
  };
}

export async function pollDueProjects(ctx: PushesContext, everySeconds: number): Promise<void> {
  for (;;) {
    const now = ctx.clock.now();
    const due = await takeDuePolls(ctx.db, now, after(now, everySeconds * 1_000), limit);
    await sideBySide(due, fairness, ({ workspaceId, projectId }, signal) =>
      pollProject(ctx, workspaceId, projectId, signal),
    );
    if (due.length < limit) return;
  }
}

async function pollProject(
  ctx: PushesContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  signal: AbortSignal,
): Promise<void> {
  try {
    const repository = await readableRepository(ctx, workspaceId, id);
    const source = await sourceOf(ctx, workspaceId, repository);
    const mirrors = await ctx.mirrors();
    const { branches } = await mirrors.refs(source, signal);
    const environments = await ctx.db.transaction((tx) => lockPushed(tx, workspaceId, id));
    const moved = new Map<string, string | null>();
    for (const { branch, decidedSha, autoDeploy } of environments) {
      const sha = branches.get(branch);
      if (autoDeploy && sha !== undefined && sha !== decidedSha) moved.set(branch, decidedSha);
    }
    for (const [branch, from] of moved) {
      const key = mirrorKeyOf(workspaceId, repository.cloneUrl);
      const { commit } = await mirrors.fetch(key, source, { want: { branch }, signal });
      const changedPaths = await changedBetween(mirrors, key, from, commit.sha, signal);
      const { sha, message } = commit;
      const push = { branch, sha, isDeleted: false, message, changedPaths, isCurrent: 'yes' } as const;
      const polled = { via: 'poll', event: 'push', deliveryId: null } as const;
      await ctx.db.transaction((tx) => handlePush(ctx, tx, workspaceId, id, polled, push));
    }
  } catch (error) {
    // The provider's trouble is shown with its account; the next look comes by itself.
    if (!(error instanceof Fault) && !(error instanceof Error && error.name === 'TimeoutError')) throw error;
  }
}

/** Null where it cannot be known: the commit before may never have been fetched, or is gone from the provider. */
async function changedBetween(
  mirrors: Mirrors,
  key: MirrorKey,
  from: string | null,
  to: string,
  signal: AbortSignal,
) {
  if (from === null) return null;
  return mirrors
    .open(key)
    .changedPaths(from, to, signal)
    .catch((error: unknown) => {
      if (error instanceof Fault && error.code === 'commit_not_found') return null;
      throw error;
    });
}
