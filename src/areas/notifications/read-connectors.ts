/** Connectors and deliveries as the API answers with them: never what a connector was set up with. */
import { readNotices } from '../../events/notices.ts';
import type { ConnectorId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import { normaliseEmail } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { type Recipient, readRecipients } from './consent.ts';
import { listDeliveryRows } from './delivery-queries.ts';
import { connectorNotFound } from './notifications.ts';
import * as queries from './queries.ts';

export async function readConnector(db: Queryable, workspaceId: WorkspaceId, id: ConnectorId) {
  const row = await queries.findConnector(db, workspaceId, id);
  if (!row) throw connectorNotFound();
  return viewOf(row, await readRecipients(db, workspaceId, addressesOf(row)));
}

export async function listConnectors(db: Queryable, workspaceId: WorkspaceId, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listConnectorRows(db, workspaceId, { before, limit: limit + 1 });
  const recipients = await readRecipients(db, workspaceId, rows.flatMap(addressesOf));
  return page.answer(rows, (row) => viewOf(row, recipients));
}

export type ConnectorView = ReturnType<typeof viewOf>;

/** What a connector of mail shows of itself are its addresses; none of them has a comma or a space in it. */
function addressesOf({ type, target }: queries.ConnectorRow): string[] {
  return type === 'email' ? target.split(', ') : [];
}

function viewOf(row: queries.ConnectorRow, found: readonly Recipient[]) {
  const { id, type, name, target, allProjects, enabled, disabledReason, lastDelivery } = row;
  return {
    id,
    type,
    name,
    events: [...row.events],
    allProjects,
    target,
    recipients: addressesOf(row).map((address) => ({
      address,
      status:
        found.find((each) => normaliseEmail(each.address) === normaliseEmail(address))?.status ?? 'pending',
    })),
    enabled,
    disabledReason,
    failingSince: row.failingSince?.toISOString() ?? null,
    lastDelivery: lastDelivery && { ...lastDelivery, at: new Date(lastDelivery.at).toISOString() },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export async function listDeliveries(db: Queryable, workspaceId: WorkspaceId, id: ConnectorId, page: Page) {
  await readConnector(db, workspaceId, id);
  const { before, limit } = page;
  const rows = await listDeliveryRows(db, workspaceId, id, { before, limit: limit + 1 });
  const notices = await readNotices(
    db,
    workspaceId,
    rows.flatMap(({ noticeId }) => noticeId ?? []),
  );
  const byId = new Map(notices.map((notice) => [notice.id, notice]));
  const time = (at: Date | null) => at?.toISOString() ?? null;
  return page.answer(rows, (row) => {
    const notice = row.noticeId === null ? undefined : byId.get(row.noticeId);
    const { event, status, attempts, answerStatus, latencyMs, detail, messageId } = row;
    return {
      id: row.id,
      event,
      status,
      attempts,
      answerStatus,
      latencyMs,
      detail,
      messageId,
      subject: notice ? { ...notice.subject } : null,
      projectId: notice?.projectId ?? null,
      environmentId: notice?.environmentId ?? null,
      createdAt: row.createdAt.toISOString(),
      attemptedAt: time(row.attemptedAt),
      finishedAt: time(row.finishedAt),
    };
  });
}
