import type { Claims } from '../../../adapters/oidc/oidc.ts';
import { Fault } from '../../../fault.ts';
import type { AccountId, InvitationId, WorkspaceId } from '../../../ids.ts';
import type { Role } from '../../../principal.ts';
import type { Queryable } from '../../../store/database.ts';
import type { ClientTrace } from '../accounts.ts';
import { makeAccount } from '../make-account.ts';
import { acceptedEmail } from './accepted-email.ts';
import { type OidcContext, requireOidc } from './oidc.ts';
import { insertIdentity } from './queries.ts';

/** What somebody who signs in for the first time comes with. */
export interface FirstSignIn {
  readonly invitationId: InvitationId | null;
  readonly wanted: ReadonlyMap<WorkspaceId, Role>;
}

/** The account of whoever signs in for the first time, by the rules of registration, and linked from its beginning. */
export async function makeOidcAccount(
  tx: Queryable,
  ctx: OidcContext,
  claims: Claims,
  { invitationId, wanted }: FirstSignIn,
  client: ClientTrace,
): Promise<AccountId> {
  const { config } = requireOidc(ctx);
  if (config.accounts === 'none')
    throw new Fault('registration_closed', 'Nobody gets an account here by signing in at the provider.', {
      hint: 'Sign in with your password and link your account with POST /auth/oidc/link.',
    });
  const email = acceptedEmail(ctx, claims);
  const now = ctx.accounts.clock.now();
  const account = { email, name: claims.name ?? null, passwordHash: null };
  const accountId = await makeAccount(tx, ctx.accounts, account, async (id) => {
    const isInvited =
      invitationId !== null && (await ctx.accounts.invitations.join(tx, invitationId, id, email, now));
    const hasRoles = (await ctx.setGroupRoles(tx, id, wanted, client, now)) > 0;
    const isLetIn = isInvited || (config.accounts === 'groups' && hasRoles);
    return { isLetIn, hasWorkspace: isInvited || hasRoles };
  });
  // The address alone would let whoever holds it at the provider into what its owner has here.
  if (!accountId)
    throw new Fault('oidc_account_exists', 'An account with your address is here already.', {
      hint: 'Sign in with its password, then link it with POST /auth/oidc/link. If you lost it, set a new one with POST /auth/forgot-password.',
    });
  if (!(await insertIdentity(tx, { ...claims, accountId }, now)))
    throw new Fault('oidc_linked', 'You are being signed in by another request at this moment.', {
      hint: 'Sign in again.',
    });
  return accountId;
}
