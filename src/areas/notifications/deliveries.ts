/**
 * The worker of this instance: hands new notices to the connectors that listen, and sends what waits. Woken by the
 * notification that comes with a notice, by its own clock for what is tried again, and now and then in any case.
 */
import { v7 } from 'uuid';
import { after, minute, second } from '../../clock.ts';
import { claimNotices } from '../../events/notices.ts';
import { errorText } from '../../fault.ts';
import type { NotifyHandler } from '../../store/listener.ts';
import { findListening, insertDeliveries } from './delivery-queries.ts';
import { type Leased, nextWake, releaseConnector, takeConnector } from './lease-queries.ts';
import type { NotificationsContext } from './notifications.ts';
import { leaseMs, sendByConnector } from './send-by-connector.ts';

const noticesAtOnce = 100;
/** Connectors at work at the same time: one that is slow keeps no other waiting. */
const connectorsAtOnce = 8;
const lookAnywayMs = 5 * second;

export class Deliveries implements NotifyHandler {
  readonly #ctx: NotificationsContext;
  readonly #busy = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #started = false;
  #stopped = false;

  constructor(ctx: NotificationsContext) {
    this.#ctx = ctx;
  }

  start(): void {
    this.#started = true;
    this.wake();
  }

  onNotify(): void {
    this.wake();
  }

  onReconnect(): void {
    this.wake();
  }

  wake(): void {
    this.#again = true;
    if (!this.#started || this.#stopped || this.#running) return;
    this.#running = this.#look().finally(() => {
      this.#running = undefined;
      if (this.#again) this.wake();
    });
  }

  /** Waits for what is being sent; the rest is sent by whoever looks next. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    await Promise.all(this.#busy);
  }

  async #look(): Promise<void> {
    let waitMs: number = lookAnywayMs;
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        while (!this.#stopped && (await handOn(this.#ctx)));
        while (!this.#stopped && this.#busy.size < connectorsAtOnce && (await this.#sendNext()));
        waitMs = await this.#untilNext();
      } catch (error) {
        this.#ctx.log.warn({ reason: errorText(error) }, 'could not look for notices, trying again');
      }
    }
    clearTimeout(this.#timer);
    if (!this.#stopped) this.#timer = setTimeout(() => this.wake(), waitMs).unref();
  }

  async #untilNext(): Promise<number> {
    if (this.#busy.size >= connectorsAtOnce) return lookAnywayMs;
    const next = await nextWake(this.#ctx.db);
    const ms = next ? next.getTime() - this.#ctx.clock.now().getTime() : lookAnywayMs;
    return Math.min(Math.max(ms, 20), lookAnywayMs);
  }

  async #sendNext(): Promise<boolean> {
    const { db, clock } = this.#ctx;
    const now = clock.now();
    const lease = await takeConnector(db, v7(), now, after(now, leaseMs));
    if (!lease) return false;
    const work: Promise<void> = this.#send(lease).finally(() => {
      this.#busy.delete(work);
      this.wake();
    });
    this.#busy.add(work);
    return true;
  }

  async #send(lease: Leased): Promise<void> {
    try {
      await sendByConnector(this.#ctx, lease, () => this.#stopped);
    } catch (error) {
      const { db, clock, log } = this.#ctx;
      log.error({ connectorId: lease.id, reason: errorText(error) }, 'could not send by a connector');
      // Whoever looks then finds it as it is. Where this fails too, the lease runs out by itself.
      await releaseConnector(db, lease, after(clock.now(), minute)).catch((again: unknown) =>
        log.warn({ connectorId: lease.id, reason: errorText(again) }, 'could not give a connector back'),
      );
    }
  }
}

/** Whether there may be more of them. */
async function handOn({ db, clock }: NotificationsContext): Promise<boolean> {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const notices = await claimNotices(tx, now, noticesAtOnce);
    if (notices.length === 0) return false;
    const listening = await findListening(tx, notices);
    if (listening.length > 0) await insertDeliveries(tx, listening, now);
    return notices.length === noticesAtOnce;
  });
}
