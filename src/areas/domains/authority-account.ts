/** Our ACME account, one a workspace: registered with its first certificate, and again where the authority lost it. */
import { type AcmeAccount, newAccountKey, saysAuthority } from '../../adapters/acme/acme.ts';
import { type AcmeAccountId, newId, type WorkspaceId } from '../../ids.ts';
import * as queries from './certificate-queries.ts';
import { accountKeyPlace, type DomainsContext } from './domains.ts';

interface Request {
  readonly workspaceId: WorkspaceId;
  readonly signal: AbortSignal;
}

export async function findAcmeAccount(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
): Promise<(AcmeAccount & { readonly id: AcmeAccountId }) | undefined> {
  const row = await queries.findAcmeAccountRow(ctx.db, workspaceId, ctx.authority.directoryUrl);
  if (!row) return undefined;
  const key = await ctx.sealer.open(ctx.db, accountKeyPlace(workspaceId, row.id), row.keySealed);
  return { id: row.id, key, url: row.accountUrl };
}

/** Of two that are registered at once, both callers use the one that was stored first. */
export async function accountOf(ctx: DomainsContext, request: Request): Promise<AcmeAccount> {
  const { workspaceId, signal } = request;
  const known = await findAcmeAccount(ctx, workspaceId);
  if (known) return known;
  const registered = await (await ctx.authority.acme()).newAccount({ key: newAccountKey(), signal });
  const id = newId<AcmeAccountId>();
  const isFirst = await ctx.db.transaction(async (tx) => {
    const keySealed = await ctx.sealer.seal(tx, accountKeyPlace(workspaceId, id), registered.key);
    const row = { id, accountUrl: registered.url, thumbprint: registered.thumbprint, keySealed };
    return queries.insertAcmeAccount(tx, workspaceId, ctx.authority.directoryUrl, row, ctx.clock.now());
  });
  return isFirst ? registered : accountOf(ctx, request);
}

/**
 * Work with the account. An authority that was set up anew does not know it: it is registered with the same key, so that
 * what the servers answer to challenges stays right.
 */
export async function withAccount<T>(
  ctx: DomainsContext,
  request: Request,
  work: (account: AcmeAccount) => Promise<T>,
): Promise<T> {
  try {
    return await work(await accountOf(ctx, request));
  } catch (error) {
    const { workspaceId, signal } = request;
    const known = await findAcmeAccount(ctx, workspaceId);
    if (!known || !saysAuthority(error, 'accountDoesNotExist')) throw error;
    const made = await (await ctx.authority.acme()).newAccount({ key: known.key, signal });
    await queries.setAccountUrl(ctx.db, workspaceId, known.id, made.url);
    return work(made);
  }
}
