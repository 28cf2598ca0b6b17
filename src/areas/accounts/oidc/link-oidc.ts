/** Of an account that exists: linked by its owner, shown, and unlinked where another way in is left. */
import type { Claims } from '../../../adapters/oidc/oidc.ts';
import { writeAccountEntry } from '../../../events/audit.ts';
import { Fault } from '../../../fault.ts';
import type { AccountId, SessionId } from '../../../ids.ts';
import { addToNote } from '../../../store/change-note.ts';
import type { Queryable } from '../../../store/database.ts';
import type { ClientTrace } from '../accounts.ts';
import { enqueueMail } from '../mail-outbox.ts';
import { findPasswordHash } from '../queries.ts';
import { lockAccountOfSession } from '../session-queries.ts';
import { acceptedDomain } from './accepted-email.ts';
import type { OidcContext } from './oidc.ts';
import * as queries from './queries.ts';

export async function readLink({ accounts: { db }, oidc }: OidcContext, accountId: AccountId) {
  const found = await queries.findIdentity(db, accountId);
  if (!found) return { linked: null };
  const { issuer, email, createdAt, lastUsedAt } = found;
  const hasPassword = (await findPasswordHash(db, accountId)) !== null;
  return {
    linked: {
      issuer,
      email,
      isCurrent: issuer === oidc?.config.issuer,
      isOnlyWayIn: !hasPassword,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt.toISOString(),
    },
  };
}

/** By the owner of the account, who has proven themselves here a moment ago and there just now. */
export async function linkAccount(
  ctx: OidcContext,
  claims: Claims,
  sessionId: SessionId,
  { ip, requestId }: ClientTrace,
): Promise<void> {
  const now = ctx.accounts.clock.now();
  await ctx.accounts.db.transaction(async (tx) => {
    const { accountId, email } = await requireOwner(tx, sessionId, now);
    acceptedDomain(ctx, claims);
    await queries.forgetFormerIdentity(tx, accountId, claims.issuer);
    if (!(await queries.insertIdentity(tx, { ...claims, accountId }, now)))
      throw new Fault('oidc_linked', 'Your account, or who you signed in as there, is linked already.', {
        hint: 'Unlink your account first with DELETE /auth/oidc/link, or sign in at the provider as somebody else.',
      });
    await enqueueMail(tx, 'oidc_linked', email, now);
    const { issuer, subject } = claims;
    const actor = { kind: 'person', accountId } as const;
    const changes = { asked: { issuer, subject } };
    await writeAccountEntry(tx, accountId, { actor, action: 'linkOidc', changes, ip, requestId });
  });
  ctx.accounts.wakeMail();
}

/** Roles that were given by groups go with it: nobody would take them away any more. */
export async function unlinkAccount(
  ctx: OidcContext,
  accountId: AccountId,
  client: ClientTrace,
): Promise<void> {
  await ctx.accounts.db.transaction(async (tx) => {
    const hasPassword = await queries.lockHasPassword(tx, accountId);
    const before = await queries.findIdentity(tx, accountId);
    if (!before)
      throw new Fault('not_found', 'Your account is not linked.', {
        hint: 'Link it with POST /auth/oidc/link.',
      });
    if (!hasPassword)
      throw new Fault('last_way_in', 'Your account has no password: nobody could sign in to it any more.', {
        hint: 'Set a password first, with POST /auth/forgot-password.',
      });
    await queries.deleteIdentity(tx, accountId);
    await ctx.setGroupRoles(tx, accountId, new Map(), client, ctx.accounts.clock.now());
    addToNote({ before: { issuer: before.issuer, subject: before.subject } });
  });
}

/** Whose session it is that this was begun in. */
export async function requireOwner(tx: Queryable, sessionId: SessionId, now: Date) {
  const owner = await lockAccountOfSession(tx, sessionId, now);
  if (owner) return owner;
  throw new Fault('oidc_state_invalid', 'The session that this was begun in has ended.', {
    hint: 'Sign in, and begin again.',
  });
}
