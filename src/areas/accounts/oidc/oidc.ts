/**
 * Sign-in by OpenID Connect. Owns which person at the provider is which account, by issuer and subject and never by
 * address, and the sign-ins that are under way, each bound to the browser that began it. Refuses what comes back in another
 * browser, twice or too late; an account for an address that has one; and an account where registration is closed.
 */
import { createHmac } from 'node:crypto';
import type { Binding, Claims, OidcProvider } from '../../../adapters/oidc/oidc.ts';
import { minute } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import type { AccountId, InvitationId, WorkspaceId } from '../../../ids.ts';
import type { OidcConfig } from '../../../oidc-settings.ts';
import type { Role } from '../../../principal.ts';
import type { Queryable } from '../../../store/database.ts';
import type { AccountsContext, ClientTrace } from '../accounts.ts';

export interface OidcContext {
  readonly accounts: AccountsContext;
  /** Absent where the settings name no provider. */
  readonly oidc: { readonly config: OidcConfig; readonly provider: OidcProvider } | undefined;
  readonly publicUrl: () => string;
  /** Whose token it is, whatever address it was sent to: that is looked at when somebody comes back with theirs. */
  readonly findInvitation: (db: Queryable, token: string, now: Date) => Promise<InvitationId | undefined>;
  /** Sets the roles that groups give, takes those away that they gave and give no more, and answers how many are left. */
  readonly setGroupRoles: (
    tx: Queryable,
    accountId: AccountId,
    wanted: ReadonlyMap<WorkspaceId, Role>,
    client: ClientTrace,
    now: Date,
  ) => Promise<number>;
}

export const callbackPath = '/api/v1/auth/oidc/callback';
export const attemptMs = 10 * minute;

export function requireOidc({ oidc }: OidcContext): NonNullable<OidcContext['oidc']> {
  if (oidc) return oidc;
  throw new Fault('not_found', 'Sign-in by OpenID Connect is not set up here.', {
    hint: 'Whoever runs this instance sets it up with SLIPWAY_OIDC_ISSUER: docs/guides/sso.md.',
  });
}

/** Whether the provider says that it asked for a second factor, and whoever runs the service takes its word for that. */
export function isProvenThere(ctx: OidcContext, { authenticatedBy }: Claims): boolean {
  const { secondFactor } = requireOidc(ctx).config;
  return authenticatedBy.some((each) => secondFactor.includes(each));
}

/** All of it follows from the secret in the browser's cookie: nothing of it is stored, and none tells of another. */
export function bindingOf(token: string): Binding {
  const derived = (what: string) => createHmac('sha256', token).update(what).digest('base64url');
  return { state: derived('state'), nonce: derived('nonce'), verifier: derived('verifier') };
}
