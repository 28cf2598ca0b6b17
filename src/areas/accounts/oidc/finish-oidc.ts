import { timingSafeEqual } from 'node:crypto';
import type { Claims } from '../../../adapters/oidc/oidc.ts';
import { Fault } from '../../../fault.ts';
import type { AccountId, InvitationId, SessionId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import type { ClientTrace } from '../accounts.ts';
import { readUser } from '../read-user.ts';
import { beginSession, type SecondFactorNeeded } from '../second-factors/challenges.ts';
import { secondFactorRequired } from '../second-factors/confirm.ts';
import { lockAccount } from '../second-factors/queries.ts';
import { setProven } from '../session-queries.ts';
import { openSession, type SignIn } from '../sign-in.ts';
import { hashOpaqueToken } from '../tokens.ts';
import { acceptedDomain } from './accepted-email.ts';
import { rolesOf } from './group-roles.ts';
import { linkAccount, requireOwner } from './link-oidc.ts';
import { makeOidcAccount } from './make-oidc-account.ts';
import { bindingOf, isProvenThere, type OidcContext, requireOidc } from './oidc.ts';
import * as queries from './queries.ts';

export interface Finished {
  readonly returnTo: string;
  /** Absent where somebody was signed in already, and has linked their account or proven themselves. */
  readonly signIn?: SignIn | SecondFactorNeeded;
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
): Promise<SignIn | SecondFactorNeeded> {
  const { config } = requireOidc(ctx);
  const now = ctx.accounts.clock.now();
  const wanted = rolesOf(claims.groups, config.roles);
  const made = await ctx.accounts.db.transaction(async (tx) => {
    const known = await queries.useIdentity(tx, claims, now);
    if (known !== undefined) {
      acceptedDomain(ctx, claims);
      if (invitationId !== null) await join(tx, ctx, known, invitationId);
      await ctx.setGroupRoles(tx, known, wanted, client, now);
    }
    const accountId = known ?? (await makeOidcAccount(tx, ctx, claims, { invitationId, wanted }, client));
    // After the roles: groups are the provider's word, whoever holds the second factor here.
    return isProvenThere(ctx, claims)
      ? openSession(tx, ctx.accounts, accountId, client, { changes: { secondFactor: 'provider' } })
      : beginSession(tx, ctx.accounts, await requireAccount(tx, accountId), client);
  });
  // It may have come from a new location.
  ctx.accounts.wakeMail();
  return made;
}

/** Locked, so that a factor which is turned on meanwhile is asked for. */
async function requireAccount(tx: Queryable, accountId: AccountId) {
  const { secondFactor = false } = (await lockAccount(tx, accountId)) ?? {};
  return { accountId, secondFactor };
}

/** With an account already: where the invitation is for its address here, whatever the provider calls it by now. */
async function join(
  tx: Queryable,
  { accounts }: OidcContext,
  accountId: AccountId,
  invitationId: InvitationId,
): Promise<void> {
  const { email } = await readUser(tx, accountId);
  try {
    await accounts.invitations.join(tx, invitationId, accountId, email, accounts.clock.now());
  } catch (error) {
    if (!(error instanceof Fault && error.code === 'already_member')) throw error;
  }
}

/** As `POST /auth/confirm` does with a password, which proves nothing either where there is a second factor. */
async function confirm(ctx: OidcContext, claims: Claims, sessionId: SessionId): Promise<void> {
  const now = ctx.accounts.clock.now();
  await ctx.accounts.db.transaction(async (tx) => {
    const { accountId, secondFactor } = await requireOwner(tx, sessionId, now);
    if ((await queries.useIdentity(tx, claims, now)) !== accountId)
      throw new Fault('oidc_untrusted', 'Somebody else than the owner of this account has signed in there.', {
        hint: 'Sign in at the provider as the one that your account is linked with.',
      });
    if (secondFactor && !isProvenThere(ctx, claims)) throw secondFactorRequired('a sign-in at the provider');
    await setProven(tx, sessionId, now);
  });
}

function invalidState(): Fault {
  return new Fault(
    'oidc_state_invalid',
    'This sign-in was begun in another browser, more than ten minutes ago, or has been used already.',
  );
}

/** Of bytes: a state with other letters may be as long as ours in signs, and longer in bytes. */
function isSame(one: string, other: string): boolean {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === others.length && timingSafeEqual(bytes, others);
}
