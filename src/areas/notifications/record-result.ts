/** Records the result of an attempt: delivered, retried later, given up, or the connector disabled. */
import { findConnectorKind, type Sent } from '../../adapters/connectors/connectors.ts';
import { after, day, hour, second } from '../../clock.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import type { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { enqueueMail } from '../accounts/mail-outbox.ts';
import { ownersOf } from '../accounts/read-user.ts';
import * as deliveries from './delivery-queries.ts';
import * as leases from './lease-queries.ts';
import { type NotificationsContext, publishConnectorUpdate } from './notifications.ts';

const giveUpAfterMs = day;

/** The message that is sent, with the connector as it was when it was chosen. */
export interface Chosen {
  readonly messageId: string;
  readonly noticeIds: readonly NonNullable<deliveries.PendingDelivery['noticeId']>[];
  readonly since: Date;
  readonly held: leases.LeasedConnector;
}

export interface Attempt {
  readonly sent: Sent;
  readonly latencyMs: number;
  readonly secrets: readonly Secret[];
}

/** Whether there may be more to send now. */
export async function recordResult(
  ctx: NotificationsContext,
  lease: leases.ConnectorLease,
  { messageId, since, held }: Chosen,
  { sent, latencyMs, secrets }: Attempt,
): Promise<boolean> {
  const { workspaceId, id } = lease;
  const now = ctx.clock.now();
  const canTellRepeats = findConnectorKind(held.type)?.canTellRepeats === true;
  const isOver = now.getTime() - since.getTime() >= giveUpAfterMs;
  const status = statusAfter(sent, canTellRepeats, isOver);
  const detail = redacted(sent.detail, secrets);
  const result = { status, answerStatus: sent.status, latencyMs, detail };
  let hasMail = false;
  const goesOn = await ctx.db.transaction(async (tx) => {
    const isOurs = (await leases.lockLeased(tx, lease, after(now, second))) !== undefined;
    await deliveries.setResult(tx, workspaceId, messageId, result, now);
    // Another instance has it by now, or it was deleted: the result is all that may be written.
    if (!isOurs) return false;
    // Nothing is wrong with it: as soon as somebody agrees, they get what comes then.
    if (sent.outcome === 'withheld') return true;
    if (sent.outcome === 'delivered') {
      await leases.setHealth(tx, lease, { failures: 0, failingSince: null });
      if (held.failures > 0) await publishConnectorUpdate(tx, workspaceId, id, 'recovered');
      return true;
    }
    const failures = held.failures + 1;
    const failingSince = held.failingSince ?? now;
    await leases.setHealth(tx, lease, { failures, failingSince });
    const waitMs = Math.max(
      backoffMs(failures, Math.random),
      'retryAfterMs' in sent ? (sent.retryAfterMs ?? 0) : 0,
    );
    await leases.releaseConnector(tx, lease, after(now, waitMs));
    if (now.getTime() - failingSince.getTime() >= day) {
      await disable(tx, lease, held.name, detail, now);
      hasMail = true;
    } else if (failures === 1) await publishConnectorUpdate(tx, workspaceId, id, 'failing');
    return false;
  });
  if (hasMail) ctx.wakeMail();
  return goesOn;
}

function statusAfter(
  sent: Sent,
  canTellRepeats: boolean,
  isOver: boolean,
): 'delivered' | 'failed' | 'unknown' | 'pending' {
  if (sent.outcome === 'delivered') return 'delivered';
  if (sent.outcome === 'withheld') return 'failed';
  if (sent.outcome === 'refused') return sent.isFinal || isOver ? 'failed' : 'pending';
  return canTellRepeats && !isOver ? 'pending' : 'unknown';
}

/** Twice as long each time, up to an hour, and never the same for two that failed together. */
export function backoffMs(failures: number, random: () => number): number {
  const most = Math.min(second * 2 ** Math.min(failures, 20), hour);
  return Math.round(most / 2 + (most / 2) * random());
}

/** A receiver may repeat the secrets of the request in its answer. */
export function redacted(detail: string, secrets: readonly Secret[]): string {
  return redactWhole(Buffer.from(detail), secrets).toString('utf8');
}

async function disable(
  tx: Queryable,
  lease: leases.ConnectorLease,
  name: string,
  detail: string,
  now: Date,
): Promise<void> {
  const { workspaceId, id } = lease;
  await leases.disableConnector(tx, lease, `Nothing could be delivered for a day. ${detail}`, now);
  await deliveries.endPending(tx, workspaceId, id, 'The connector was disabled.', now);
  for (const email of await ownersOf(tx, workspaceId))
    await enqueueMail(tx, 'connector_disabled', email, now, { name, detail });
  await publishConnectorUpdate(tx, workspaceId, id, 'disabled');
}
