/**
 * The worker of this instance: claims operations, renews their leases, runs them, and releases them when it
 * stops. It polls when it is woken, and every few seconds anyway: a worker that crashed wakes nobody.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { errorText } from '../fault.ts';
import { Handover } from '../handover.ts';
import type { OperationId } from '../ids.ts';
import type { Database, Queryable } from '../store/database.ts';
import type { NotifyHandler } from '../store/listener.ts';
import type { BoundStep } from './definition.ts';
import { execute, faultOf } from './execution.ts';
import { Journal, type JournalHook } from './journal.ts';
import type { OperationKinds } from './kinds.ts';
import type { EndState } from './operations.ts';
import { type ClaimedOperation, claimNext, releaseLease, renewLeases } from './queries.ts';
import type { OperationQueue } from './queue.ts';

export interface RunnerOptions {
  readonly leaseMs: number;
  /** How often it polls for work that nobody woke it for. */
  readonly pollMs: number;
  /** On this instance at once. */
  readonly maxRunning: number;
  readonly perWorkspace: number;
  readonly perServer: number;
  readonly hook?: JournalHook;
  /** Called for every operation that ends here, with the time since it was requested. */
  readonly ended?: OnOperationEnd;
}

export type OnOperationEnd = (kind: string, state: EndState, seconds: number) => void;

/** After a crash a lease expires, then someone polls. Together well below fifteen seconds. */
export const defaultLeaseTimes = { leaseMs: 9_000, pollMs: 2_000 } as const;

/** Why a running operation is stopped. */
type StopReason = 'cancel' | 'handover' | 'lease lost';

interface Running {
  readonly operation: ClaimedOperation;
  /** Aborted for any reason; for all but a cancel; for the loss of the lease. */
  readonly stop: AbortController;
  readonly halt: AbortController;
  readonly lost: AbortController;
  ended: Promise<void>;
  readonly claimedAt: number;
  renewedAt: number;
}

/** After an error of ours, not of a step. */
const pauseAfterErrorMs = 5_000;

export class Runner implements NotifyHandler {
  readonly #db: Database;
  readonly #queue: OperationQueue;
  readonly #log: Logger;
  readonly #options: RunnerOptions;
  readonly #kinds: OperationKinds;
  readonly #running = new Map<OperationId, Running>();
  readonly #owner = randomUUID();
  readonly #timers: NodeJS.Timeout[] = [];
  #claiming = false;
  #again = false;
  #stopped = false;

  constructor(
    db: Database,
    kinds: OperationKinds,
    queue: OperationQueue,
    log: Logger,
    options: RunnerOptions,
  ) {
    this.#db = db;
    this.#kinds = kinds;
    this.#queue = queue;
    this.#log = log;
    this.#options = options;
  }

  start(): void {
    this.#timers.push(setInterval(() => this.poll(), this.#options.pollMs).unref());
    this.#timers.push(setInterval(() => void this.#renew(), this.#options.leaseMs / 3).unref());
    this.poll();
  }

  /** Aborts every step and releases the leases: another instance goes on at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    const running = [...this.#running.values()];
    for (const each of running) this.#abort(each, 'handover');
    await Promise.all(running.map((each) => each.ended));
  }

  onNotify(payload: string): void {
    const [word, id] = payload.split(' ');
    for (const [operationId, running] of this.#running) {
      if (word === 'cancel' && operationId === id) this.#abort(running, 'cancel');
    }
    this.poll();
  }

  onReconnect(): void {
    void this.#renew();
    this.poll();
  }

  /** Claims what is due, as long as there is capacity. */
  poll(): void {
    if (this.#stopped || this.#kinds.names.length === 0) return;
    this.#again = true;
    if (this.#claiming) return;
    this.#claiming = true;
    this.#claimAll()
      .catch((error) => {
        this.#again = false; // not at once: the next poll is at most a moment away
        this.#log.warn({ reason: errorText(error) }, 'could not claim work, trying again');
      })
      .finally(() => {
        this.#claiming = false;
        if (this.#again) this.poll();
      });
  }

  async #claimAll(): Promise<void> {
    const { leaseMs, perWorkspace, perServer, maxRunning } = this.#options;
    const claim = { owner: this.#owner, kinds: this.#kinds.names, leaseMs, perWorkspace, perServer };
    while (this.#again && !this.#stopped) {
      this.#again = false;
      while (this.#running.size < maxRunning && !this.#stopped) {
        const claimedAt = performance.now();
        const operation = await this.#db.transaction((tx) => claimNext(tx, claim));
        if (!operation) break;
        this.#run(operation, claimedAt);
      }
    }
  }

  #run(operation: ClaimedOperation, claimedAt: number): void {
    const earlier = this.#running.get(operation.id);
    if (earlier) this.#abort(earlier, 'lease lost');
    const [stop, halt, lost] = [new AbortController(), new AbortController(), new AbortController()];
    const running: Running = {
      operation,
      stop,
      halt,
      lost,
      ended: Promise.resolve(),
      claimedAt,
      renewedAt: claimedAt,
    };
    this.#running.set(operation.id, running);
    running.ended = (earlier?.ended ?? Promise.resolve()).then(() => this.#execute(running));
    if (operation.cancelRequested) this.#abort(running, 'cancel');
    if (this.#stopped) this.#abort(running, 'handover');
  }

  async #execute(running: Running): Promise<void> {
    const { operation, stop, halt, lost } = running;
    const { id, kind, epoch } = operation;
    let wakeAfterMs = 0;
    try {
      const journal = new Journal(
        this.#db,
        this.#kinds,
        operation,
        lost.signal,
        this.#options.hook ?? (() => undefined),
      );
      const steps = await this.#bind(operation, journal);
      const wake = (tx: Queryable, afterMs: number) => this.#queue.wake(tx, id, afterMs);
      const outcome = await execute({
        operation,
        steps,
        journal,
        stop: stop.signal,
        halt: halt.signal,
        wake,
      });
      if (outcome !== 'paused' && outcome !== 'given up') this.#reportEnd(running, outcome);
      this.#log.info({ operationId: id, kind, epoch, outcome }, 'operation');
    } catch (error) {
      if (error instanceof UnreadableInput) this.#reportEnd(running, 'failed');
      else {
        wakeAfterMs = pauseAfterErrorMs;
        this.#log.error(
          { operationId: id, kind, epoch, err: error },
          'an operation failed unexpectedly and is retried',
        );
      }
    } finally {
      await this.#release(operation, wakeAfterMs);
      if (this.#running.get(id) === running) this.#running.delete(id);
      this.poll();
    }
  }

  #reportEnd({ operation: { kind, ageSeconds }, claimedAt }: Running, state: EndState): void {
    this.#options.ended?.(kind, state, ageSeconds + (performance.now() - claimedAt) / 1_000);
  }

  /** An input that its kind cannot read will not become readable: the operation ends here. */
  async #bind(operation: ClaimedOperation, journal: Journal): Promise<readonly BoundStep[]> {
    try {
      return this.#kinds.get(operation.kind).bind(operation.input);
    } catch (error) {
      await journal.end('failed', faultOf(error, null));
      throw new UnreadableInput();
    }
  }

  /** Where the operation has ended, pauses or has passed on, this touches nothing. */
  async #release({ id, epoch }: ClaimedOperation, wakeAfterMs: number): Promise<void> {
    try {
      await this.#db.transaction(async (tx) => {
        if ((await releaseLease(tx, id, epoch, wakeAfterMs)) > 0) await this.#queue.wake(tx, id, wakeAfterMs);
      });
    } catch (error) {
      this.#log.warn(
        { operationId: id, reason: errorText(error) },
        'could not release a lease, it expires by itself',
      );
    }
  }

  async #renew(): Promise<void> {
    const held = [...this.#running.values()];
    if (held.length === 0) return;
    const askedAt = performance.now();
    try {
      const leases = held.map(({ operation }) => ({ id: operation.id, epoch: operation.epoch }));
      const kept = new Map(
        (await renewLeases(this.#db, leases, this.#options.leaseMs)).map((row) => [row.id, row]),
      );
      for (const each of held) {
        const row = kept.get(each.operation.id);
        if (!row) this.#abort(each, 'lease lost');
        else if (row.cancelRequested) this.#abort(each, 'cancel');
        each.renewedAt = askedAt;
      }
    } catch (error) {
      this.#log.warn({ reason: errorText(error) }, 'could not renew leases, trying again');
      for (const each of held) {
        if (askedAt - each.renewedAt > this.#options.leaseMs) this.#abort(each, 'lease lost');
      }
    }
  }

  #abort(running: Running, reason: StopReason): void {
    const why = reason === 'cancel' ? new Error(reason) : new Handover(reason);
    running.stop.abort(why);
    if (reason !== 'cancel') running.halt.abort(why);
    if (reason === 'lease lost') running.lost.abort(why);
  }
}

class UnreadableInput extends Error {}
