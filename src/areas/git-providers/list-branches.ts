/** The branches of one repository, a page at a time: some have thousands. */
import type { HostCursor, RepositoryRef } from '../../adapters/git-hosts/git-hosts.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import { badCursor } from '../../page.ts';
import { askProvider, type GitProvidersContext } from './git-providers.ts';

export interface BranchQuery {
  readonly q?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export async function listBranches(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId,
  repo: string,
  { q, limit = 50, cursor }: BranchQuery,
) {
  const page = cursor === undefined ? undefined : readCursor(cursor);
  const query = { limit, ...(q !== undefined && { search: q }), ...(page !== undefined && { page }) };
  const { items, next } = await askProvider(ctx, workspaceId, id, (host) =>
    host.branches(readRepo(repo), query, AbortSignal.timeout(20_000)),
  );
  return { items: [...items], nextCursor: next === null ? null : Buffer.from(next).toString('base64url') };
}

/** `owner/name`, or the number that the provider gave it. */
export function readRepo(repo: string): RepositoryRef {
  return /^\d{1,19}$/.test(repo) || /^\{[0-9a-f-]{36}\}$/i.test(repo) ? { id: repo } : { fullName: repo };
}

/** Foreign as any input: the provider's adapter checks what it is given. */
function readCursor(cursor: string): HostCursor {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (text === '' || text.length > 500 || /\p{C}/u.test(text)) throw badCursor();
  return text as HostCursor;
}
