/**
 * The worker of this instance: turns new notices into deliveries of the connectors that subscribe to them, and sends what
 * is pending. Woken by the database's notification of a notice, by time for what is retried, and regularly in any case.
 */
import { v7 } from 'uuid';
import { after, type Clock, day, minute, second } from '../../clock.ts';
import { claimNotices, pruneNotices } from '../../events/notices.ts';
import { errorText } from '../../fault.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Database } from '../../store/database.ts';
import type { NotifyHandler } from '../../store/listener.ts';
import { WakeLoop } from '../../wake-loop.ts';
import { findSubscriptions, insertDeliveries, pruneDeliveries } from './delivery-queries.ts';
import { type ConnectorLease, leaseConnector, nextWake, releaseConnector } from './lease-queries.ts';
import type { NotificationsContext } from './notifications.ts';
import { leaseMs, sendByConnector } from './send-by-connector.ts';

const maxNotices = 100;
/** Connectors that send at the same time: one that is slow keeps no other waiting. */
const maxConnectors = 8;
const pollMs = 5 * second;

export class Deliveries implements NotifyHandler {
  readonly #ctx: NotificationsContext;
  readonly #loop = new WakeLoop(() => this.#round());
  readonly #sending = new Set<Promise<void>>();

  constructor(ctx: NotificationsContext) {
    this.#ctx = ctx;
  }

  start(): void {
    this.#loop.start();
  }

  onNotify(): void {
    this.#loop.wake();
  }

  onReconnect(): void {
    this.#loop.wake();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Waits for what is being sent; the rest is sent by another instance, or after the next start. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#sending);
  }

  async #round(): Promise<number> {
    try {
      while (!this.#loop.isStopped && (await fanOut(this.#ctx)));
      while (!this.#loop.isStopped && this.#sending.size < maxConnectors && (await this.#sendNext()));
      return await this.#untilNext();
    } catch (error) {
      this.#ctx.log.warn({ reason: errorText(error) }, 'could not read notices, trying again');
      return pollMs;
    }
  }

  async #untilNext(): Promise<number> {
    if (this.#sending.size >= maxConnectors) return pollMs;
    const next = await nextWake(this.#ctx.db);
    const ms = next ? next.getTime() - this.#ctx.clock.now().getTime() : pollMs;
    return Math.min(Math.max(ms, 20), pollMs);
  }

  async #sendNext(): Promise<boolean> {
    const { db, clock } = this.#ctx;
    const now = clock.now();
    const lease = await leaseConnector(db, v7(), now, after(now, leaseMs));
    if (!lease) return false;
    const work: Promise<void> = this.#send(lease).finally(() => {
      this.#sending.delete(work);
      this.wake();
    });
    this.#sending.add(work);
    return true;
  }

  async #send(lease: ConnectorLease): Promise<void> {
    try {
      await sendByConnector(this.#ctx, lease, () => this.#loop.isStopped);
    } catch (error) {
      const { db, clock, log } = this.#ctx;
      log.error({ connectorId: lease.id, reason: errorText(error) }, 'could not send by a connector');
      // Where this fails too, the lease expires by itself.
      await releaseConnector(db, lease, after(clock.now(), minute)).catch((again: unknown) =>
        log.warn({ connectorId: lease.id, reason: errorText(again) }, 'could not release a connector'),
      );
    }
  }
}

/** Whether there may be more of them. */
async function fanOut({ db, clock }: NotificationsContext): Promise<boolean> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const notices = await claimNotices(tx, now, maxNotices);
    if (notices.length === 0) return false;
    const subscriptions = await findSubscriptions(tx, notices);
    if (subscriptions.length > 0) await insertDeliveries(tx, subscriptions, now);
    return notices.length === maxNotices;
  });
}

/** Every hour: deletes notices, and deliveries with what receivers answered, after their retention. */
export function pruneNotificationsSchedule(ctx: { db: Database; clock: Clock }, keepDays: number): Schedule {
  return {
    name: 'tidy-notices',
    cron: '23 * * * *',
    timezone: 'UTC',
    run: () => pruneNotifications(ctx, keepDays),
  };
}

export async function pruneNotifications(
  { db, clock }: { db: Database; clock: Clock },
  keepDays: number,
): Promise<void> {
  const before = after(clock.now(), -keepDays * day);
  await pruneDeliveries(db, before);
  await pruneNotices(db, before);
}
