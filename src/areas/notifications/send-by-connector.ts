/**
 * Sends what is pending for one connector, message after message, while its lease is ours. That it is being sent is
 * stored before, and how it ended after: so it is known after a crash what may have arrived.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import {
  type Connector,
  findConnectorKind,
  type Message,
  type Sent,
} from '../../adapters/connectors/connectors.ts';
import { after, second } from '../../clock.ts';
import { readNotices } from '../../events/notices.ts';
import { composeMessage } from './compose-message.ts';
import { transportsOf } from './consenting-mail.ts';
import * as deliveries from './delivery-queries.ts';
import * as leases from './lease-queries.ts';
import { configPlace, type NotificationsContext } from './notifications.ts';
import { type Chosen, recordResult } from './record-result.ts';

export const leaseMs = 20 * second;
const renewMs = 5 * second;
const sendTimeoutMs = 30 * second;
/** So many messages in this time are sent one by one; what comes beyond is gathered for a while and sent as one. */
const burst = { windowMs: 30 * second, messages: 5, gatherMs: 10 * second, most: 50 } as const;

/** Until nothing is left, or it has to wait. */
export async function sendByConnector(
  ctx: NotificationsContext,
  lease: leases.ConnectorLease,
  isStopping: () => boolean,
): Promise<void> {
  for (;;) {
    const chosen = isStopping() ? await release(ctx, lease) : await choose(ctx, lease);
    if (!chosen) return;
    const canGoOn = await sendOne(ctx, lease, chosen);
    if (!canGoOn) return;
  }
}

async function release(ctx: NotificationsContext, lease: leases.ConnectorLease): Promise<undefined> {
  await leases.releaseConnector(ctx.db, lease, ctx.clock.now());
  return undefined;
}

/** The next message; undefined where there is none now, and the lease is released. */
function choose(ctx: NotificationsContext, lease: leases.ConnectorLease): Promise<Chosen | undefined> {
  const { workspaceId, id } = lease;
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const held = await leases.lockLeased(tx, lease, after(now, leaseMs));
    if (!held) return undefined;
    let pending = await deliveries.listPending(tx, workspaceId, id, burst.most);
    const interrupted = pending.filter(({ status }) => status === 'sending');
    if (interrupted.length > 0 && findConnectorKind(held.type)?.canTellRepeats !== true) {
      await recordInterrupted(tx, workspaceId, interrupted, now);
      pending = pending.filter(({ status }) => status !== 'sending');
    }
    const [first] = pending;
    if (!first) {
      await leases.releaseConnector(tx, lease, null);
      return undefined;
    }
    const taken =
      first.messageId === null ? await gather(tx, lease, pending, now) : sameMessage(pending, first);
    if (!taken) return undefined;
    const messageId = first.messageId ?? v7();
    if (first.messageId === null)
      await deliveries.setMessage(
        tx,
        workspaceId,
        taken.map((each) => each.id),
        messageId,
      );
    const noticeIds = taken.flatMap(({ noticeId }) => noticeId ?? []);
    return { messageId, noticeIds, since: first.createdAt, held };
  });
}

/** An attempt that was interrupted, to a receiver that could not detect a repeat: whether it arrived is unknown. */
async function recordInterrupted(
  tx: Parameters<typeof deliveries.setResult>[0],
  workspaceId: leases.ConnectorLease['workspaceId'],
  interrupted: readonly deliveries.PendingDelivery[],
  now: Date,
): Promise<void> {
  const detail =
    'The service was interrupted while it was sending. It may have arrived, so it is not sent again.';
  const result = { status: 'unknown', answerStatus: null, latencyMs: null, detail } as const;
  for (const messageId of new Set(interrupted.flatMap((each) => each.messageId ?? [])))
    await deliveries.setResult(tx, workspaceId, messageId, result, now);
}

function sameMessage(pending: readonly deliveries.PendingDelivery[], first: deliveries.PendingDelivery) {
  return pending.filter(({ messageId }) => messageId === first.messageId);
}

/** One by one while they are few; together where they are many. Undefined: later, when more have come. */
async function gather(
  tx: Parameters<typeof deliveries.countRecent>[0],
  lease: leases.ConnectorLease,
  pending: readonly deliveries.PendingDelivery[],
  now: Date,
): Promise<readonly deliveries.PendingDelivery[] | undefined> {
  const fresh = pending.filter(({ messageId }) => messageId === null);
  const since = after(now, -burst.windowMs);
  const recent = await deliveries.countRecent(tx, lease.workspaceId, lease.id, since);
  if (recent < burst.messages) return fresh.length > burst.messages ? fresh : fresh.slice(0, 1);
  const oldest = fresh[0]?.createdAt ?? now;
  const ready = after(oldest, burst.gatherMs);
  if (ready <= now || fresh.length >= burst.most) return fresh;
  await leases.releaseConnector(tx, lease, ready);
  return undefined;
}

/** Whether there may be more to send now. */
async function sendOne(
  ctx: NotificationsContext,
  lease: leases.ConnectorLease,
  chosen: Chosen,
): Promise<boolean> {
  const { db, clock } = ctx;
  const { workspaceId } = lease;
  const { messageId, noticeIds } = chosen;
  const message = await composeMessage(ctx, messageId, await readNotices(db, workspaceId, noticeIds));
  const connector = await openConnector(ctx, lease, chosen.held);
  if (!message) {
    const detail = 'Its notices do not exist any more.';
    const result = { status: 'failed', answerStatus: null, latencyMs: null, detail } as const;
    await deliveries.setResult(db, workspaceId, messageId, result, clock.now());
    return true;
  }
  // Last before the request: the shorter the time in which its result is unknown, the better.
  const isOurs = await db.transaction(async (tx) => {
    const held = await leases.lockLeased(tx, lease, after(clock.now(), leaseMs));
    if (!held?.enabled) return false;
    return (await deliveries.setSending(tx, workspaceId, messageId, clock.now())) > 0;
  });
  if (!isOurs) {
    await leases.releaseConnector(db, lease, clock.now());
    return false;
  }
  const startedAt = performance.now();
  const sent = await whileRenewing(ctx, lease, () => sendOnce(ctx, connector, message));
  const latencyMs = Math.round(performance.now() - startedAt);
  return recordResult(ctx, lease, chosen, { sent, latencyMs, secrets: connector.secrets });
}

/** An unexpected error is a result too: whether it was sent is unknown, and it counts as an attempt. */
export async function sendOnce(
  { log }: Pick<NotificationsContext, 'log'>,
  connector: Connector,
  message: Message,
): Promise<Sent> {
  try {
    return await connector.send(message, AbortSignal.timeout(sendTimeoutMs));
  } catch (error) {
    log.error({ err: error, messageId: message.id }, 'a connector failed unexpectedly');
    return { outcome: 'unknown', status: null, detail: 'Something failed on our side while it was sent.' };
  }
}

export async function openConnector(
  ctx: NotificationsContext,
  { workspaceId, id }: Pick<leases.ConnectorLease, 'workspaceId' | 'id'>,
  { type, configSealed }: Pick<leases.LeasedConnector, 'type' | 'configSealed'>,
): Promise<Connector> {
  const kind = findConnectorKind(type);
  if (!kind) throw new Error(`unknown kind of connector: ${type}`);
  const config = await ctx.sealer.open(ctx.db, configPlace(workspaceId, id), configSealed);
  return kind.open(config.reveal(), transportsOf(ctx, workspaceId));
}

/** Renews the lease for as long as the work takes. */
async function whileRenewing<T>(
  ctx: NotificationsContext,
  lease: leases.ConnectorLease,
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const renewing = (async () => {
    for (;;) {
      await sleep(renewMs, undefined, { signal: done.signal, ref: false });
      await leases.extendLease(ctx.db, lease, after(ctx.clock.now(), leaseMs));
    }
  })().catch((error: unknown) => {
    // A lease that was lost shows when the result is recorded; the end of the work ends this too.
    if (!done.signal.aborted) ctx.log.warn({ err: error }, 'could not renew the lease of a connector');
  });
  try {
    return await work();
  } finally {
    done.abort();
    await renewing;
  }
}
