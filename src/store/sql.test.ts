import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyDatabase } from '../../test/support/database.ts';
import { fragment, type Query, sql, takeDue } from './sql.ts';

test('a value in the template becomes a parameter and is never part of the statement', () => {
  const hostile = `'; drop table accounts; --`;
  const query = sql`select * from accounts where email = ${hostile} and name = ${null}`;
  assert.equal(query.text, 'select * from accounts where email = $1 and name = $2');
  assert.deepEqual(query.values, [hostile, null]);
});

test('a template without values is taken as it is', () => {
  assert.deepEqual({ ...sql`select 1`, name: '' }, { name: '', text: 'select 1', values: [], isRead: true });
});

test('parameters are numbered beyond nine', () => {
  const query = sql`${1}${2}${3}${4}${5}${6}${7}${8}${9}${10}${11}`;
  assert.equal(query.text, '$1$2$3$4$5$6$7$8$9$10$11');
});

test('the same statement has the same name, another has another, and each fits into PostgreSQL', () => {
  const find = (id: string) => sql`select ${id}`;
  assert.equal(find('a').name, find('b').name);
  assert.deepEqual([find('a').values, find('b').values], [['a'], ['b']]);
  assert.equal(sql`select ${'c'}`.name, find('a').name);
  assert.notEqual(sql`select  ${'c'}`.name, find('a').name);
  assert.ok(find('a').name.length <= 63);
});

test('a read changes nothing and waits for no lock', () => {
  const locking = fragment`for no key update of t`;
  const found: [isRead: boolean, query: Query][] = [
    [true, sql`select 1`],
    [
      true,
      sql`
      select id from t where id = ${1}`,
    ],
    [false, sql`select id from t where id = ${1} for update`],
    [false, sql`select id from t for key share skip locked`],
    [false, sql`select id from t ${locking}`],
    [false, sql`select pg_advisory_xact_lock(${1})`],
    [false, sql`with gone as (delete from t returning id) select id from gone`],
    [false, sql`update t set a = ${1} returning id`],
    [false, sql`insert into t select 1`],
  ];
  for (const [isRead, query] of found) assert.equal(query.isRead, isRead, query.text);
});

test('a fragment becomes part of the statement, and its values parameters in their order', () => {
  const columns = fragment`id, created_at as "createdAt"`;
  const either = fragment`(a = ${2} or ${fragment`b = ${3}`})`;
  const query = sql`select ${columns} from t where c = ${1} and ${either} and d = ${4}`;
  assert.equal(
    query.text,
    'select id, created_at as "createdAt" from t where c = $1 and (a = $2 or b = $3) and d = $4',
  );
  assert.deepEqual(query.values, [1, 2, 3, 4]);
  const same = (part: typeof columns) => sql`select ${part}`;
  assert.notEqual(same(columns).name, same(fragment`id`).name);
});

test('what is due is taken once, and comes again when its next time has come', async (t) => {
  const { db } = await emptyDatabase(t);
  await db.raw('create table jobs (workspace_id int, id int unique, at timestamptz, is_ready boolean)');
  await db.raw(`insert into jobs values (1, 1, '2026-01-02', true), (1, 2, '2026-01-01', true),
    (1, 3, '2026-01-01', false), (1, 4, '2026-02-01', true), (1, 5, null, true)`);
  const take = async (now: string, limit: number) => {
    const due = { now: new Date(now), next: new Date('2026-03-01'), limit };
    const rows = await db.rows<{ id: number }>(takeDue('jobs', 'at', due, { where: fragment`is_ready` }));
    return rows.map(({ id }) => id).sort();
  };
  assert.deepEqual(await take('2026-01-03', 1), [2]);
  assert.deepEqual(await take('2026-01-03', 10), [1]);
  assert.deepEqual(await take('2026-01-03', 10), []);
  assert.deepEqual(await take('2026-03-01', 10), [1, 2, 4]);
});

test('every kind of value arrives in the database as it was', async (t) => {
  const { db } = await emptyDatabase(t);
  const at = new Date('2026-02-03T04:05:06.789Z');
  const bytes = Buffer.from([0, 1, 255]);
  const row = await db.one(sql`
    select ${`a'"\\$1ü`}::text as text, ${1.5}::float8 as number, ${true}::boolean as truth, ${at}::timestamptz as at,
      ${bytes}::bytea as bytes, ${null}::text as nothing, ${['a,b', '{"c"}']}::text[] as texts,
      ${[1, 2]}::int[] as numbers, ${[at]}::timestamptz[] as times`);
  assert.deepEqual(row, {
    text: `a'"\\$1ü`,
    number: 1.5,
    truth: true,
    at,
    bytes,
    nothing: null,
    texts: ['a,b', '{"c"}'],
    numbers: [1, 2],
    times: [at],
  });
});
