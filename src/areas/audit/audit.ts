/**
 * The audit log as those see it who manage a workspace: filtered, in pages, or as one file. Written elsewhere, with each
 * change (`events/audit.ts`); nothing here changes it.
 */
import { Readable } from 'node:stream';
import { isId, type WorkspaceId } from '../../ids.ts';
import { aboveAllIds, type Page } from '../../page.ts';
import type { Database } from '../../store/database.ts';
import * as queries from './queries.ts';

export interface AuditQuery {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly from?: string;
  readonly to?: string;
}

const exportedAtOnce = 1_000;

export async function listAudit(db: Database, workspaceId: WorkspaceId, query: AuditQuery, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listEntries(db, workspaceId, filterOf(query), { before, limit: limit + 1 });
  return page.answer(rows, show);
}

/** One JSON object a line, the newest first; read from the database as fast as it is taken. */
export function exportAudit(db: Database, workspaceId: WorkspaceId, query: AuditQuery): Readable {
  return Readable.from(lines(db, workspaceId, filterOf(query)), { objectMode: false });
}

async function* lines(
  db: Database,
  workspaceId: WorkspaceId,
  filter: queries.AuditFilter,
): AsyncGenerator<Buffer, void, undefined> {
  let before: string = aboveAllIds;
  for (;;) {
    const rows = await queries.listEntries(db, workspaceId, filter, { before, limit: exportedAtOnce });
    if (rows.length > 0) yield Buffer.from(rows.map((row) => `${JSON.stringify(show(row))}\n`).join(''));
    const last = rows.at(-1);
    if (!last || rows.length < exportedAtOnce) return;
    before = last.id;
  }
}

/** Whoever is named by an id is found by it, everybody else by their name at that time. */
function filterOf({ actor, action, subject, from, to }: AuditQuery): queries.AuditFilter {
  return {
    actorId: actor !== undefined && isId(actor) ? actor : null,
    actorName: actor !== undefined && !isId(actor) ? actor.toLowerCase() : null,
    action: action ?? null,
    subject: subject ?? null,
    from: from === undefined ? null : new Date(from),
    to: to === undefined ? null : new Date(to),
  };
}

function show({
  actorKind,
  accountId,
  tokenId,
  actorName,
  subjectType,
  subjectId,
  at,
  ...row
}: queries.EntryRow) {
  return {
    ...row,
    at: at.toISOString(),
    actor: { kind: actorKind, name: actorName, accountId, tokenId },
    subject: subjectType !== null && subjectId !== null ? { type: subjectType, id: subjectId } : null,
  };
}
