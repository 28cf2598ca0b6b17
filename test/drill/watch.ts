/**
 * Looks at operations and deployments many times a second while a wave is under way, in the database itself: what has
 * ended stays as it ended, epochs only grow, and never two are at work on one environment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../src/fault.ts';
import type { Database } from '../../src/store/database.ts';
import { sql } from '../../src/store/sql.ts';

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly end: string | null;
  readonly epoch: number;
}

const lookMs = 80;

export class Watch {
  readonly wrong = new Set<string>();
  looks = 0;
  readonly #db: Database;
  readonly #ends = new Map<string, string>();
  readonly #epochs = new Map<string, number>();
  #isOver = false;
  #looking: Promise<void> | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  start(): void {
    this.#isOver = false;
    this.#looking = this.#lookOnAndOn();
  }

  async leave(): Promise<void> {
    this.#isOver = true;
    await this.#looking;
  }

  /** With a last look at everything that has ever been seen. */
  async end(): Promise<string[]> {
    await this.leave();
    this.#compare(await this.#rows([...this.#ends.keys()]));
    const wrong = [...this.wrong];
    this.wrong.clear();
    return wrong;
  }

  async #lookOnAndOn(): Promise<void> {
    while (!this.#isOver) {
      try {
        this.#compare(await this.#rows([]));
        await this.#lookForTwo();
        this.looks += 1;
      } catch (error) {
        // The database is away on purpose now and then.
        if (!(error instanceof Fault) || error.code !== 'database_unavailable') throw error;
      }
      await sleep(lookMs);
    }
  }

  #rows(ids: readonly string[]): Promise<Row[]> {
    return this.#db.rows<Row>(sql`
      select id, kind, lease_epoch::int as epoch,
        case when finished_at is not null then state || ' ' || finished_at::text || ' ' || coalesce(fault::text, '') end as end
      from operations
      where finished_at is null or finished_at > now() - interval '1 minute' or id = any(${ids}::uuid[])`);
  }

  #compare(rows: readonly Row[]): void {
    for (const { id, kind, end, epoch } of rows) {
      const [lastEnd, lastEpoch] = [this.#ends.get(id), this.#epochs.get(id) ?? 0];
      if (lastEnd !== undefined && lastEnd !== end)
        this.wrong.add(`${kind} ${id} had ended «${lastEnd}» and is now «${end}»`);
      if (epoch < lastEpoch) this.wrong.add(`${kind} ${id} fell from epoch ${lastEpoch} to ${epoch}`);
      this.#epochs.set(id, epoch);
      if (end !== null) this.#ends.set(id, lastEnd ?? end);
    }
  }

  async #lookForTwo(): Promise<void> {
    const deployments = await this.#db.rows<{ id: string }>(sql`
      select environment_id as id from deployments
      where status in ('preparing', 'building', 'starting', 'switching') group by 1 having count(*) > 1`);
    for (const { id } of deployments) this.wrong.add(`two deployments were active in environment ${id}`);
    const queues = await this.#db.rows<{ id: string }>(sql`
      select queue_key as id from operations
      where finished_at is null and started_at is not null and queue_key is not null
      group by 1 having count(*) > 1`);
    for (const { id } of queues) this.wrong.add(`two operations were at work in the queue ${id}`);
  }
}
