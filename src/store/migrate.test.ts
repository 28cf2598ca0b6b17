import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { emptyDatabase } from '../../test/support/database.ts';
import { faultOf } from '../../test/support/faults.ts';
import { createLog } from '../log.ts';
import type { Database } from './database.ts';
import { type Migration, migrate, readMigrations } from './migrate.ts';
import { sql } from './sql.ts';

const silent = createLog('silent');

function migration(version: number, text: string): Migration {
  const checksum = createHash('sha256').update(text).digest('hex');
  return { version, name: `${String(version).padStart(4, '0')}_test`, text, checksum };
}

async function applied(db: Database): Promise<number[]> {
  const rows = await db.rows<{ version: number }>(
    sql`select version from schema_migrations order by version`,
  );
  return rows.map(({ version }) => version);
}

async function tables(db: Database): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(sql`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`);
  return rows.map(({ name }) => name);
}

async function heldLocks(db: Database): Promise<number | undefined> {
  const row = await db.one<{ count: number }>(sql`
    select count(*)::int as count from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`);
  return row?.count;
}

test('the migrations in this code are numbered without gaps and without doubles', () => {
  const versions = readMigrations().map(({ version }) => version);
  assert.deepEqual(
    versions,
    versions.map((_version, at) => at + 1),
  );
});

test('instances that start at the same moment migrate once', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  await Promise.all([db, connect(), connect(), connect()].map((each) => migrate(each, log)));
  const migrations = readMigrations();
  assert.equal(lines.length, migrations.length);
  assert.deepEqual(
    await applied(db),
    migrations.map(({ version }) => version),
  );
  assert.equal(await heldLocks(db), 0);
});

test('a database that is up to date stays as it is', async (t) => {
  const { db } = await emptyDatabase(t);
  await migrate(db, silent);
  const before = await db.rows(sql`select * from schema_migrations`);
  await migrate(db, silent);
  assert.deepEqual(await db.rows(sql`select * from schema_migrations`), before);
});

test('new migrations are applied in order on top of those that are there', async (t) => {
  const { db } = await emptyDatabase(t);
  const first = migration(1, 'create table a (x int)');
  const second = migration(2, 'alter table a add y int; insert into a values (1, 2)');
  await migrate(db, silent, [first]);
  await migrate(db, silent, [first, second]);
  assert.deepEqual(await applied(db), [1, 2]);
  assert.deepEqual(await db.rows(sql`select * from a`), [{ x: 1, y: 2 }]);
});

test('a database made by a newer Slipway is refused and left as it is', async (t) => {
  const { db } = await emptyDatabase(t);
  await migrate(db, silent);
  const ours = (await applied(db)).at(-1);
  await db.run(sql`insert into schema_migrations (version, name, checksum) values (9999, '9999_later', 'x')`);
  const fault = await faultOf(() => migrate(db, silent));
  assert.equal(fault.code, 'database_newer');
  assert.match(
    fault.message,
    new RegExp(`its schema is 9999, this one knows up to ${ours}\\. Update Slipway\\.`),
  );
  assert.equal(await heldLocks(db), 0);
});

test('a migration that was edited after it was applied is refused by its name, before anything else runs', async (t) => {
  const { db } = await emptyDatabase(t);
  await migrate(db, silent, [migration(1, 'create table a (x int)')]);
  const edited = [migration(1, 'create table a (x bigint)'), migration(2, 'create table b (x int)')];
  const fault = await faultOf(() => migrate(db, silent, edited));
  assert.equal(fault.code, 'database_changed');
  assert.match(fault.message, /^The migration 0001_test in the database is not the one in this code\./);
  assert.deepEqual(await tables(db), ['a', 'schema_migrations']);
});

test('a migration that fails leaves nothing of itself, and those before it stay', async (t) => {
  const { db } = await emptyDatabase(t);
  const good = migration(1, 'create table a (x int)');
  const bad = migration(2, 'create table b (x int); insert into b values (1); select 1 / 0');
  await assert.rejects(
    migrate(db, silent, [good, bad, migration(3, 'create table c (x int)')]),
    /division by zero/,
  );
  assert.deepEqual(await tables(db), ['a', 'schema_migrations']);
  assert.deepEqual(await applied(db), [1]);
  assert.equal(await heldLocks(db), 0);
  await migrate(db, silent, [good, migration(2, 'create table b (x int)')]);
  assert.deepEqual(await tables(db), ['a', 'b', 'schema_migrations']);
});

test('a migration numbered below one that was applied is not left out in silence', async (t) => {
  const { db } = await emptyDatabase(t);
  const first = migration(1, 'create table a (x int)');
  const third = migration(3, 'create table c (x int)');
  await migrate(db, silent, [first, third]);
  const second = migration(2, 'create table b (x int)');
  const fault = await faultOf(() => migrate(db, silent, [first, second, third]));
  assert.equal(fault.code, 'database_changed');
  assert.match(fault.message, /0002_test/);
});

test('the wait for a migration of another instance is not cut by the limit for statements', async (t) => {
  const { db, connect } = await emptyDatabase(t);
  const waiting = connect({ statement_timeout: 100, max: 1 });
  const slow = migration(1, 'select pg_sleep(0.4); create table a (x int)');
  await Promise.all([migrate(db, silent, [slow]), migrate(waiting, silent, [slow])]);
  const limit = await waiting.one(sql`select current_setting('statement_timeout') as value`);
  assert.deepEqual(limit, { value: '100ms' });
});
