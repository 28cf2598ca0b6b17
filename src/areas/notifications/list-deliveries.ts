/** What went out by a connector, and what became of it. */
import { readNotices } from '../../events/notices.ts';
import type { ConnectorId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import * as deliveries from './delivery-queries.ts';
import { readConnector } from './read-connectors.ts';

export async function listDeliveries(db: Queryable, workspaceId: WorkspaceId, id: ConnectorId, page: Page) {
  await readConnector(db, workspaceId, id);
  const { before, limit } = page;
  const rows = await deliveries.listDeliveries(db, workspaceId, id, { before, limit: limit + 1 });
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
