import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { emptyDatabase } from '../../test/support/database.ts';
import { faultOf } from '../../test/support/faults.ts';
import { until } from '../../test/support/until.ts';
import { createLog } from '../log.ts';
import { connectDatabase, type Database, type Queryable, translate } from './database.ts';
import { sql } from './sql.ts';

const silent = createLog('silent');

async function ownPid(connection: Queryable): Promise<number> {
  const row = await connection.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
  return row?.pid ?? 0;
}

/** Of a connection of the pool: reads outside of a session share others. */
const lentPid = (db: Database) => db.session((connection) => ownPid(connection));

async function isSleeping(by: Database, pid: number): Promise<true> {
  const query = sql`
    select 1 from pg_stat_activity where pid = ${pid} and state = 'active' and query like '%pg_sleep(30)%'`;
  return until(async () => (await by.one(query)) !== undefined && true, 'the query to run');
}

/** Ends a connection from the side of the server, and returns when it is gone. */
async function cut(by: Database, pid: number): Promise<void> {
  const ended = await by.one(sql`select pg_terminate_backend(${pid}, 5000) as ended`);
  assert.deepEqual(ended, { ended: true });
}

test('rows, one and run give all rows, the first, and how many were touched', async (t) => {
  const { db } = await emptyDatabase(t);
  await db.run(sql`create table a (x int)`);
  assert.equal(await db.run(sql`insert into a values (1), (2)`), 2);
  assert.deepEqual(await db.rows(sql`select x from a order by x`), [{ x: 1 }, { x: 2 }]);
  assert.deepEqual(await db.one(sql`select x from a order by x desc`), { x: 2 });
  assert.equal(await db.one(sql`select x from a where x = 3`), undefined);
});

test('a transaction is kept as a whole, or not at all, and ends in the error that broke it', async (t) => {
  const { db } = await emptyDatabase(t);
  await db.run(sql`create table a (x int primary key)`);
  const result = await db.transaction(async (tx) => {
    await tx.run(sql`insert into a values (1)`);
    assert.deepEqual(await db.rows(sql`select x from a`), []);
    return tx.run(sql`insert into a values (2)`);
  });
  assert.equal(result, 1);
  const thrown = new Error('changed my mind');
  const undone = db.transaction(async (tx) => {
    await tx.run(sql`insert into a values (3)`);
    throw thrown;
  });
  await assert.rejects(undone, (error) => error === thrown);
  const broken = db.transaction(async (tx) => {
    await tx.run(sql`insert into a values (4)`);
    await tx.run(sql`insert into a values (1)`);
  });
  await assert.rejects(broken, { code: '23505' });
  assert.deepEqual(await db.rows(sql`select x from a order by x`), [{ x: 1 }, { x: 2 }]);
});

test('a connection goes back to the pool after a failed transaction, and works', async (t) => {
  const { connect } = await emptyDatabase(t);
  const db = connect({ max: 1 });
  const pid = await lentPid(db);
  for (let count = 0; count < 3; count += 1) {
    await assert.rejects(db.transaction((tx) => tx.run(sql`select 1 / 0`)));
  }
  assert.equal(await lentPid(db), pid);
});

test('a connection that is cut during a query gives database_unavailable, and the next query works', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  const victim = connect({ max: 1 });
  const pid = await lentPid(victim);
  const fault = faultOf(() => victim.run(sql`select pg_sleep(30)`));
  await isSleeping(db, pid);
  await cut(db, pid);
  assert.equal((await fault).code, 'database_unavailable');
  assert.notEqual(await lentPid(victim), pid);
});

test('a connection that is cut within a transaction undoes it and gives database_unavailable', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  await db.run(sql`create table a (x int)`);
  const victim = connect({ max: 1 });
  const fault = await faultOf(() =>
    victim.transaction(async (tx) => {
      await tx.run(sql`insert into a values (1)`);
      const pid = await ownPid(tx);
      const sleeping = tx.run(sql`select pg_sleep(30)`);
      await Promise.all([sleeping, isSleeping(db, pid).then(() => cut(db, pid))]);
    }),
  );
  assert.equal(fault.code, 'database_unavailable');
  assert.deepEqual(await victim.rows(sql`select * from a`), []);
});

test('a connection that is cut between two queries of a transaction does not end the process', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  const victim = connect({ max: 1 });
  const fault = await faultOf(() =>
    victim.transaction(async (tx) => {
      await cut(db, await ownPid(tx));
      // The news of the cut reaches us while nothing is asked: give it a turn of its own.
      await db.one(sql`select pg_sleep(0.05)`);
      await tx.one(sql`select 1`);
    }),
  );
  assert.equal(fault.code, 'database_unavailable');
  assert.deepEqual(await victim.one(sql`select 1 as works`), { works: 1 });
});

test('an idle connection that is cut is noted, and nobody else hears of it', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  const victim = connect({ max: 1 });
  const pid = await lentPid(victim);
  await cut(db, pid);
  await db.one(sql`select pg_sleep(0.05)`);
  assert.notEqual(await lentPid(victim), pid);
});

test('a server that is not there gives database_unavailable, by socket file and by port', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  server.close();
  await once(server, 'close');
  for (const connection of [{ host: '/nowhere' }, { host: '127.0.0.1', port }, { host: 'localhost', port }]) {
    const db = connectDatabase(connection, silent);
    for (const work of [() => db.run(sql`select 1`), () => db.transaction(async () => undefined)]) {
      const fault = await faultOf(work);
      assert.equal(fault.code, 'database_unavailable');
      assert.match(fault.evidence ?? '', /ENOENT|ECONNREFUSED/);
    }
    await db.close();
  }
});

test('a pool that is used up gives database_unavailable instead of waiting forever', async (t) => {
  const { connect } = await emptyDatabase(t);
  const db = connect({ max: 1, connectionTimeoutMillis: 1_000 });
  await db.session(async () => {
    assert.equal((await faultOf(() => db.run(sql`select 1`))).code, 'database_unavailable');
  });
  assert.equal(await db.run(sql`select 1`), 1);
});

test('a text with U+0000 is invalid input, plain or inside JSON', async (t) => {
  const { db } = await emptyDatabase(t);
  for (const query of [sql`select ${'a\0b'}::text`, sql`select ${'{"a":"\\u0000"}'}::jsonb`]) {
    assert.equal((await faultOf(() => db.run(query))).code, 'invalid_input');
  }
});

test('failures of the network are told from those of a statement', async () => {
  const withCode = (code: string) => Object.assign(new Error('x'), { code });
  for (const code of [
    'ECONNRESET',
    'EPIPE',
    'EHOSTUNREACH',
    'ENETUNREACH',
    '08006',
    '57P01',
    '57P03',
    '53300',
    '25P03',
    '57014',
  ]) {
    assert.equal(
      (await faultOf(() => Promise.reject(translate(withCode(code))))).code,
      'database_unavailable',
      code,
    );
  }
  for (const code of ['23505', '42601', '40001', '22P02']) {
    const error = withCode(code);
    assert.equal(translate(error), error, code);
  }
});

test('a statement that takes longer than anybody waits is a database that does not answer, and leaves it as it was', async (t) => {
  const { connect } = await emptyDatabase(t);
  const db = connect({ max: 1, statement_timeout: 50 });
  await db.run(sql`create table a (x int)`);
  const tooLong = [
    () => db.rows(sql`select pg_sleep(30)`),
    () => db.transaction((tx) => tx.run(sql`insert into a select 1 from pg_sleep(30)`)),
  ];
  for (const each of tooLong) {
    const fault = await faultOf(each);
    assert.equal(fault.code, 'database_unavailable');
    assert.match(fault.evidence ?? '', /statement timeout/);
  }
  assert.deepEqual(await db.rows(sql`select x from a`), []);
});

test('a machine too busy to go on with a transaction in time gets a fault, and the next one a connection that works', async (t) => {
  const { connect } = await emptyDatabase(t);
  const db = connect({ max: 1, idle_in_transaction_session_timeout: 20 });
  await db.run(sql`create table a (x int)`);
  const fault = await faultOf(() =>
    db.transaction(async (tx) => {
      await tx.run(sql`insert into a values (1)`);
      // As a processor that is busy with others does: the server gives up while we stand still, and we ask before we hear it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      await tx.run(sql`insert into a values (2)`);
    }),
  );
  assert.equal(fault.code, 'database_unavailable');
  assert.deepEqual(await db.transaction((tx) => tx.rows(sql`select x from a`)), []);
});

test('a server too busy to let anyone in gives database_unavailable, to reads that share a connection too', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const way = { host: '127.0.0.1', port, user: 'x', database: 'x', connectionTimeoutMillis: 100 };
  const db = connectDatabase(way, silent);
  t.after(async () => {
    await db.close();
    server.close();
  });
  assert.equal((await faultOf(() => db.one(sql`select 1`))).code, 'database_unavailable');
  assert.equal((await faultOf(() => db.run(sql`select 1`))).code, 'database_unavailable');
});

test('a server that ends a connection in the moment it is lent is a fault, and not the end of the process', async (t) => {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5);
    head.write(type, 0);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const fatal = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
  // Welcome, ready, and gone, in one piece.
  const said = Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from(fatal)),
  ]);
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(said));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const way = { host: '127.0.0.1', port, user: 'x', database: 'x', ssl: false };
  const db = connectDatabase(way, createLog('silent'));
  t.after(() => db.close());
  await assert.rejects(
    db.transaction(async () => undefined),
    { code: 'database_unavailable' },
  );
});
