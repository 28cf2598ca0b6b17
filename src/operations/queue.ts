/**
 * The queue and the clock: pg-boss on our own PostgreSQL. A job is sent in the transaction that stores the work,
 * and only wakes a worker: the rows say what there is to do. Schedules fire once in the whole installation.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { actingAs } from '../events/audit.ts';
import { errorText } from '../fault.ts';
import type { OperationId } from '../ids.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { Listener } from '../store/listener.ts';

const wakeQueue = 'operations';
/** A wake-up takes a moment: one that a killed worker had in hand is cleared soon after. */
const wakeTimes = { expireInSeconds: 15, deleteAfterSeconds: 60 } as const;

export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly run: () => Promise<void>;
}

export class OperationQueue {
  readonly #db: Database;
  readonly #listener: Listener;
  readonly #log: Logger;
  readonly #schedules: Schedule[] = [];
  #starting: Promise<PgBoss> | undefined;
  #working: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor(db: Database, listener: Listener, log: Logger) {
    this.#db = db;
    this.#listener = listener;
    this.#log = log;
  }

  /** Loaded and started on first use, or after the service serves: the start does not wait for it. */
  #boss(): Promise<PgBoss> {
    this.#starting ??= this.#startBoss().catch((error) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #startBoss(): Promise<PgBoss> {
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      db: {
        executeSql: async (text, values) => ({ rows: await this.#db.raw(text, values) }),
        listen: async (channel, onNotify, onReconnect) => {
          await this.#listener.on(channel, { onNotify, onReconnect });
          return { close: async () => this.#listener.off(channel) };
        },
      },
      useListenNotify: true,
      superviseIntervalSeconds: 15,
    });
    boss.on('error', (error) => this.#log.warn({ reason: errorText(error) }, 'the queue had a problem'));
    await boss.start();
    await boss.createQueue(wakeQueue, { notify: true, retryLimit: 0, ...wakeTimes });
    return boss;
  }

  add(schedule: Schedule): void {
    this.#schedules.push(schedule);
  }

  /** `woken` is called when there may be something to do. Where the database is away, it tries again. */
  start(woken: () => void): Promise<void> {
    this.#working = this.#startUntilDone(woken);
    return this.#working;
  }

  async #startUntilDone(woken: () => void): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        return await this.#start(woken);
      } catch (error) {
        if (signal.aborted) return;
        this.#log.warn({ reason: errorText(error) }, 'the queue does not start, trying again');
        await sleep(1_000, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  async #start(woken: () => void): Promise<void> {
    const boss = await this.#boss();
    if (this.#stopping.signal.aborted) return;
    await boss.work(
      wakeQueue,
      { batchSize: 100, pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 30 },
      async () => woken(),
    );
    for (const { name, cron, timezone, run } of this.#schedules) {
      if (this.#stopping.signal.aborted) return;
      await boss.createQueue(name, { policy: 'short', retryLimit: 0 });
      await boss.work(name, { pollingIntervalSeconds: 30 }, () => actingAs({ kind: 'schedule', name }, run));
      await boss.schedule(name, cron, null, { tz: timezone });
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // What is still starting would run on, and look for work in a database that is closed: wait for it.
    await this.#working;
    // Where it cannot start there is nothing to stop.
    const boss = await this.#starting?.catch(() => undefined);
    // Its jobs only wake someone: there is nothing to finish.
    await boss?.stop({ graceful: false });
  }

  /** Part of the caller's transaction: the worker is woken by the commit, or not at all. */
  async wake(tx: Queryable, operationId: OperationId, afterMs = 0): Promise<void> {
    const boss = await this.#boss();
    const executeSql = async (text: string, values?: unknown[]) => ({ rows: await tx.raw(text, values) });
    const startAfter = afterMs > 0 ? { startAfter: new Date(Date.now() + afterMs) } : {};
    await boss.send(wakeQueue, { operationId }, { db: { executeSql }, ...startAfter });
  }
}
