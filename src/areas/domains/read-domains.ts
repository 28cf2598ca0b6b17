/** Domains as the API answers with them. */
import type { DomainId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { domainNotFound, verificationRecord } from './domains.ts';
import * as queries from './queries.ts';

export async function readDomain(db: Queryable, workspaceId: WorkspaceId, id: DomainId) {
  const row = await queries.findDomain(db, workspaceId, id);
  if (!row) throw domainNotFound();
  return viewOf(row);
}

export async function listDomains(db: Queryable, workspaceId: WorkspaceId, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listDomainRows(db, workspaceId, { before, limit: limit + 1 });
  return page.answer(rows, viewOf);
}

function viewOf(row: queries.DomainRow) {
  const { id, hostname, status, lastCheck } = row;
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return {
    id,
    hostname,
    status,
    verification: verificationRecord(row),
    lastCheck: lastCheck && { at: lastCheck.at, findings: [...lastCheck.findings] },
    verifiedAt: time(row.verifiedAt),
    missingSince: time(row.missingSince),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
