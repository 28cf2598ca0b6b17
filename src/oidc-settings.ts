/** The settings of sign-in by OpenID Connect: a part of the table in `config.ts`. */
import { Fault } from './fault.ts';
import type { Secret } from './secret.ts';
import { optional, type Setting, setting } from './setting.ts';
import * as read from './setting-values.ts';

export const oidcSettings = {
  oidcIssuer: optional(
    'SLIPWAY_OIDC_ISSUER',
    read.issuer,
    'Issuer of the OpenID Connect provider that people may sign in with, exactly as the provider calls itself. Absent: nobody signs in that way.',
  ),
  oidcClientId: optional(
    'SLIPWAY_OIDC_CLIENT_ID',
    read.text,
    'Client id that the provider knows Slipway by.',
  ),
  oidcClientSecret: optional(
    'SLIPWAY_OIDC_CLIENT_SECRET',
    read.secretText,
    'Client secret at the provider. Absent: a public client, which has none.',
    true,
  ),
  oidcName: setting(
    'SLIPWAY_OIDC_NAME',
    'Single sign-on',
    read.text,
    'What the provider is called where people sign in.',
  ),
  oidcScopes: setting(
    'SLIPWAY_OIDC_SCOPES',
    'openid email profile',
    read.scopes,
    'Scopes that the provider is asked for, separated by spaces; `openid` is among them.',
  ),
  oidcAccounts: setting(
    'SLIPWAY_OIDC_ACCOUNTS',
    'registration',
    read.oneOf('registration', 'groups', 'none'),
    'Who gets an account at a first sign-in by OpenID Connect: whom `SLIPWAY_REGISTRATION` lets register, and who was invited (`registration`); these, and everybody in a group of `SLIPWAY_OIDC_ROLES` (`groups`); or nobody (`none`).',
  ),
  oidcEmailDomains: setting(
    'SLIPWAY_OIDC_EMAIL_DOMAINS',
    '',
    read.domainList,
    'Domains, separated by commas, that an e-mail address from the provider has to be of. Absent: all.',
  ),
  oidcTrustEmail: setting(
    'SLIPWAY_OIDC_TRUST_EMAIL',
    'off',
    read.onOff,
    'Whether an e-mail address counts as confirmed where the provider does not say whether it is (no `email_verified`).',
  ),
  oidcSecondFactor: setting(
    'SLIPWAY_OIDC_SECOND_FACTOR',
    '',
    read.claimValues,
    'Values of the claims `amr` and `acr`, separated by commas, by which the provider says that it asked for a second factor, such as `mfa`: a sign-in with one of them is not asked for the second factor that the account has here. Absent: it is asked for at every sign-in.',
  ),
  oidcGroupsClaim: setting(
    'SLIPWAY_OIDC_GROUPS_CLAIM',
    'groups',
    read.text,
    'Claim with the groups that somebody is in; dots lead into objects, as in `realm_access.roles`.',
  ),
  oidcRoles: optional(
    'SLIPWAY_OIDC_ROLES',
    read.groupRoles,
    'Roles in workspaces by group, as JSON: `{"group": {"workspace id": "member"}}`. Absent: groups give no roles.',
  ),
} as const;

export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly name: string;
  readonly scopes: string;
  readonly accounts: 'registration' | 'groups' | 'none';
  readonly emailDomains: readonly string[];
  readonly trustEmail: boolean;
  /** Any of these in `amr` or `acr`: the provider has asked for a second factor, and its word is taken. */
  readonly secondFactor: readonly string[];
  readonly groupsClaim: string;
  readonly roles: read.GroupRoles;
}

/** All of it or nothing: half of it would be found out by the first person who signs in. */
export function readOidc(
  env: Readonly<Record<string, string | undefined>>,
  value: <T>(which: Setting<T>) => T,
): OidcConfig | undefined {
  const issuer = value(oidcSettings.oidcIssuer);
  const clientId = value(oidcSettings.oidcClientId);
  const roles = value(oidcSettings.oidcRoles);
  const rest = {
    clientSecret: value(oidcSettings.oidcClientSecret),
    name: value(oidcSettings.oidcName),
    scopes: value(oidcSettings.oidcScopes),
    accounts: value(oidcSettings.oidcAccounts),
    emailDomains: value(oidcSettings.oidcEmailDomains),
    trustEmail: value(oidcSettings.oidcTrustEmail),
    secondFactor: value(oidcSettings.oidcSecondFactor),
    groupsClaim: value(oidcSettings.oidcGroupsClaim),
    roles: roles ?? new Map(),
  };
  if (issuer === undefined) {
    const alone = Object.keys(env).find((name) => name.startsWith('SLIPWAY_OIDC_') && env[name]);
    if (alone === undefined) return undefined;
    throw new Fault('wrong_setting', `${alone} is set, but not SLIPWAY_OIDC_ISSUER. Set both, or neither.`);
  }
  if (clientId === undefined)
    throw new Fault('wrong_setting', 'SLIPWAY_OIDC_ISSUER is set, but not SLIPWAY_OIDC_CLIENT_ID. Set both.');
  if (rest.accounts === 'groups' && roles === undefined)
    throw new Fault('wrong_setting', 'SLIPWAY_OIDC_ACCOUNTS=groups needs the groups of SLIPWAY_OIDC_ROLES.');
  return { issuer, clientId, ...rest };
}
