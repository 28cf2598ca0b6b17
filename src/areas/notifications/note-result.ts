/** What becomes of a delivery and of its connector after a try: done, tried again later, given up, or switched off. */
import { findConnectorKind, type Sent } from '../../adapters/connectors/connectors.ts';
import { after, day, hour, second } from '../../clock.ts';
import { redactWhole } from '../../remote/redact.ts';
import type { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { enqueueMail } from '../accounts/mail-outbox.ts';
import { ownersOf } from '../accounts/read-user.ts';
import * as deliveries from './delivery-queries.ts';
import * as leases from './lease-queries.ts';
import { type NotificationsContext, tellConnector } from './notifications.ts';
import type { Chosen } from './send-by-connector.ts';

const giveUpAfterMs = day;

export interface Tried {
  readonly sent: Sent;
  readonly latencyMs: number;
  readonly secrets: readonly Secret[];
}

/** Whether there may be more to send at once. */
export async function noteResult(
  ctx: NotificationsContext,
  lease: leases.Leased,
  { messageId, since, held }: Chosen,
  { sent, latencyMs, secrets }: Tried,
): Promise<boolean> {
  const { workspaceId, id } = lease;
  const now = ctx.clock.now();
  const canTellRepeats = findConnectorKind(held.type)?.canTellRepeats === true;
  const isOver = now.getTime() - since.getTime() >= giveUpAfterMs;
  const status = statusAfter(sent, canTellRepeats, isOver);
  const detail = shownDetail(sent.detail, secrets);
  const result = { status, answerStatus: sent.status, latencyMs, detail };
  let owesMail = false;
  const goesOn = await ctx.db.transaction(async (tx) => {
    const isOurs = (await leases.holdConnector(tx, lease, after(now, second))) !== undefined;
    await deliveries.setResult(tx, workspaceId, messageId, result, now);
    // Another instance has it by now, or it was deleted: the result is all that is ours to write.
    if (!isOurs) return false;
    if (sent.outcome === 'delivered') {
      await leases.setHealth(tx, lease, { failures: 0, failingSince: null });
      if (held.failures > 0) await tellConnector(tx, workspaceId, id, 'recovered');
      return true;
    }
    const failures = held.failures + 1;
    const failingSince = held.failingSince ?? now;
    await leases.setHealth(tx, lease, { failures, failingSince });
    const waitMs = Math.max(
      pauseMs(failures, Math.random),
      'retryAfterMs' in sent ? (sent.retryAfterMs ?? 0) : 0,
    );
    await leases.releaseConnector(tx, lease, after(now, waitMs));
    if (now.getTime() - failingSince.getTime() >= day) {
      await switchOff(tx, lease, held.name, detail, now);
      owesMail = true;
    } else if (failures === 1) await tellConnector(tx, workspaceId, id, 'failing');
    return false;
  });
  if (owesMail) ctx.wakeMail();
  return goesOn;
}

function statusAfter(
  sent: Sent,
  canTellRepeats: boolean,
  isOver: boolean,
): 'delivered' | 'failed' | 'unknown' | 'pending' {
  if (sent.outcome === 'delivered') return 'delivered';
  if (sent.outcome === 'refused') return sent.isFinal || isOver ? 'failed' : 'pending';
  return canTellRepeats && !isOver ? 'pending' : 'unknown';
}

/** Twice as long each time, up to an hour, and never the same for two that failed together. */
export function pauseMs(failures: number, random: () => number): number {
  const most = Math.min(second * 2 ** Math.min(failures, 20), hour);
  return Math.round(most / 2 + (most / 2) * random());
}

/** An answer may repeat what it was asked with. */
export function shownDetail(detail: string, secrets: readonly Secret[]): string {
  return redactWhole(Buffer.from(detail), secrets).toString('utf8');
}

async function switchOff(
  tx: Queryable,
  lease: leases.Leased,
  name: string,
  detail: string,
  now: Date,
): Promise<void> {
  const { workspaceId, id } = lease;
  await leases.disableConnector(tx, lease, `Nothing could be delivered for a day. ${detail}`, now);
  await deliveries.endOpen(tx, workspaceId, id, 'The connector was switched off.', now);
  for (const email of await ownersOf(tx, workspaceId))
    await enqueueMail(tx, 'connector_disabled', email, now, { name, detail });
  await tellConnector(tx, workspaceId, id, 'disabled');
}
