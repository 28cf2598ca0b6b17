/**
 * One search over all connected accounts. Answered from what was fetched a moment ago, so that typing is free; an
 * account that fails is named in `warnings`, and the others are shown all the same.
 */
import type { HostRepository } from '../../adapters/git-hosts/git-hosts.ts';
import { Fault } from '../../fault.ts';
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import { aboveAllIds } from '../../page.ts';
import { raceAbort } from '../../remote/ssh/deadline.ts';
import { askProvider, type GitProvidersContext, providerNotFound } from './git-providers.ts';
import * as queries from './queries.ts';
import type { Reachable } from './repository-cache.ts';
import { allAfter, cursorAfter, type FoundRepository, readSearchCursor } from './search-order.ts';

export interface SearchQuery {
  readonly q?: string;
  readonly providerId?: GitProviderId;
  readonly limit?: number;
  readonly cursor?: string;
}

/** Of one account; who has more is searched at the provider. */
const mostKept = 2_000;
const mostAccounts = 50;
/** A slow provider must not hold up the others. */
const timeoutMs = 8_000;

export async function searchRepositories(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  query: SearchQuery,
) {
  const { limit = 50, q = '' } = query;
  const after = query.cursor === undefined ? undefined : readSearchCursor(query.cursor);
  const accounts = await accountsFor(ctx, workspaceId, query.providerId);
  const looks = await Promise.all(accounts.map((account) => look(ctx, workspaceId, account, q)));
  const found = looks.flatMap(({ repositories }) => repositories);
  const ordered = allAfter(found, q, after);
  const shown = ordered.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map((repository) => showRepository(repository)),
    nextCursor: ordered.length > limit && last ? cursorAfter(last, q) : null,
    warnings: looks.flatMap(({ warning }) => (warning ? [warning] : [])),
  };
}

async function accountsFor(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId | undefined,
) {
  if (id === undefined)
    return queries.listProviders(ctx.db, workspaceId, { before: aboveAllIds, limit: mostAccounts });
  const one = await queries.findProvider(ctx.db, workspaceId, id);
  if (!one) throw providerNotFound();
  return [one];
}

interface Look {
  readonly repositories: readonly FoundRepository[];
  readonly warning?: { readonly providerId: string; readonly code: string; readonly message: string };
}

async function look(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  { id, label, status, problem }: queries.ProviderRow,
  q: string,
): Promise<Look> {
  const warn = (code: string, message: string): Look => ({
    repositories: [],
    warning: { providerId: id, code, message: `${label}: ${message}` },
  });
  // A token that is known to be refused is not tried with every letter.
  if (status === 'rejected' && problem) return warn(problem.code, problem.message);
  try {
    const reachable = await raceAbort(reachableBy(ctx, workspaceId, id, q), AbortSignal.timeout(timeoutMs));
    return { repositories: reachable.repositories.map((each) => ({ ...each, providerId: id })) };
  } catch (error) {
    if (error instanceof Fault) return warn(error.code, error.message);
    if (error instanceof Error && error.name === 'TimeoutError')
      return warn(
        'provider_unreachable',
        'The provider has not answered in time; its repositories come later.',
      );
    throw error;
  }
}

async function reachableBy(
  ctx: GitProvidersContext,
  workspaceId: WorkspaceId,
  id: GitProviderId,
  q: string,
): Promise<Reachable> {
  const all = await ctx.cache.get(id, '', (signal) =>
    askProvider(ctx, workspaceId, id, async (host) => {
      const repositories: HostRepository[] = [];
      for await (const some of host.allRepositories(signal)) {
        repositories.push(...some);
        if (repositories.length >= mostKept) return { repositories, isComplete: false };
      }
      return { repositories, isComplete: true };
    }),
  );
  if (all.isComplete || q.trim() === '') return all;
  return ctx.cache.get(id, q.trim().toLowerCase(), (signal) =>
    askProvider(ctx, workspaceId, id, async (host) => {
      const { items } = await host.repositories({ search: q.trim(), limit: 100 }, signal);
      const known = new Set(items.map((each) => each.id));
      return {
        repositories: [...items, ...all.repositories.filter((each) => !known.has(each.id))],
        isComplete: false,
      };
    }),
  );
}

function showRepository(repository: FoundRepository) {
  const { providerId, id, fullName, name, owner, description, isPrivate, isArchived, isFork } = repository;
  const { defaultBranch, cloneUrl, webUrl } = repository;
  const pushedAt = repository.pushedAt?.toISOString() ?? null;
  return {
    providerId,
    id,
    fullName,
    name,
    owner,
    description,
    isPrivate,
    isArchived,
    isFork,
    defaultBranch,
    cloneUrl,
    webUrl,
    pushedAt,
  };
}
