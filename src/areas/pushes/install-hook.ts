/**
 * The hook of a project: at the provider, where the account's token may make one; else its address and secret are the
 * user's to paste in. Asked again, it gets a new secret and stays at the same address.
 */
import { randomUUID } from 'node:crypto';
import { Fault } from '../../fault.ts';
import type { HookId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { shownFault } from '../../wire.ts';
import { askProvider } from '../git-providers/git-providers.ts';
import type { ProjectHook } from '../projects/hooks.ts';
import type { RepositoryKind } from '../projects/projects.ts';
import { lockSource, readSource } from '../projects/read-source.ts';
import { newSecret, type PushesContext, secretPlace } from './pushes.ts';
import * as queries from './queries.ts';

export async function installHook(
  ctx: PushesContext,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  saveResponse: SaveResponse,
) {
  const secret = newSecret();
  const source = await readSource(ctx.db, workspaceId, projectId);
  const id = await ctx.db.transaction(async (tx) => {
    await lockSource(tx, workspaceId, projectId);
    const known = await queries.findProjectHook(tx, workspaceId, projectId);
    // Random in all its bits: the address of a hook must not tell when it was made.
    const hookId = known?.id ?? (randomUUID() as HookId);
    const sealed = await ctx.sealer.seal(tx, secretPlace(workspaceId, hookId), secret);
    await queries.putHook(tx, workspaceId, projectId, hookId, sealed, ctx.clock.now());
    return hookId;
  });
  const { providerId, repositoryKind, repositoryId, fullName } = source;
  const url = addressOf(ctx, repositoryKind, id);
  let placed: { externalId: string | null; problem: queries.ProjectHookRow['problem'] } = {
    externalId: null,
    problem: null,
  };
  if (providerId !== null) {
    const ref = repositoryId === null ? { fullName } : { id: repositoryId };
    placed = await askProvider(ctx.providers, workspaceId, providerId, (host) =>
      host.createHook(ref, { url, secret }, AbortSignal.timeout(20_000)),
    ).then(
      ({ hookId }) => ({ externalId: hookId, problem: null }),
      (error: unknown) => {
        // What the provider refuses, the user can still paste in.
        if (!(error instanceof Fault)) throw error;
        const { code, message, hint = null } = error;
        return { externalId: null, problem: { code, message, hint } };
      },
    );
  }
  const answer = await ctx.db.transaction(async (tx) => {
    await queries.setHookPlace(tx, workspaceId, projectId, placed.externalId, placed.problem);
    const body = { ...(await readHook(ctx, workspaceId, projectId, tx)), secret: null };
    return saveResponse(tx, { status: 200, body });
  });
  // It is kept sealed with the hook alone, and so not in the stored answer.
  return { ...answer, body: { ...answer.body, secret: secret.reveal() } };
}

export async function readHook(
  ctx: PushesContext,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  db: Queryable = ctx.db,
) {
  const source = await readSource(db, workspaceId, projectId);
  const hook = await queries.findProjectHook(db, workspaceId, projectId);
  if (!hook)
    throw new Fault('not_found', 'The project has no webhook yet.', {
      hint: 'POST to the same path makes one.',
    });
  return {
    address: addressOf(ctx, source.repositoryKind, hook.id),
    installed: hook.externalId !== null,
    problem: shownFault(hook.problem),
    lastHeardAt: hook.lastHeardAt?.toISOString() ?? null,
    updatedAt: hook.updatedAt.toISOString(),
  };
}

/** One that works is left alone: another secret would break what the user has pasted in somewhere. */
export async function ensureHook(ctx: PushesContext, workspaceId: WorkspaceId, projectId: ProjectId) {
  const known = await readHook(ctx, workspaceId, projectId).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  });
  const isWell = known && (known.installed || known.lastHeardAt !== null || known.problem === null);
  const { installed, address, problem } = isWell
    ? known
    : (await installHook(ctx, workspaceId, projectId, async (_tx, answer) => answer)).body;
  return { installed, url: address, problem };
}

export function pushesHook(ctx: PushesContext): ProjectHook {
  return { disconnect: (workspaceId, id) => removeHook(ctx, workspaceId, id) };
}

/** At the provider as far as it lets us, and here in any case: what still arrives finds nobody. */
async function removeHook(ctx: PushesContext, workspaceId: WorkspaceId, projectId: ProjectId): Promise<void> {
  const hook = await queries.findProjectHook(ctx.db, workspaceId, projectId);
  if (!hook) return;
  const { providerId, repositoryId, fullName } = await readSource(ctx.db, workspaceId, projectId);
  const { externalId } = hook;
  if (providerId !== null && externalId !== null) {
    const ref = repositoryId === null ? { fullName } : { id: repositoryId };
    await askProvider(ctx.providers, workspaceId, providerId, (host) =>
      host.deleteHook(ref, externalId, AbortSignal.timeout(20_000)),
    ).catch((error: unknown) => {
      // A provider that is gone, or a token that may no longer, must not keep a project from being deleted.
      if (!(error instanceof Fault)) throw error;
    });
  }
  await queries.deleteHook(ctx.db, workspaceId, projectId);
}

/** An address that is no provider's own is called the way GitHub does, until its owner says otherwise. */
function addressOf(ctx: PushesContext, kind: RepositoryKind, id: HookId): string {
  return `${ctx.publicUrl()}/api/v1/webhooks/git/${kind === 'url' ? 'github' : kind}/${id}`;
}
