/** What a token of GitLab may do, and how GitLab says that one may not. */
import type { HostAccount, MissingScope } from './git-hosts.ts';
import type { Dialect } from './host-calls.ts';
import type { Answer, Refusal } from './host-faults.ts';

export function gitlabScopes(
  scopes: readonly string[] | null,
): Pick<HostAccount, 'scopes' | 'missing' | 'missingForHooks'> {
  const has = (...any: readonly string[]) => scopes === null || any.some((scope) => scopes.includes(scope));
  const missing: MissingScope[] = [];
  if (!has('api', 'read_api'))
    missing.push({ scope: 'read_api', needed: 'It is needed to find repositories and their branches.' });
  if (!has('api', 'read_repository', 'write_repository'))
    missing.push({ scope: 'read_repository', needed: 'It is needed to fetch the source of repositories.' });
  const hooking = { scope: 'api', needed: 'It is needed to set up webhooks, so that a push deploys.' };
  return { scopes, missing, missingForHooks: has('api') ? [] : [hooking] };
}

export const gitlabDialect: Dialect = {
  authorization: ({ token }) => `Bearer ${token.reveal()}`,
  isLimited: () => false,
  missing: refusalOf,
};

/** `insufficient_scope` comes with the scopes that would do, in the body and in a header. */
function refusalOf({ headers, text, body }: Answer): Refusal | undefined {
  const challenge = headers.get('www-authenticate') ?? '';
  if (!/insufficient_scope/.test(`${challenge} ${text}`)) return undefined;
  const told = typeof body === 'object' && body !== null && 'scope' in body ? body.scope : undefined;
  const named = typeof told === 'string' ? told : (/\bscope="([^"]*)"/.exec(challenge)?.[1] ?? '');
  return { scopes: named.split(/[\s,]+/).filter((scope) => scope !== '') };
}
