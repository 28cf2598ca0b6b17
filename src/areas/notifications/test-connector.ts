/** Sends a real message while the caller waits, and answers with what the receiver answered. */
import { v7 } from 'uuid';
import { type ConnectorId, type NotificationDeliveryId, newId, type WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { testMessage } from './compose-message.ts';
import { insertTest } from './delivery-queries.ts';
import { resetHealth } from './lease-queries.ts';
import { connectorNotFound, type NotificationsContext } from './notifications.ts';
import * as queries from './queries.ts';
import { redacted } from './record-result.ts';
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
  const row = await queries.findConnectorConfig(ctx.db, workspaceId, id);
  if (!row) throw connectorNotFound();
  const connector = await openConnector(ctx, { workspaceId, id }, row);
  const messageId = v7();
  const link = `${ctx.publicUrl().replace(/\/$/, '')}/api/v1/notification-connectors/${id}`;
  const message = testMessage(messageId, row.name, ctx.clock.now(), link);
  const startedAt = performance.now();
  const sent = await sendOnce(ctx, connector, message);
  const latencyMs = Math.round(performance.now() - startedAt);
  const delivered = sent.outcome === 'delivered';
  const detail = redacted(sent.detail, connector.secrets);
  return ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    // Deleted meanwhile.
    if (!(await queries.lockConnector(tx, workspaceId, id))) throw connectorNotFound();
    const status = delivered ? 'delivered' : sent.outcome === 'unknown' ? 'unknown' : 'failed';
    const delivery = { id: newId<NotificationDeliveryId>(), connectorId: id, messageId };
    const result = { status, answerStatus: sent.status, latencyMs, detail } as const;
    await insertTest(tx, workspaceId, delivery, result, now);
    if (delivered) await resetHealth(tx, workspaceId, id, now);
    return saveResponse(tx, { status: 200, body: { delivered, status: sent.status, latencyMs, detail } });
  });
}
