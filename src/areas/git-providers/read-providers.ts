/** One connected account, or the list of them, as shown. The token is no part of it. */
import type { GitProviderId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { shownFault } from '../../wire.ts';
import { providerNotFound } from './git-providers.ts';
import * as queries from './queries.ts';

export async function readProvider(db: Queryable, workspaceId: WorkspaceId, id: GitProviderId) {
  const row = await queries.findProvider(db, workspaceId, id);
  if (!row) throw providerNotFound();
  return shown(row);
}

export async function listProviders(db: Queryable, workspaceId: WorkspaceId, page: Page) {
  const rows = await queries.listProviders(db, workspaceId, { before: page.before, limit: page.limit + 1 });
  return page.answer(rows, shown);
}

function shown(row: queries.ProviderRow) {
  const { id, kind, baseUrl, label, login, accountName, avatarUrl, status, problem } = row;
  return {
    id,
    provider: kind,
    baseUrl,
    label,
    status,
    problem: shownFault(problem),
    account: { login, name: accountName, avatarUrl },
    tokenExpiresAt: row.tokenExpiresAt?.toISOString() ?? null,
    checkedAt: row.checkedAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
  };
}
