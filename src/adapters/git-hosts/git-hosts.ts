/**
 * The Git hosts that people have accounts with, behind one small interface: whose token it is, which repositories and
 * branches it reaches, and hooks. Owns what each host calls things, its pages, its limits and its refusals in words.
 * Knows nothing of who stores tokens, and reaches the network only through the function it is handed. A token goes to
 * the address that its owner gave and nowhere else: no link and no clone address of an answer is ever followed.
 */
import { type Clock, systemClock } from '../../clock.ts';
import type { Secret } from '../../secret.ts';
import { apiUrlOf } from './base-urls.ts';
import { createCalls, type HostFetch } from './host-calls.ts';
import type { HostCursor, HostPage } from './host-pages.ts';

export { normalBaseUrl } from './base-urls.ts';
export type { HostFetch } from './host-calls.ts';
export type { HostCursor, HostPage } from './host-pages.ts';

export type GitHostKind = 'github' | 'gitlab' | 'gitea' | 'bitbucket';

export interface GitHostAccess {
  readonly kind: GitHostKind;
  /** As `normalBaseUrl` gives it: where its pages are, without a slash at the end. */
  readonly baseUrl: string;
  readonly token: Secret;
  /** For Bitbucket: the user name of an app password, or the e-mail address of an API token. */
  readonly username?: string;
}

export interface MissingScope {
  readonly scope: string;
  /** What it is needed for, as a sentence. */
  readonly needed: string;
}

export interface HostAccount {
  readonly login: string;
  readonly name: string | null;
  readonly avatarUrl: string | null;
  /** `null` where the host does not tell. */
  readonly scopes: readonly string[] | null;
  /** Without these its repositories cannot be read. */
  readonly missing: readonly MissingScope[];
  /** Without these hooks have to be made by hand; everything else goes. */
  readonly missingForHooks: readonly MissingScope[];
  readonly tokenExpiresAt: Date | null;
}

export interface HostRepository {
  readonly id: string;
  readonly fullName: string;
  readonly name: string;
  readonly owner: string;
  readonly description: string | null;
  readonly isPrivate: boolean;
  readonly isArchived: boolean;
  readonly isFork: boolean;
  /** `null` for one without a commit. */
  readonly defaultBranch: string | null;
  readonly cloneUrl: string;
  readonly webUrl: string;
  readonly pushedAt: Date | null;
  readonly sizeKb: number | null;
  /** Whether hooks may be made with this account; `null` where the host does not tell. */
  readonly canAdmin: boolean | null;
}

export interface HostBranch {
  readonly name: string;
  readonly sha: string;
  readonly isDefault: boolean;
  /** `null` where the host does not tell. */
  readonly isProtected: boolean | null;
}

export type RepositoryRef = { readonly fullName: string } | { readonly id: string };

export interface ListQuery {
  readonly search?: string;
  readonly page?: HostCursor;
  /** At most 100. */
  readonly limit: number;
}

export interface NewHook {
  readonly url: string;
  readonly secret: Secret;
}

export interface GitHost {
  account(signal?: AbortSignal): Promise<HostAccount>;
  /** What the account reaches, newest pushed first; `search` is a part of the full name. */
  repositories(query: ListQuery, signal?: AbortSignal): Promise<HostPage<HostRepository>>;
  /** The same, page after page, up to a bound; to be kept for a while, so that typing asks nobody. */
  allRepositories(signal?: AbortSignal): AsyncIterable<readonly HostRepository[]>;
  repository(ref: RepositoryRef, signal?: AbortSignal): Promise<HostRepository>;
  branches(ref: RepositoryRef, query: ListQuery, signal?: AbortSignal): Promise<HostPage<HostBranch>>;
  /** Takes the place of hooks to the same address, so that a second try does not make a second hook. */
  createHook(ref: RepositoryRef, hook: NewHook, signal?: AbortSignal): Promise<{ readonly hookId: string }>;
  hasHook(ref: RepositoryRef, hookId: string, signal?: AbortSignal): Promise<boolean>;
  /** Also well when there is none any more. */
  deleteHook(ref: RepositoryRef, hookId: string, signal?: AbortSignal): Promise<void>;
}

/** More is nothing to choose from in a list; a repository beyond it is still found by its name. */
const mostRepositories = 5_000;

/** Loads the client of that host only: together they cost more than a start may take. */
export async function openGitHost(
  access: GitHostAccess,
  fetch: HostFetch,
  clock: Clock = systemClock,
): Promise<GitHost> {
  const host = await openKind(access, fetch, clock);
  return { ...host, allRepositories: (signal) => everyRepository(host, signal) };
}

export type HostCore = Omit<GitHost, 'allRepositories'>;

async function openKind(access: GitHostAccess, fetch: HostFetch, clock: Clock): Promise<HostCore> {
  const calls = (dialect: Parameters<typeof createCalls>[2]) =>
    createCalls(access, apiUrlOf(access.kind, access.baseUrl), dialect, fetch, clock);
  switch (access.kind) {
    case 'github': {
      const { githubDialect, openGithub } = await import('./github.ts');
      return openGithub(calls(githubDialect));
    }
    case 'gitlab': {
      const { gitlabDialect, openGitlab } = await import('./gitlab.ts');
      return openGitlab(calls(gitlabDialect));
    }
    case 'gitea': {
      const { giteaDialect, openGitea } = await import('./gitea.ts');
      return openGitea(calls(giteaDialect));
    }
    case 'bitbucket': {
      const { bitbucketDialect, openBitbucket } = await import('./bitbucket.ts');
      return openBitbucket(calls(bitbucketDialect));
    }
  }
}

async function* everyRepository(host: HostCore, signal?: AbortSignal): AsyncIterable<HostRepository[]> {
  // Something pushed in between moves to the front and pushes others to the next page, where they come again.
  const seen = new Set<string>();
  let page: HostCursor | null = null;
  do {
    const found: HostPage<HostRepository> = await host.repositories(
      { limit: 100, ...(page === null ? {} : { page }) },
      signal,
    );
    const fresh = found.items.filter(({ id }) => !seen.has(id)).slice(0, mostRepositories - seen.size);
    for (const { id } of fresh) seen.add(id);
    if (fresh.length > 0) yield fresh;
    page = found.next;
  } while (page !== null && seen.size < mostRepositories);
}

/** What `git` over https is to say for this access. */
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
