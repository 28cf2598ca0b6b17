/**
 * The journal of one operation, as its worker writes it. Every write is one transaction that first asserts the lease: a
 * worker that lost it gets `LeaseLost` and has written nothing. That a step is done waits for the entry that follows at
 * once: nothing happens in between, so that one write tells both. So does the beginning of the operation, and a step that
 * is rows alone is done in it, too.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { News, OperationEvent, OperationStatus } from '../events/event-kinds.ts';
import { appendEvents } from '../events/events.ts';
import { Fault } from '../fault.ts';
import type { Database, Queryable } from '../store/database.ts';
import { fragment, sql } from '../store/sql.ts';
import type { EndState, Json, OperationFault, StateChange } from './definition.ts';
import type { OperationKinds } from './kinds.ts';
import { publishOperationUpdate } from './operations.ts';
import { assertLease, type ClaimedOperation, LeaseLost } from './queries.ts';

export type StepStatus = 'running' | 'waiting' | 'done' | 'failed' | 'undoing' | 'undone';

export interface JournalRow {
  readonly name: string;
  readonly status: StepStatus;
  readonly attempt: number;
  readonly output: Json | null;
  /** How often a worker stopped without a word while the step was in this status. */
  readonly crashes: number;
}

/** Called around every write of a journal: the tests kill the process there. */
export type JournalHook = (moment: 'before' | 'after', entry: string, operation: ClaimedOperation) => void;

/** What the users are told with a write, in the order in which feeds are always locked: the operation's, the workspace's. */
interface Told {
  readonly events: News<OperationEvent>[];
  status?: OperationStatus;
}

interface Entry {
  readonly name: string;
  readonly write: (tx: Queryable, told: Told) => Promise<void>;
  /** Of a step that is rows alone, called once it is written. */
  readonly onRowsWritten?: () => void;
}

/** Nothing was written, because of the rows of a step. They are not tried again with what is written next. */
export class RowsFailed extends Error {}

const released = fragment`lease_until = null, lease_owner = null`;

export class Journal {
  readonly #db: Database;
  readonly #operation: ClaimedOperation;
  readonly #lost: AbortSignal;
  readonly #hook: JournalHook;
  readonly #kinds: OperationKinds;
  #waiting: readonly Entry[] = [];

  constructor(
    db: Database,
    kinds: OperationKinds,
    operation: ClaimedOperation,
    lost: AbortSignal,
    hook: JournalHook,
  ) {
    this.#db = db;
    this.#kinds = kinds;
    this.#operation = operation;
    this.#lost = lost;
    this.#hook = hook;
  }

  read(): Promise<JournalRow[]> {
    return this.#db.rows<JournalRow>(sql`
      select name, status, attempt, output, crashes from operation_steps
      where workspace_id = ${this.#operation.workspaceId} and operation_id = ${this.#operation.id}
      order by place`);
  }

  /** With what follows: its first step, or the turn back. */
  start(): void {
    const { id } = this.#operation;
    const write: Entry['write'] = async (tx, told) => {
      await tx.run(sql`
        update operations set state = 'running', started_at = coalesce(started_at, now()) where id = ${id}`);
      await this.#onStateChange(tx, { state: 'running', step: null });
      told.events.push({ kind: 'status', data: { status: 'running' } });
      told.status = 'running';
    };
    this.#waiting = [...this.#waiting, { name: 'begun', write }];
  }

  /** Begins a post-commit step: false where a cancel came first. From then on none can come any more. */
  async beginPostCommit(name: string, place: number, attempt: number): Promise<boolean> {
    const { id } = this.#operation;
    let isWanted = false;
    await this.#write(`${name} running`, async (tx, told) => {
      isWanted = await tx.exists(sql`
    select 1 from operations where id = ${id} and cancel_requested_at is null`);
      if (isWanted) await this.#step(tx, told, name, place, 'running', attempt);
    });
    return isWanted;
  }

  step(name: string, place: number, status: Exclude<StepStatus, 'done'>, attempt: number): Promise<void> {
    return this.#write(`${name} ${status}`, (tx, told) => this.#step(tx, told, name, place, status, attempt));
  }

  /** With what follows: the next step, or the end. And with the last that the step has said. */
  done(
    name: string,
    place: number,
    attempt: number,
    output: Json,
    said: readonly News<OperationEvent>[],
  ): void {
    const write: Entry['write'] = async (tx, told) => {
      await this.#append(tx, said);
      await this.#step(tx, told, name, place, 'done', attempt, output);
    };
    this.#waiting = [...this.#waiting, { name: `${name} done`, write }];
  }

  /** A step that is rows alone, from its beginning to its end: with what follows, as an end is. */
  rows(
    name: string,
    place: number,
    work: (tx: Queryable) => Promise<Json | undefined>,
    onWritten: (output: Json) => void,
  ): void {
    let output: Json = null;
    const begin: Entry['write'] = async (tx, told) => {
      await this.#step(tx, told, name, place, 'running', 1);
      output = (await work(tx)) ?? null;
    };
    const end: Entry['write'] = (tx, told) => this.#step(tx, told, name, place, 'done', 1, output);
    this.#waiting = [
      ...this.#waiting,
      { name: `${name} running`, write: begin, onRowsWritten: () => onWritten(output) },
      { name: `${name} done`, write: end, onRowsWritten: () => undefined },
    ];
  }

  /** For a worker that stops here: what is done need not be done again by the next one. */
  async flush(): Promise<void> {
    if (this.#waiting.length > 0) await this.#writeAll([]);
  }

  async #step(
    tx: Queryable,
    told: Told,
    name: string,
    place: number,
    status: StepStatus,
    attempt: number,
    output?: Json,
  ) {
    const { id, workspaceId } = this.#operation;
    const kept = output === undefined ? null : JSON.stringify(output);
    const ended = status === 'done' || status === 'failed' || status === 'undone';
    await tx.run(sql`
      with written as (
        insert into operation_steps as s (workspace_id, operation_id, name, place, status, attempt, output, started_at, finished_at)
        values (${workspaceId}, ${id}, ${name}, ${place}, ${status}, ${attempt}, ${kept}::jsonb, now(),
          case when ${ended} then now() end)
        on conflict (operation_id, name) do update set
          status = excluded.status, attempt = excluded.attempt,
          output = coalesce(excluded.output, s.output),
          crashes = case when excluded.status = s.status then s.crashes else 0 end,
          started_at = case when excluded.status = 'running' then now() else s.started_at end,
          finished_at = excluded.finished_at
      )
      update operations set step = ${name}, progress = null where id = ${id}`);
    if (status === 'running') await this.#onStateChange(tx, { state: 'running', step: name });
    told.events.push({
      kind: 'status',
      data: { status: 'running', step: name, stepStatus: status, attempt },
    });
  }

  /** Waits before a retry; the lease is released meanwhile. */
  pause(
    name: string,
    place: number,
    attempt: number,
    waitMs: number,
    wake: (tx: Queryable) => Promise<void>,
  ) {
    const { id, workspaceId } = this.#operation;
    return this.#write(`${name} waiting`, async (tx, told) => {
      await tx.run(sql`
        update operation_steps set status = 'waiting', attempt = ${attempt}
        where workspace_id = ${workspaceId} and operation_id = ${id} and name = ${name} and place = ${place}`);
      await tx.run(sql`
        update operations set ${released},
          wake_at = now() + ${Math.round(waitMs)}::int * interval '1 millisecond'
        where id = ${id}`);
      await wake(tx);
      const data = {
        status: 'running',
        step: name,
        stepStatus: 'waiting',
        attempt,
        waitMs: Math.round(waitMs),
      } as const;
      told.events.push({ kind: 'status', data });
    });
  }

  /** From here on steps are undone; `how` is how it will end. */
  beginUnwind(how: 'failed' | 'cancelled', fault: OperationFault | null): Promise<void> {
    return this.#write(`turn ${how}`, async (tx, told) => {
      await tx.run(sql`
        update operations set unwinding = ${how}, fault = ${fault === null ? null : JSON.stringify(fault)}::jsonb
        where id = ${this.#operation.id}`);
      told.events.push({ kind: 'status', data: { status: 'running', unwinding: how } });
    });
  }

  /** False where a cancel came before the end: it is honoured, although every step was done. */
  async succeed(result: Json | null): Promise<boolean> {
    let ended = false;
    await this.#write('succeeded', async (tx, told) => {
      const touched = await tx.run(sql`
        update operations set state = 'succeeded', finished_at = now(), ${released},
          step = null, progress = null, result = ${JSON.stringify(result)}::jsonb
        where id = ${this.#operation.id} and cancel_requested_at is null`);
      ended = touched > 0;
      if (!ended) return;
      await this.#onStateChange(tx, { state: 'succeeded' });
      tellEnd(told, { status: 'succeeded' });
    });
    return ended;
  }

  end(state: 'failed' | 'cancelled', fault: OperationFault | null): Promise<void> {
    return this.#write(state, async (tx, told) => {
      await tx.run(sql`
        update operations set state = ${state}, finished_at = now(), ${released},
          progress = null, fault = ${fault === null ? null : JSON.stringify(fault)}::jsonb
        where id = ${this.#operation.id}`);
      await this.#onStateChange(tx, { state, fault });
      tellEnd(told, { status: state, ...(fault ? { fault } : {}) });
    });
  }

  /** Log lines and progress: many, so they are written together and are no journal points. */
  report(events: readonly News<OperationEvent>[], progress: Json | undefined): Promise<void> {
    return this.#fenced(async (tx) => {
      if (progress !== undefined) {
        await tx.run(sql`
          update operations set progress = ${JSON.stringify(progress)}::jsonb where id = ${this.#operation.id}`);
      }
      await this.#append(tx, events);
    });
  }

  #append(tx: Queryable, events: readonly News<OperationEvent>[]): Promise<void> {
    const { workspaceId } = this.#operation;
    return appendEvents<OperationEvent>(
      tx,
      { workspaceId, feedId: this.#kinds.logFeedOf(this.#operation) },
      events,
    );
  }

  #write(name: string, write: Entry['write']): Promise<void> {
    return this.#writeAll([{ name, write }]);
  }

  async #writeAll(more: readonly Entry[]): Promise<void> {
    const entries = [...this.#waiting, ...more];
    for (const { name } of entries) this.#hook('before', name, this.#operation);
    const written = this.#fenced(async (tx) => {
      const told: Told = { events: [] };
      for (const { write } of entries) await write(tx, told);
      const { workspaceId, id } = this.#operation;
      await appendEvents<OperationEvent>(tx, { workspaceId, feedId: id }, told.events);
      if (told.status !== undefined) await publishOperationUpdate(tx, this.#operation, told.status);
    });
    await written.catch((error: unknown) => {
      const others = this.#waiting.filter(({ onRowsWritten }) => !onRowsWritten);
      if (error instanceof LeaseLost || others.length === this.#waiting.length) throw error;
      this.#waiting = others;
      throw new RowsFailed('the rows of a step could not be written', { cause: error });
    });
    this.#waiting = [];
    for (const { name, onRowsWritten } of entries) {
      onRowsWritten?.();
      this.#hook('after', name, this.#operation);
    }
  }

  /** While the database is unavailable it waits for it, or for the loss of the lease, whichever comes first. */
  async #fenced(work: (tx: Queryable) => Promise<void>): Promise<void> {
    for (;;) {
      if (this.#lost.aborted) throw new LeaseLost();
      try {
        return await this.#db.transaction(async (tx) => {
          const { id: operationId, epoch } = this.#operation;
          await assertLease(tx, { operationId, epoch });
          await work(tx);
        });
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'database_unavailable') throw error;
        await sleep(200);
      }
    }
  }

  #onStateChange(tx: Queryable, change: StateChange): Promise<void> {
    return this.#kinds.onStateChange(tx, this.#operation, change);
  }
}

function tellEnd(told: Told, data: { readonly status: EndState; readonly fault?: OperationFault }): void {
  told.events.push({ kind: 'status', data }, { kind: 'end', data });
  told.status = data.status;
}
