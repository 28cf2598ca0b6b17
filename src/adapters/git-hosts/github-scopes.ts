/** What GitHub says of a token in its headers, and how it refuses. Fine-grained tokens have permissions it never tells. */
import { dateOrNull } from './foreign.ts';
import type { HostAccount, MissingScope } from './git-hosts.ts';
import type { Dialect } from './host-calls.ts';
import type { Answer, Refusal } from './host-faults.ts';

const reading: MissingScope = {
  scope: 'repo',
  needed: 'It is needed to find and read private repositories.',
};
const hooking: MissingScope = {
  scope: 'admin:repo_hook',
  needed: 'It is needed to set up webhooks, so that a push deploys.',
};

export function githubScopes(
  headers: Readonly<Record<string, string | number | undefined>>,
): Pick<HostAccount, 'scopes' | 'missing' | 'missingForHooks' | 'tokenExpiresAt'> {
  const told = headers['x-oauth-scopes'];
  const scopes = told === undefined ? null : listOf(String(told));
  const has = (...any: readonly string[]) => scopes === null || any.some((scope) => scopes.includes(scope));
  // `2026-01-31 12:00:00 UTC`, or with an offset such as +0200.
  const expires = String(headers['github-authentication-token-expiration'] ?? '');
  return {
    scopes,
    missing: has('repo', 'public_repo') ? [] : [reading],
    missingForHooks: has('repo', 'public_repo', 'admin:repo_hook', 'write:repo_hook') ? [] : [hooking],
    tokenExpiresAt: dateOrNull(expires),
  };
}

export const githubDialect: Dialect = {
  authorization: ({ token }) => `Bearer ${token.reveal()}`,
  isLimited: ({ status, headers, text }) =>
    status === 403 &&
    (headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0' || /rate limit/i.test(text)),
  missing: refusalOf,
};

function refusalOf({ headers }: Answer): Refusal {
  if (headers.get('x-github-sso')?.startsWith('required'))
    return {
      scopes: [],
      hint: 'The organisation asks for single sign-on: authorize the token for it in the settings of the account at GitHub.',
    };
  const held = headers.get('x-oauth-scopes');
  if (held === null)
    return {
      scopes: [],
      hint: `A fine-grained token needs the permission ${permissionsIn(headers)} for the repository.`,
    };
  const accepted = listOf(headers.get('x-accepted-oauth-scopes') ?? '');
  const own = listOf(held);
  return { scopes: accepted.some((scope) => own.includes(scope)) ? [] : accepted };
}

/** `contents=read; hooks=write`, or without it what all of this needs. */
function permissionsIn(headers: Headers): string {
  const named = headers.get('x-accepted-github-permissions')?.replaceAll('=', ': ').replaceAll(';', ',');
  return named ?? 'Contents: read, Metadata: read and Webhooks: read and write';
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
