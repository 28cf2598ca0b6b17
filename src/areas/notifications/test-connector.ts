/** A real message, sent while the caller waits, and exactly what the receiver answered to it. */
import { v7 } from 'uuid';
import { type ConnectorId, type NotificationDeliveryId, newId, type WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { testMessage } from './compose-message.ts';
import { insertTest } from './delivery-queries.ts';
import { wakeNow } from './lease-queries.ts';
import { shownDetail } from './note-result.ts';
import { type NotificationsContext, notFound } from './notifications.ts';
import * as queries from './queries.ts';
import { openConnector, sendOnce } from './send-by-connector.ts';

export interface TestResult {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly latencyMs: number;
  readonly detail: string;
}

export async function testConnector(
  ctx: NotificationsContext,
  workspaceId: WorkspaceId,
  id: ConnectorId,
  saveResponse: SaveResponse,
): Promise<Answer<TestResult>> {
  const row = await queries.findConfig(ctx.db, workspaceId, id);
  if (!row) throw notFound();
  const connector = await openConnector(ctx, { workspaceId, id }, row);
  const messageId = v7();
  const link = `${ctx.publicUrl().replace(/\/$/, '')}/api/v1/notification-connectors/${id}`;
  const message = testMessage(messageId, row.name, ctx.clock.now(), link);
  const begun = performance.now();
  const sent = await sendOnce(ctx, connector, message);
  const latencyMs = Math.round(performance.now() - begun);
  const delivered = sent.outcome === 'delivered';
  const detail = shownDetail(sent.detail, connector.secrets);
  return ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    // Deleted meanwhile: there is nothing to write it to.
    if (!(await queries.lockConnector(tx, workspaceId, id))) throw notFound();
    const status = delivered ? 'delivered' : sent.outcome === 'unknown' ? 'unknown' : 'failed';
    const delivery = { id: newId<NotificationDeliveryId>(), connectorId: id, messageId };
    const result = { status, answerStatus: sent.status, latencyMs, detail } as const;
    await insertTest(tx, workspaceId, delivery, result, now);
    if (delivered) await wakeNow(tx, workspaceId, id, now);
    return saveResponse(tx, { status: 200, body: { delivered, status: sent.status, latencyMs, detail } });
  });
}
