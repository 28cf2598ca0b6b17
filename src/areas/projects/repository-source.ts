/** What a user names as a repository, made into what we need to read it. */
import { parseGitUrl } from '../../adapters/git/git-url.ts';
import { Fault } from '../../fault.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import { askProvider } from '../git-providers/git-providers.ts';
import { readRepo } from '../git-providers/list-branches.ts';
import { readProvider } from '../git-providers/read-providers.ts';
import type { ProjectsContext, RepositoryKind } from './projects.ts';

export type RepositoryReference =
  | { readonly providerId: GitProviderId; readonly fullName: string }
  | { readonly url: string };

export interface DescribedRepository {
  readonly providerId: GitProviderId | null;
  readonly repositoryKind: RepositoryKind;
  readonly repositoryId: string | null;
  readonly fullName: string;
  readonly cloneUrl: string;
  readonly webUrl: string | null;
  /** An address that is read over SSH needs a key that its owner lets in. */
  readonly needsDeployKey: boolean;
}

/** An account's repository is asked for at the provider: it must exist, and the token must see it. */
export async function describeRepository(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  wanted: RepositoryReference,
): Promise<DescribedRepository> {
  if ('url' in wanted) return describeUrl(wanted.url, ctx.allowHttp);
  const { providerId } = wanted;
  const { provider } = await readProvider(ctx.db, workspaceId, providerId);
  const found = await askProvider(ctx.providers, workspaceId, providerId, (host) =>
    host.repository(readRepo(wanted.fullName), AbortSignal.timeout(20_000)),
  );
  const { id: repositoryId, fullName, cloneUrl, webUrl } = found;
  return {
    providerId,
    repositoryKind: provider,
    repositoryId,
    fullName,
    cloneUrl,
    webUrl,
    needsDeployKey: false,
  };
}

function describeUrl(text: string, allowHttp: boolean): DescribedRepository {
  const url = readUrl(text, allowHttp);
  const fullName = url.path
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  const isSsh = url.scheme === 'ssh';
  const webUrl = isSsh ? null : url.text.replace(/\/+$/, '').replace(/\.git$/, '');
  const nothing = { providerId: null, repositoryId: null };
  return { ...nothing, repositoryKind: 'url', fullName, cloneUrl: url.text, webUrl, needsDeployKey: isSsh };
}

/** The same refusal, with the field that it is about. */
function readUrl(text: string, allowHttp: boolean) {
  try {
    return parseGitUrl(text.trim(), { allowHttp });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { hint } = error;
    throw new Fault('invalid_input', error.message, {
      ...(hint !== undefined && { hint }),
      errors: [{ path: 'repository.url', message: error.message }],
    });
  }
}

/** A folder inside the repository: never out of it, never absolute. `''` is the root. */
export function readRootDirectory(text: string | undefined): string {
  const parts = (text ?? '').split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || /^[/-]|\\/.test(text ?? '')) {
    throw new Fault('invalid_input', 'The root directory is not a folder inside the repository.', {
      errors: [
        { path: 'rootDirectory', message: 'must be a path inside the repository, such as `apps/web`' },
      ],
    });
  }
  return parts.join('/');
}

/** From the query of `analyze-repo`: one of the two ways to name a repository, and not both. */
export function readRepositoryReference(query: {
  readonly providerId?: GitProviderId;
  readonly repo?: string;
  readonly url?: string;
}): RepositoryReference {
  const { providerId, repo, url } = query;
  if (url !== undefined && providerId === undefined && repo === undefined) return { url };
  if (url === undefined && providerId !== undefined && repo !== undefined)
    return { providerId, fullName: repo };
  const message = 'must be given with `repo`, or `url` alone';
  throw new Fault('invalid_input', 'It is not clear which repository is meant.', {
    errors: [{ path: url === undefined ? 'providerId' : 'url', message }],
  });
}
