/** Disconnects an account. What still uses it is named, unless the caller insists; then it stays, without an account. */
import { Fault } from '../../fault.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import { type GitProvidersContext, providerNotFound, publishProviderEvent } from './git-providers.ts';
import * as queries from './queries.ts';

/** Of those that use it. */
const shown = 100;

export async function disconnectProvider(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId,
  force: boolean,
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await ctx.projectsUsing(tx, workspaceId, id);
    if (!(await queries.lockProvider(tx, workspaceId, id))) throw providerNotFound();
    // From here on none comes to use it; one may have come in between.
    const users = await ctx.projectsUsing(tx, workspaceId, id);
    if (users.length > 0 && !force) {
      throw new Fault('in_use', 'Projects are read with this account.', {
        hint: 'Delete them first, or disconnect all the same with `force=true`: they keep running, but cannot be deployed again.',
        errors: users.slice(0, shown).map((each) => ({ path: `projects/${each.id}`, message: each.name })),
      });
    }
    await queries.deleteProvider(tx, workspaceId, id);
    await publishProviderEvent(tx, workspaceId, id, 'disconnected');
  });
  ctx.cache.forget(id);
}
