/** How Bitbucket is told who asks, and what it says of what a token may do. Its tokens name the same scopes in two ways. */
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { GitHostAccess, HostAccount, MissingScope } from './git-hosts.ts';
import type { Dialect } from './host-calls.ts';

export function bitbucketScopes(
  told: string | null,
  { username }: GitHostAccess,
): Pick<HostAccount, 'scopes' | 'missing' | 'missingForHooks' | 'tokenExpiresAt'> {
  const scopes = told?.split(/[\s,]+/).filter((scope) => scope !== '') ?? null;
  const has = (...any: readonly string[]) => scopes === null || any.some((scope) => scopes.includes(scope));
  const isApiToken = username?.includes('@') ?? false;
  const name = (old: string, now: string) => (isApiToken ? now : old);
  const missing: MissingScope[] = [];
  const reading = ['repository', 'repository:write', 'repository:admin', 'read:repository:bitbucket'];
  if (!has(...reading))
    missing.push({
      scope: name('repository', 'read:repository:bitbucket'),
      needed: 'It is needed to find repositories and to fetch their source.',
    });
  const hooking: MissingScope = {
    scope: name('webhook', 'write:webhook:bitbucket'),
    needed: 'It is needed to set up webhooks, so that a push deploys.',
  };
  const missingForHooks = has('webhook', 'write:webhook:bitbucket') ? [] : [hooking];
  return { scopes, missing, missingForHooks, tokenExpiresAt: null };
}

const Lacking = Type.Object({
  error: Type.Object({ detail: Type.Object({ required: Type.Array(Type.String()) }) }),
});

export const bitbucketDialect: Dialect = {
  authorization: ({ token, username }) =>
    username === undefined
      ? `Bearer ${token.reveal()}`
      : `Basic ${Buffer.from(`${username}:${token.reveal()}`).toString('base64')}`,
  isLimited: () => false,
  missing: ({ body, headers }) => {
    if (Value.Check(Lacking, body)) return { scopes: body.error.detail.required };
    const accepted = headers.get('x-accepted-oauth-scopes')?.split(/[\s,]+/) ?? [];
    const held = headers.get('x-oauth-scopes')?.split(/[\s,]+/) ?? [];
    const scopes = accepted.filter((scope) => scope !== '');
    return scopes.some((scope) => held.includes(scope)) ? undefined : { scopes };
  },
};

/** Whom a token that belongs to no account stands for. */
export const accessTokenAccount: HostAccount = {
  login: 'x-token-auth',
  name: 'Access token',
  avatarUrl: null,
  scopes: null,
  missing: [],
  missingForHooks: [],
  tokenExpiresAt: null,
};
