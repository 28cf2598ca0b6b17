/** Who may do what: the rights of an account in a repository, and what a token's scopes leave of them. */
import type { Registry } from './registry.ts';
import type { Account, Repository } from './state.ts';

export interface Caller {
  readonly token: string;
  readonly account: Account;
  readonly scopes: readonly string[];
}

export type Role = 'none' | 'pull' | 'admin';

/** What a scope brings with it. */
const included: Readonly<Record<string, readonly string[]>> = {
  repo: ['repo:status', 'repo_deployment', 'public_repo', 'repo:invite', 'security_events'],
  'admin:repo_hook': ['write:repo_hook', 'read:repo_hook'],
  'write:repo_hook': ['read:repo_hook'],
  'admin:org': ['write:org', 'read:org'],
  'write:org': ['read:org'],
  user: ['read:user', 'user:email', 'user:follow'],
};

export function hasScope(caller: Caller, anyOf: readonly string[]): boolean {
  const held = new Set(caller.scopes.flatMap((scope) => [scope, ...(included[scope] ?? [])]));
  return anyOf.some((scope) => held.has(scope));
}

/** An owner, and every member of an organisation that owns, may do everything; others may read what is public. */
export function roleOf(registry: Registry, account: Account | undefined, repository: Repository): Role {
  const owner = repository.owner;
  if (account && (account.login === owner || registry.isMember(owner, account.login))) return 'admin';
  return repository.private ? 'none' : 'pull';
}

/** GitHub hides a private repository from a token without `repo` as if it were not there. */
export function maySee(registry: Registry, caller: Caller | undefined, repository: Repository): boolean {
  if (!repository.private) return true;
  return (
    caller !== undefined &&
    roleOf(registry, caller.account, repository) !== 'none' &&
    hasScope(caller, ['repo'])
  );
}

/** `public_repo` is enough for what is public. */
export function mayPush(registry: Registry, caller: Caller, repository: Repository): boolean {
  const scopes = repository.private ? ['repo'] : ['public_repo'];
  return roleOf(registry, caller.account, repository) === 'admin' && hasScope(caller, scopes);
}

/** The caller, `undefined` where no credentials were sent, or `refused` where they are not good (any more). */
export function callerOf(registry: Registry, header: string | undefined): Caller | undefined | 'refused' {
  if (header === undefined) return undefined;
  for (const candidate of tokensIn(header)) {
    const caller = registry.caller(candidate);
    if (caller) return caller;
  }
  return 'refused';
}

/** In Basic the token is the password, or the user name where tools put it there. */
function tokensIn(header: string): string[] {
  const [, scheme = '', value = ''] = /^(\S+)\s+(\S+)\s*$/.exec(header) ?? [];
  if (/^(token|bearer)$/i.test(scheme)) return [value];
  if (!/^basic$/i.test(scheme)) return [];
  const [user = '', ...password] = Buffer.from(value, 'base64').toString().split(':');
  return [password.join(':'), user];
}
