/**
 * The connection to PostgreSQL. Owns the pool, transactions, and the translation of the driver's failures:
 * an unreachable database becomes `database_unavailable`, whatever the driver called it.
 */

import pg from 'pg';
import type { Logger } from 'pino';
import { errorCode, errorText, Fault } from '../fault.ts';
import { changesRows, hasOpenNote, takeNote } from './change-note.ts';
import { Pipelines } from './pipelines.ts';
import type { Queryable } from './queryable.ts';
import type { Query } from './sql.ts';
import { typeParsers } from './timestamps.ts';

export type { Queryable };

export interface Database extends Queryable {
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** A dedicated connection, for session locks; released when the work ends. */
  session<T>(work: (connection: Queryable, client: pg.PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const poolSize = 10;

export function connectDatabase(connection: pg.PoolConfig, log: Logger): Database {
  const options: pg.PoolConfig = {
    max: poolSize,
    idleTimeoutMillis: 10_000,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 15_000,
    // A worker that is stopped inside a transaction would hold its locks for ever, and block everyone else.
    idle_in_transaction_session_timeout: 4_000,
    application_name: 'slipway',
    types: typeParsers,
    ...connection,
  };
  const pool = new pg.Pool(options);
  // An idle connection that breaks is replaced by the pool; whoever queries next learns of a real outage.
  const lost = (error: Error) => {
    if (!pool.ending) log.warn({ reason: errorText(error) }, 'lost an idle database connection');
  };
  pool.on('error', lost);
  // A checked-out connection has no listener between two queries, and an error without one would end the process. The
  // next query reports it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new PooledDatabase(pool, new Pipelines(options, lost));
}

class Connected implements Queryable {
  readonly #to: pg.Pool | pg.PoolClient;
  hasChanged = false;

  constructor(to: pg.Pool | pg.PoolClient) {
    this.#to = to;
  }

  async rows<Row extends pg.QueryResultRow>(query: Query): Promise<Row[]> {
    return (await this.read<Row>(query)).rows;
  }

  async one<Row extends pg.QueryResultRow>(query: Query): Promise<Row | undefined> {
    return (await this.read<Row>(query)).rows[0];
  }

  async exists(query: Query): Promise<boolean> {
    return (await this.one(query)) !== undefined;
  }

  async run(query: Query): Promise<number> {
    return (await this.send(query)).rowCount ?? 0;
  }

  async raw(text: string, values?: readonly unknown[]): Promise<pg.QueryResultRow[]> {
    try {
      const result = await (values ? this.#to.query(text, [...values]) : this.#to.query(text));
      return lastRows(result);
    } catch (error) {
      throw translate(error);
    }
  }

  /** For statements with rows. */
  protected read<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    return this.send<Row>(query);
  }

  async send<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    try {
      const { name, text, values } = query;
      const result = await this.#to.query<Row>({ name, text, values: [...values] });
      // What a part of a `with` has changed is not counted where the whole is a select.
      const isCounted = result.command !== 'SELECT';
      this.hasChanged ||= changesRows(query) && !(isCounted && result.rowCount === 0);
      return result;
    } catch (error) {
      throw translate(error);
    }
  }
}

class PooledDatabase extends Connected implements Database {
  readonly #pool: pg.Pool;
  readonly #pipelines: Pipelines;

  constructor(pool: pg.Pool, pipelines: Pipelines) {
    super(pool);
    this.#pool = pool;
    this.#pipelines = pipelines;
  }

  protected override async read<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    try {
      const answer = query.isRead ? this.#pipelines.query<Row>(query) : undefined;
      if (answer) return await answer;
    } catch (error) {
      // Those behind one that was not prepared rely on its name, and those behind these prepare it twice; of a read,
      // nothing is done twice.
      if (!['26000', '42P05'].includes(errorCode(error) ?? '')) throw translate(error);
    }
    return this.send<Row>(query);
  }

  async session<T>(work: (connection: Queryable, client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((error) => Promise.reject(translate(error)));
    let broken = false;
    try {
      return await work(new Connected(client), client);
    } catch (error) {
      broken = error instanceof Fault && error.code === 'database_unavailable';
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** A change by itself is a transaction of its own where a note goes with it. */
  override async send<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    if (!hasOpenNote() || !changesRows(query)) return super.send<Row>(query);
    return this.#inTransaction((connection) => connection.send<Row>(query));
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.#inTransaction(work);
  }

  #inTransaction<T>(work: (connection: Connected) => Promise<T>): Promise<T> {
    return this.session(async (_, client) => {
      const connection = new Connected(client);
      let taken: ReturnType<typeof takeNote>;
      const command = (text: string) => client.query(text).catch((error) => Promise.reject(translate(error)));
      await command('begin');
      try {
        const result = await work(connection);
        if (connection.hasChanged) taken = takeNote();
        await taken?.note.write(connection);
        await command('commit');
        return result;
      } catch (error) {
        taken?.giveBack();
        // Where the connection is gone, the server rolls back by itself; the first error is the one to report.
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#pipelines.close()]);
  }
}

/** A text of several statements has several results. */
function lastRows(result: pg.QueryResult | pg.QueryResult[]): pg.QueryResultRow[] {
  return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) ?? [];
}

// Node's socket errors, PostgreSQL's class 08 (connection) and 57P (shutting down, starting up), a full server, and two of a
// machine that is too busy: 57014, a statement took longer than we wait for one, and 25P03, we said nothing inside of a
// transaction for longer than it waits. It has taken all of it back, so nothing was done, and the connection is not lent
// again. Its own log has the statement.
const unavailableCodes =
  /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOENT|EPIPE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|08...|57014|57P0.|53300|25P03)$/;
// The driver gives these no code: its pool says that it took too long to connect in other words than a connection does.
const unavailableTexts =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|not queryable|Client was closed/i;

export function translate(error: unknown): unknown {
  const code = errorCode(error);
  if ((code && unavailableCodes.test(code)) || (!code && unavailableTexts.test(errorText(error)))) {
    return new Fault('database_unavailable', 'The database does not answer at the moment.', {
      hint: 'Try again shortly.',
      evidence: errorText(error),
      cause: error,
    });
  }
  if (code === '22021' || code === '22P05') {
    return new Fault('invalid_input', 'A text contains a character that cannot be stored (U+0000).', {
      cause: error,
    });
  }
  return error;
}
