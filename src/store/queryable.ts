/** What statements are sent to: the pool, a connection, a transaction. */
import type pg from 'pg';
import type { Query } from './sql.ts';

export interface Queryable {
  rows<Row extends pg.QueryResultRow>(query: Query): Promise<Row[]>;
  /** The first row, or undefined. */
  one<Row extends pg.QueryResultRow>(query: Query): Promise<Row | undefined>;
  /** Whether it finds a row. */
  exists(query: Query): Promise<boolean>;
  /** For statements without an answer: how many rows they touched. */
  run(query: Query): Promise<number>;
  /** For statements that a library wrote (the queue's); ours are templates. */
  raw(text: string, values?: readonly unknown[]): Promise<pg.QueryResultRow[]>;
}
