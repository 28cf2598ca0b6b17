import { after } from '../../../clock.ts';
import type { SessionId } from '../../../ids.ts';
import { newOpaqueToken } from '../tokens.ts';
import { attemptMs, bindingOf, callbackPath, type OidcContext, requireOidc } from './oidc.ts';
import { insertAttempt, type Purpose } from './queries.ts';

export interface Beginning {
  readonly returnTo?: string;
  /** The token of an invitation: whoever it was sent to joins by signing in. */
  readonly invitation?: string;
}

/** Where to send the browser, and the secret that it is to keep until it comes back. */
export async function beginOidc(
  ctx: OidcContext,
  { returnTo = '/', invitation }: Beginning,
  wanted:
    | { readonly purpose: 'sign_in' }
    | { readonly purpose: Exclude<Purpose, 'sign_in'>; readonly sessionId: SessionId } = {
    purpose: 'sign_in',
  },
): Promise<{ readonly url: string; readonly token: string }> {
  const { provider } = requireOidc(ctx);
  const { db, clock } = ctx.accounts;
  const now = clock.now();
  const { token, hash } = newOpaqueToken('oidc');
  // The provider first: where it does not answer, nothing is stored.
  const url = await provider.authorizationUrl(
    bindingOf(token),
    `${ctx.publicUrl()}${callbackPath}`,
    wanted.purpose === 'confirm',
  );
  const invitationId = invitation === undefined ? undefined : await ctx.findInvitation(db, invitation, now);
  await insertAttempt(db, {
    tokenHash: hash,
    purpose: wanted.purpose,
    sessionId: 'sessionId' in wanted ? wanted.sessionId : null,
    invitationId: invitationId ?? null,
    returnTo,
    expiresAt: after(now, attemptMs),
  });
  return { url, token };
}
