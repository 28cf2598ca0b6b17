/** Connectors as shown: never what they were set up with. */
import type { ConnectorId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { notFound } from './notifications.ts';
import * as queries from './queries.ts';

export async function readConnector(db: Queryable, workspaceId: WorkspaceId, id: ConnectorId) {
  const row = await queries.findConnector(db, workspaceId, id);
  if (!row) throw notFound();
  return shown(row);
}

export async function listConnectors(db: Queryable, workspaceId: WorkspaceId, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listConnectors(db, workspaceId, { before, limit: limit + 1 });
  return page.answer(rows, shown);
}

export type ShownConnector = ReturnType<typeof shown>;

function shown(row: queries.ConnectorRow) {
  const { id, type, name, target, allProjects, enabled, disabledReason, lastDelivery } = row;
  return {
    id,
    type,
    name,
    events: [...row.events],
    allProjects,
    target,
    enabled,
    disabledReason,
    failingSince: row.failingSince?.toISOString() ?? null,
    lastDelivery: lastDelivery && { ...lastDelivery, at: new Date(lastDelivery.at).toISOString() },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
