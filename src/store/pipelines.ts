/**
 * Connections that reads share. PostgreSQL takes the next statement before it has answered the last (pipelining), so that
 * dozens go there in one write and come back in one read: less than half of what lending a connection to each costs. What
 * is behind a slow one waits with it, so only reads come here, which wait for no lock and find their rows by an index.
 */
import pg from 'pg';
import type { Query } from './sql.ts';

/** The more share one, the less each costs: the second is for what comes while the first is at something slow. */
const mostConnections = 2;
/** One that has not answered for so long is at something slow. */
const slowMs = 25;
const idleMs = 10_000;

export class Pipelines {
  readonly #config: pg.ClientConfig;
  readonly #lost: (error: Error) => void;
  readonly #connections: Shared[] = [];
  #isClosed = false;

  /** `lost` is told of connections that break while nobody waits for an answer. */
  constructor(config: pg.ClientConfig, lost: (error: Error) => void) {
    this.#config = { ...config, pipeline: true };
    this.#lost = lost;
  }

  /** Nothing where all are at something slow: then one is to be lent. */
  query<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> | undefined {
    if (this.#isClosed) return undefined;
    const now = performance.now();
    const free = this.#connections.find((each) => !each.isSlow(now));
    if (!free && this.#connections.length >= mostConnections) return undefined;
    return (free ?? this.#open()).query<Row>(query);
  }

  /** What was asked is answered still. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#connections.map((each) => each.close()));
  }

  #open(): Shared {
    const shared: Shared = new Shared(this.#config, this.#lost, () => {
      const at = this.#connections.indexOf(shared);
      if (at !== -1) this.#connections.splice(at, 1);
    });
    this.#connections.push(shared);
    return shared;
  }
}

class Shared {
  readonly #client: pg.Client;
  readonly #idle: NodeJS.Timeout;
  readonly #leave: () => void;
  #opening: Promise<unknown> | undefined;
  #waiting = 0;
  #answeredAt = 0;

  /** `leave`: nobody may ask here any more. */
  constructor(config: pg.ClientConfig, lost: (error: Error) => void, leave: () => void) {
    this.#leave = leave;
    this.#client = new pg.Client(config);
    this.#client.on('error', (error) => {
      leave();
      // Whoever waits is told by the driver.
      if (this.#waiting === 0) lost(error);
    });
    this.#client.once('end', leave);
    // Open connections keep a process alive, their idleness does not.
    this.#idle = setTimeout(() => this.#closeIfIdle(), idleMs).unref();
    this.#opening = this.#connect();
  }

  isSlow(now: number): boolean {
    return this.#waiting > 0 && now - this.#answeredAt > slowMs;
  }

  async query<Row extends pg.QueryResultRow>({ name, text, values }: Query): Promise<pg.QueryResult<Row>> {
    if (this.#waiting === 0) this.#answeredAt = performance.now();
    this.#waiting += 1;
    try {
      if (this.#opening) await this.#opening;
      return await this.#client.query<Row>({ name, text, values: [...values] });
    } finally {
      this.#answeredAt = performance.now();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#idle.refresh();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#leave();
    // One that never opened has told whoever waited for it.
    await this.#opening?.catch(() => undefined);
    await this.#client.end();
  }

  async #connect(): Promise<void> {
    try {
      await this.#client.connect();
      this.#opening = undefined;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  #closeIfIdle(): void {
    if (this.#waiting === 0) void this.close();
  }
}
