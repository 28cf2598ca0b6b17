/**
 * The yardstick: Fastify with the same query, the same driver, the same answer, and nothing else. The statements and what
 * is told of a row are the service's own, so that a change of either changes both sides.
 */
import Fastify from 'fastify';
import pg from 'pg';
import { findUser } from '../src/areas/accounts/queries.ts';
import * as schemas from '../src/areas/accounts/schemas.ts';
import { listSessions } from '../src/areas/accounts/session-queries.ts';
import { browserOf } from '../src/areas/accounts/sign-in-location.ts';
import type { AccountId } from '../src/ids.ts';
import { Page } from '../src/page.ts';
import type { Queryable } from '../src/store/database.ts';
import type { Query } from '../src/store/sql.ts';

const [socketFolder = '', password = '', accountId = '', port = ''] = process.argv.slice(2);
const pool = new pg.Pool({ host: socketFolder, user: 'slipway', password, database: 'postgres', max: 10 });

const ask = <Row extends object>({ name, text, values }: Query) =>
  pool.query<Row>({ name, text, values: [...values] });
const db: Queryable = {
  rows: async <Row extends object>(query: Query) => (await ask<Row>(query)).rows,
  one: async <Row extends object>(query: Query) => (await ask<Row>(query)).rows[0],
  exists: async (query) => (await ask(query)).rows.length > 0,
  run: async (query) => (await ask(query)).rowCount ?? 0,
  raw: async (text, values = []) => (await pool.query(text, [...values])).rows,
};

const app = Fastify();
app.get('/me', { schema: { response: { 200: schemas.UserAnswer } } }, () =>
  findUser(db, accountId as AccountId),
);
app.get('/sessions', { schema: { response: { 200: schemas.SessionsAnswer } } }, async () => {
  const page = new Page({});
  const rows = await listSessions(db, accountId as AccountId, {
    before: page.before,
    limit: page.limit + 1,
    now: new Date(),
  });
  return page.answer(rows, (row) => ({ ...row, device: browserOf(row.userAgent ?? ''), current: false }));
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
