/**
 * The Git hosts that people have accounts with, behind one small interface: whose token it is, which repositories and
 * branches it reaches, and webhooks. Owns what each host calls things, its pages, its limits and its refusals in words.
 * Knows nothing of who stores tokens, and reaches the network only through the function it is handed. A token goes to
 * the address that its owner gave and nowhere else: no link and no clone address of an answer is ever followed.
 */
import { type Clock, systemClock } from '../../clock.ts';
import type { OutboundFetch } from '../../outbound-fetch.ts';
import type { Secret } from '../../secret.ts';
import type { GitHost, GitHostAccess, GitHostKind } from './host.ts';

export { normalBaseUrl } from './base-urls.ts';
export type {
  GitHost,
  GitHostAccess,
  GitHostKind,
  HostCursor,
  HostPage,
  HostRepository,
  RepositoryRef,
} from './host.ts';

/** Loads the code when a host is first used: the checker of schemas costs more than a start may take. */
export async function openGitHost(
  access: GitHostAccess,
  fetch: OutboundFetch,
  clock: Clock = systemClock,
): Promise<GitHost> {
  const { openHost } = await import('./open-host.ts');
  return openHost(access, fetch, clock);
}

/** What `git` over https sends for this access. */
export function gitCredentials({ kind, token, username }: GitHostAccess): {
  readonly username: string;
  readonly password: Secret;
} {
  return { username: gitUsername(kind, username), password: token };
}

function gitUsername(kind: GitHostKind, username: string | undefined): string {
  if (kind === 'github') return 'x-access-token';
  // Any name does for these two, as long as the password is a token.
  if (kind === 'gitlab' || kind === 'gitea') return 'oauth2';
  if (username === undefined) return 'x-token-auth';
  return username.includes('@') ? 'x-bitbucket-api-token-auth' : username;
}
