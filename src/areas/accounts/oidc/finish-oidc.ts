import { timingSafeEqual } from 'node:crypto';
import type { Claims } from '../../../adapters/oidc/oidc.ts';
import { Fault } from '../../../fault.ts';
import type { InvitationId, SessionId } from '../../../ids.ts';
import type { ClientTrace } from '../accounts.ts';
import { setProven } from '../session-queries.ts';
import { openSession, type SignIn } from '../sign-in.ts';
import { hashOpaqueToken } from '../tokens.ts';
import { acceptedDomain } from './accepted-email.ts';
import { rolesOf } from './group-roles.ts';
import { linkAccount, requireOwner } from './link-oidc.ts';
import { makeOidcAccount } from './make-oidc-account.ts';
import { bindingOf, type OidcContext, requireOidc } from './oidc.ts';
import * as queries from './queries.ts';

export interface Finished {
  readonly returnTo: string;
  /** Absent where somebody was signed in already, and has linked their account or proven themselves. */
  readonly signIn?: SignIn;
}

/** For a browser that comes back from the provider, with the secret that it was given when it was sent there. */
export async function finishOidc(
  ctx: OidcContext,
  token: string | undefined,
  cameBackTo: URL,
  client: ClientTrace,
): Promise<Finished> {
  const { provider } = requireOidc(ctx);
  const { db, clock } = ctx.accounts;
  const binding = token === undefined ? undefined : bindingOf(token);
  // Before anything is taken: whoever sends a browser here with a state of their own ends nobody's sign-in.
  if (!token || !binding || !isSame(cameBackTo.searchParams.get('state') ?? '', binding.state))
    throw invalidState();
  const attempt = await queries.takeAttempt(db, hashOpaqueToken(token), clock.now());
  if (!attempt) throw invalidState();
  const { purpose, sessionId, returnTo, invitationId } = attempt;
  const claims = await provider.exchange(cameBackTo, binding, purpose === 'confirm');
  if (sessionId === null) return { returnTo, signIn: await signIn(ctx, claims, invitationId, client) };
  if (purpose === 'link') await linkAccount(ctx, claims, sessionId, client);
  else await confirm(ctx, claims, sessionId);
  return { returnTo };
}

async function signIn(
  ctx: OidcContext,
  claims: Claims,
  invitationId: InvitationId | null,
  client: ClientTrace,
): Promise<SignIn> {
  const { config } = requireOidc(ctx);
  const now = ctx.accounts.clock.now();
  const wanted = rolesOf(claims.groups, config.roles);
  const made = await ctx.accounts.db.transaction(async (tx) => {
    const known = await queries.useIdentity(tx, claims, now);
    if (known === undefined) {
      const accountId = await makeOidcAccount(tx, ctx, claims, { invitationId, wanted }, client);
      return openSession(tx, ctx.accounts, accountId, client);
    }
    acceptedDomain(ctx, claims);
    await ctx.setGroupRoles(tx, known, wanted, client, now);
    return openSession(tx, ctx.accounts, known, client);
  });
  // It may have come from a new location.
  ctx.accounts.wakeMail();
  return made;
}

/** As `POST /auth/confirm` does with a password. */
async function confirm(ctx: OidcContext, claims: Claims, sessionId: SessionId): Promise<void> {
  const now = ctx.accounts.clock.now();
  await ctx.accounts.db.transaction(async (tx) => {
    const { accountId } = await requireOwner(tx, sessionId, now);
    if ((await queries.useIdentity(tx, claims, now)) !== accountId)
      throw new Fault('oidc_untrusted', 'Somebody else than the owner of this account has signed in there.', {
        hint: 'Sign in at the provider as the one that your account is linked with.',
      });
    await setProven(tx, sessionId, now);
  });
}

function invalidState(): Fault {
  return new Fault(
    'oidc_state_invalid',
    'This sign-in was begun in another browser, more than ten minutes ago, or has been used already.',
  );
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
