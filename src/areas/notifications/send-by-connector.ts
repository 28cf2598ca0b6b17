/**
 * Sends what waits for one connector, message after message, while its lease is ours. What is about to be sent is
 * written down before, and how it ended after: who comes later knows what may have arrived.
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
import * as deliveries from './delivery-queries.ts';
import * as leases from './lease-queries.ts';
import { noteResult } from './note-result.ts';
import { configPlace, type NotificationsContext } from './notifications.ts';

export const leaseMs = 20 * second;
const renewMs = 5 * second;
const sendLimitMs = 30 * second;
/** So many messages in this time go out one by one; what comes beyond is gathered for a while and told together. */
const burst = { windowMs: 30 * second, messages: 5, gatherMs: 10 * second, most: 50 } as const;

/** Until nothing is left, or it has to wait. */
export async function sendByConnector(
  ctx: NotificationsContext,
  lease: leases.Leased,
  isStopping: () => boolean,
): Promise<void> {
  for (;;) {
    const chosen = isStopping() ? await giveBack(ctx, lease) : await choose(ctx, lease);
    if (!chosen) return;
    const canGoOn = await sendOne(ctx, lease, chosen);
    if (!canGoOn) return;
  }
}

async function giveBack(ctx: NotificationsContext, lease: leases.Leased): Promise<undefined> {
  await leases.releaseConnector(ctx.db, lease, ctx.clock.now());
  return undefined;
}

export interface Chosen {
  readonly messageId: string;
  readonly noticeIds: readonly NonNullable<deliveries.OpenDelivery['noticeId']>[];
  readonly since: Date;
  readonly held: leases.HeldConnector;
}

/** The next message; undefined where there is none now, and the connector is given back. */
function choose(ctx: NotificationsContext, lease: leases.Leased): Promise<Chosen | undefined> {
  const { workspaceId, id } = lease;
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const held = await leases.holdConnector(tx, lease, after(now, leaseMs));
    if (!held) return undefined;
    let open = await deliveries.listOpen(tx, workspaceId, id, burst.most);
    const cut = open.filter(({ status }) => status === 'sending');
    if (cut.length > 0 && findConnectorKind(held.type)?.canTellRepeats !== true) {
      await noteCutOff(tx, workspaceId, cut, now);
      open = open.filter(({ status }) => status !== 'sending');
    }
    const [first] = open;
    if (!first) {
      await leases.releaseConnector(tx, lease, null);
      return undefined;
    }
    const taken = first.messageId === null ? await gather(tx, lease, open, now) : sameMessage(open, first);
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

/** A try that was cut off in the middle, to a receiver that could not tell a repeat: nobody knows, and that is said. */
async function noteCutOff(
  tx: Parameters<typeof deliveries.setResult>[0],
  workspaceId: leases.Leased['workspaceId'],
  cut: readonly deliveries.OpenDelivery[],
  now: Date,
): Promise<void> {
  const detail =
    'The service was cut off while it was sending. It may have arrived, so it is not sent again.';
  const result = { status: 'unknown', answerStatus: null, latencyMs: null, detail } as const;
  for (const messageId of new Set(cut.flatMap((each) => each.messageId ?? [])))
    await deliveries.setResult(tx, workspaceId, messageId, result, now);
}

function sameMessage(open: readonly deliveries.OpenDelivery[], first: deliveries.OpenDelivery) {
  return open.filter(({ messageId }) => messageId === first.messageId);
}

/** One by one while they are few; together where they are many. Undefined: a little later, when more have come. */
async function gather(
  tx: Parameters<typeof deliveries.countRecent>[0],
  lease: leases.Leased,
  open: readonly deliveries.OpenDelivery[],
  now: Date,
): Promise<readonly deliveries.OpenDelivery[] | undefined> {
  const fresh = open.filter(({ messageId }) => messageId === null);
  const since = after(now, -burst.windowMs);
  const recent = await deliveries.countRecent(tx, lease.workspaceId, lease.id, since);
  if (recent < burst.messages) return fresh.length > burst.messages ? fresh : fresh.slice(0, 1);
  const oldest = fresh[0]?.createdAt ?? now;
  const ready = after(oldest, burst.gatherMs);
  if (ready <= now || fresh.length >= burst.most) return fresh;
  await leases.releaseConnector(tx, lease, ready);
  return undefined;
}

/** Whether there may be more to send at once. */
async function sendOne(ctx: NotificationsContext, lease: leases.Leased, chosen: Chosen): Promise<boolean> {
  const { db, clock } = ctx;
  const { workspaceId } = lease;
  const { messageId, noticeIds } = chosen;
  const message = await composeMessage(ctx, messageId, await readNotices(db, workspaceId, noticeIds));
  const connector = await openConnector(ctx, lease, chosen.held);
  if (!message) {
    const detail = 'What it told of is gone.';
    const result = { status: 'failed', answerStatus: null, latencyMs: null, detail } as const;
    await deliveries.setResult(db, workspaceId, messageId, result, clock.now());
    return true;
  }
  // Last before the request: the shorter the time in which nobody knows, the better.
  const isOurs = await db.transaction(async (tx) => {
    const held = await leases.holdConnector(tx, lease, after(clock.now(), leaseMs));
    if (!held?.enabled) return false;
    return (await deliveries.setSending(tx, workspaceId, messageId, clock.now())) > 0;
  });
  if (!isOurs) {
    await leases.releaseConnector(db, lease, clock.now());
    return false;
  }
  const begun = performance.now();
  const sent = await whileRenewing(ctx, lease, () => sendOnce(ctx, connector, message));
  const latencyMs = Math.round(performance.now() - begun);
  return noteResult(ctx, lease, chosen, { sent, latencyMs, secrets: connector.secrets });
}

/** What nobody foresaw is an end too: nobody knows whether it was sent, and it counts as a try. */
export async function sendOnce(
  { log }: Pick<NotificationsContext, 'log'>,
  connector: Connector,
  message: Message,
): Promise<Sent> {
  try {
    return await connector.send(message, AbortSignal.timeout(sendLimitMs));
  } catch (error) {
    log.error({ err: error, messageId: message.id }, 'a connector failed in a way of its own');
    return { outcome: 'unknown', status: null, detail: 'Something failed on our side while it was sent.' };
  }
}

export async function openConnector(
  ctx: Pick<NotificationsContext, 'db' | 'sealer' | 'ways'>,
  { workspaceId, id }: Pick<leases.Leased, 'workspaceId' | 'id'>,
  { type, configSealed }: Pick<leases.HeldConnector, 'type' | 'configSealed'>,
): Promise<Connector> {
  const kind = findConnectorKind(type);
  if (!kind) throw new Error(`there is no kind of connector called ${type}`);
  const kept = await ctx.sealer.open(ctx.db, configPlace(workspaceId, id), configSealed);
  return kind.open(kept.reveal(), ctx.ways);
}

/** Keeps the lease for as long as the work takes. */
async function whileRenewing<T>(
  ctx: NotificationsContext,
  lease: leases.Leased,
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const renewing = (async () => {
    for (;;) {
      await sleep(renewMs, undefined, { signal: done.signal, ref: false });
      await leases.extendLease(ctx.db, lease, after(ctx.clock.now(), leaseMs));
    }
  })().catch((error: unknown) => {
    // A lease that could not be kept shows when the result is written; the end of the work ends this too.
    if (!done.signal.aborted) ctx.log.warn({ err: error }, 'could not keep the lease of a connector');
  });
  try {
    return await work();
  } finally {
    done.abort();
    await renewing;
  }
}
