import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyDatabase } from '../../test/support/database.ts';
import { faultOf } from '../../test/support/faults.ts';
import { until } from '../../test/support/until.ts';
import { createLog } from '../log.ts';
import { connectDatabase, type Database } from './database.ts';
import { sql } from './sql.ts';

async function pidOf(db: Database): Promise<number> {
  return (await db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`))?.pid ?? 0;
}

/** A read that goes on until it is cancelled, and the connection that it holds up. */
async function slowRead(db: Database, watcher: Database, mark: string) {
  const read = db.one(sql`select pg_sleep(60), ${mark}::text as mark`).catch((error: unknown) => error);
  const pid = await until(async () => {
    const row = await watcher.one<{ pid: number }>(sql`
      select pid from pg_stat_activity
      where state = 'active' and wait_event = 'PgSleep' and clock_timestamp() - query_start > interval '50 ms'
        and pid <> all(${[...held]}::int[])`);
    return row?.pid;
  }, 'the read to run');
  held.add(pid);
  const end = async () => {
    await watcher.run(sql`select pg_cancel_backend(${pid})`);
    await read;
    held.delete(pid);
  };
  return { pid, end };
}
const held = new Set<number>();

test('reads share one connection, and each has its own rows', async (t) => {
  const { db } = await emptyDatabase(t);
  const asked = Array.from({ length: 50 }, (_, at) =>
    db.one<{ at: number; pid: number }>(sql`select ${at}::int as at, pg_backend_pid() as pid`),
  );
  const rows = await Promise.all(asked);
  assert.deepEqual(
    rows.map((row) => row?.at),
    rows.map((_, at) => at),
  );
  assert.equal(new Set(rows.map((row) => row?.pid)).size, 1);
});

test('a read that fails leaves those before and behind it alone', async (t) => {
  const { db } = await emptyDatabase(t);
  const outcomes = await Promise.allSettled([
    db.one(sql`select 1 as one`),
    db.one(sql`select 1 / ${0}::int`),
    db.one(sql`select 1 from nowhere`),
    db.one(sql`select 1 from nowhere`),
    db.one(sql`select 2 as two`),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.code)),
    [{ one: 1 }, '22012', '42P01', '42P01', { two: 2 }],
  );
});

test('writes, sessions and transactions have connections of their own', async (t) => {
  const { db } = await emptyDatabase(t);
  await db.run(sql`create table a (x int, pid int default pg_backend_pid())`);
  const shared = await pidOf(db);
  await db.rows(sql`insert into a (x) values (1) returning x`);
  await db.run(sql`insert into a (x) values (2)`);
  await db.transaction(async (tx) => {
    await tx.run(sql`insert into a (x) values (3)`);
    // What the transaction reads is what it wrote; what others read is not.
    assert.equal((await tx.rows(sql`select x from a`)).length, 3);
    assert.equal((await db.rows(sql`select x from a`)).length, 2);
  });
  const writers = await db.rows<{ pid: number }>(sql`select pid from a`);
  assert.ok(!writers.some(({ pid }) => pid === shared));
});

test('what comes while a read takes its time goes elsewhere, and past two such reads by the pool', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  const watcher = connect({ application_name: 'watcher' });
  const first = await slowRead(db, watcher, 'first');
  assert.notEqual(await pidOf(db), first.pid);
  const second = await slowRead(db, watcher, 'second');
  assert.notEqual(second.pid, first.pid);
  const third = await pidOf(db);
  assert.ok(third !== first.pid && third !== second.pid);
  await first.end();
  assert.equal(await pidOf(db), first.pid);
  await second.end();
});

test('a connection that is cut gives database_unavailable to all who wait on it, and the next read works', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  const watcher = connect({ application_name: 'watcher' });
  const pid = await pidOf(db);
  const waiting = [
    faultOf(() => db.one(sql`select pg_sleep(60)`)),
    faultOf(() => db.one(sql`select 1`)),
    faultOf(() => db.rows(sql`select 2`)),
  ];
  await until(
    () => watcher.exists(sql`select 1 from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`),
    'the read to run',
  );
  await watcher.run(sql`select pg_terminate_backend(${pid}, 5000)`);
  for (const fault of await Promise.all(waiting)) assert.equal(fault.code, 'database_unavailable');
  assert.notEqual(await pidOf(db), pid);
});

test('one that is cut while nobody waits is noted, and replaced', async (t) => {
  const { url, connect } = await emptyDatabase(t);
  const lines: string[] = [];
  const db = connectDatabase(
    { connectionString: url },
    createLog('warn', { write: (line) => void lines.push(line) }),
  );
  t.after(() => db.close());
  const pid = await pidOf(db);
  await connect().run(sql`select pg_terminate_backend(${pid}, 5000)`);
  await until(async () => lines.length > 0, 'the line');
  assert.match(lines.join(''), /lost an idle database connection/);
  assert.notEqual(await pidOf(db), pid);
});

test('closing answers what was asked before', async (t) => {
  const { url } = await emptyDatabase(t);
  const db = connectDatabase({ connectionString: url }, createLog('silent'));
  const asked = db.one(sql`select 1 as answered from pg_sleep(0.05)`);
  await db.one(sql`select 1`);
  const late = db.one(sql`select 2 as answered from pg_sleep(0.05)`);
  await db.close();
  assert.deepEqual(await Promise.all([asked, late]), [{ answered: 1 }, { answered: 2 }]);
});
