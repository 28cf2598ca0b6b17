/** Our account with the authority, one a workspace: made with its first certificate, and again where it was forgotten. */
import { type AcmeAccount, newAccountKey, saysAuthority } from '../../adapters/acme/acme.ts';
import { type AcmeAccountId, newId, type WorkspaceId } from '../../ids.ts';
import * as queries from './certificate-queries.ts';
import { accountKeyPlace, type DomainsContext } from './domains.ts';

interface Asking {
  readonly workspaceId: WorkspaceId;
  readonly signal: AbortSignal;
}

export async function knownAccount(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
): Promise<(AcmeAccount & { readonly id: AcmeAccountId }) | undefined> {
  const row = await queries.findAccount(ctx.db, workspaceId, ctx.authority.directoryUrl);
  if (!row) return undefined;
  const key = await ctx.sealer.open(ctx.db, accountKeyPlace(workspaceId, row.id), row.keySealed);
  return { id: row.id, key, url: row.accountUrl };
}

/** Of two who are first at once, both use the one that was kept. */
export async function accountOf(ctx: DomainsContext, asking: Asking): Promise<AcmeAccount> {
  const { workspaceId, signal } = asking;
  const known = await knownAccount(ctx, workspaceId);
  if (known) return known;
  const made = await (await ctx.authority.acme()).newAccount({ key: newAccountKey(), signal });
  const id = newId<AcmeAccountId>();
  const isFirst = await ctx.db.transaction(async (tx) => {
    const keySealed = await ctx.sealer.seal(tx, accountKeyPlace(workspaceId, id), made.key);
    const row = { id, accountUrl: made.url, thumbprint: made.thumbprint, keySealed };
    return queries.insertAccount(tx, workspaceId, ctx.authority.directoryUrl, row, ctx.clock.now());
  });
  return isFirst ? made : accountOf(ctx, asking);
}

/**
 * Work with the account. An authority that was set up anew has forgotten it: it gets the same key again, so that what the
 * servers answer to challenges stays right.
 */
export async function withAccount<T>(
  ctx: DomainsContext,
  asking: Asking,
  work: (account: AcmeAccount) => Promise<T>,
): Promise<T> {
  try {
    return await work(await accountOf(ctx, asking));
  } catch (error) {
    const { workspaceId, signal } = asking;
    const known = await knownAccount(ctx, workspaceId);
    if (!known || !saysAuthority(error, 'accountDoesNotExist')) throw error;
    const made = await (await ctx.authority.acme()).newAccount({ key: known.key, signal });
    await queries.setAccountUrl(ctx.db, workspaceId, known.id, made.url);
    return work(made);
  }
}
