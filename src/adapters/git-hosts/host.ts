/** What a Git host is to the rest of the service, whichever it is. */
import type { Secret } from '../../secret.ts';

/** Where a list goes on. Opaque to whoever stores it. */
export type HostCursor = string;

export interface HostPage<T> {
  readonly items: readonly T[];
  readonly next: HostCursor | null;
}

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
  /** Without these its repositories cannot be read. */
  readonly missing: readonly MissingScope[];
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
  /** Also well when there is none any more. */
  deleteHook(ref: RepositoryRef, hookId: string, signal?: AbortSignal): Promise<void>;
}
