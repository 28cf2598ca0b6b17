import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Fault } from '../../src/fault.ts';
import { openLab } from '../support/lab.ts';
import { failsWith } from '../support/remote.ts';
import { proveDumps } from '../support/sql-engine-proof.ts';
import { type EngineScene, engineScene, quiet } from '../support/sql-engine-scene.ts';

const lab = await openLab();

async function newScene(t: TestContext, kind: 'postgres' | 'mariadb') {
  const scene = await engineScene(t, await lab.shared('docker'), kind);
  const { engine, site, source, save, put } = scene;
  const scratch = await save(await engine.dump(site, source));
  let number = 0;
  /** As an upload; gives the name of what it was loaded into. */
  const upload = async (content: string | Buffer, base: 'empty' | 'copy' = 'empty') => {
    number += 1;
    const staging = `staging_${number}`;
    await writeFile(scratch, content);
    const file = await put(scratch, `upload-${number}`);
    const input = { staging, base, content: 'upload', mostBytes: 10e9 } as const;
    await engine.loadStaging(site, source, file, input, quiet);
    return staging;
  };
  const discard = (staging: string) => engine.discard(site, source, staging);
  return { ...scene, scratch, upload, discard };
}

async function inside({ server, source }: EngineScene, command: string): Promise<Buffer> {
  const text = await server.ssh(`docker exec ${source.container} ${command} | base64 -w0`);
  return Buffer.from(text, 'base64');
}

const notSql: readonly (readonly [string, Buffer])[] = [
  ['zip', Buffer.from('504b03041400000008', 'hex')],
  ['bzip2', Buffer.from('425a683931415926', 'hex')],
  ['xz', Buffer.from('fd377a585a000004', 'hex')],
  ['binary', Buffer.from('7f454c460201010000000000', 'hex')],
  ['UTF-16', Buffer.from('\ufeffselect 1;', 'utf16le')],
  ['empty', Buffer.alloc(0)],
  ['SQLite', Buffer.from('SQLite format 3\0')],
];

test('postgres: uploads of each kind are taken, whatever they do reaches nothing but their own copy', async (t) => {
  const scene = await newScene(t, 'postgres');
  const { sql, upload, discard, server, source } = scene;
  await sql(`create table kept (id int primary key, x text); insert into kept values (1, 'live');
    create role someone; grant select on kept to someone;`);
  const live = async () =>
    `${await scene.sums()} ${await sql("select string_agg(rolname || coalesce(rolpassword, ''), ' ' order by rolname) from pg_authid; select string_agg(datname, ' ' order by datname) from pg_database")}`;
  const before = await live();
  const takes = async (content: string | Buffer, query: string, expected: string, base?: 'copy') => {
    const staging = await upload(content, base);
    assert.equal((await sql(query, staging)).trim(), expected);
    await discard(staging);
    assert.equal(await live(), before);
  };
  const refuses = async (content: string | Buffer, code: Fault['code'], says: RegExp) => {
    await assert.rejects(upload(content), failsWith(code, says));
    assert.equal(await live(), before);
    assert.equal((await scene.leftovers()).trim(), '');
  };
  const text = 'create table t (x text);\ncopy t from stdin;\na\\tb\nc\n\\.\n';
  await takes(text, 'select count(*) from t', '2');
  await takes(gzipSync(text), 'select count(*) from t', '2');
  await takes(zstdCompressSync(text), 'select count(*) from t', '2');
  await takes(await inside(scene, 'pg_dump -U app -Fc app'), 'select x from kept', 'live');
  await takes(gzipSync(await inside(scene, 'pg_dump -U app -Fc app')), 'select x from kept', 'live');
  await takes(await inside(scene, 'pg_dump -U app -Ft app'), 'select x from kept', 'live');
  await takes(await inside(scene, 'pg_dump -U app app'), 'select x from kept', 'live');
  await takes(
    'insert into kept values (2, $$new$$);',
    "select string_agg(x, ' ' order by id) from kept",
    'live new',
    'copy',
  );
  await takes(
    'create table t ();\nALTER TABLE t OWNER TO nobody_here;\nALTER TABLE t OWNER TO "Strange Role";',
    'select tableowner from pg_tables where tablename = $$t$$',
    'app',
  );
  await takes(
    '\\connect app\ndrop schema public cascade; create schema public; create table evil (id int);',
    'select count(*) from evil',
    '0',
  );
  await takes(
    "alter role app password 'another'; create role stranger login; create table t ();",
    'select count(*) from t',
    '0',
  );
  await takes('begin; create table t (); commit;', 'select count(*) from t', '0');

  await refuses(
    `${text}commit;\nselect 1;\ninsert into nowhere values ('last');`,
    'import_failed',
    /:8: ERROR:.*nowhere[\s\S]*STATEMENT.*last/,
  );
  await refuses('create database other;\ncreate table t ();', 'import_failed', /other databases \(other\)/);
  await refuses('create database other;\n\\connect other\nselect 1;', 'import_failed', /:2: .*restricted/);
  await refuses('drop database app with (force);', 'import_failed', /:1: ERROR/);
  await refuses('\\connect elsewhere\nselect 1;', 'import_failed', /:1: .*restricted/);
  const long = gzipSync(`${text}-- ${randomBytes(200_000).toString('hex')}\n`);
  await refuses(long.subarray(0, long.length >> 1), 'import_failed', /unexpected end/);
  for (const [what, content] of notSql) await refuses(content, 'import_format_unknown', new RegExp(what));
  assert.equal((await server.ssh(`docker ps -q --filter name=${source.container}`)).trim().length, 12);
});

test('mariadb: uploads of each kind are taken, whatever they do reaches nothing but their own copy', async (t) => {
  const scene = await newScene(t, 'mariadb');
  const { sql, upload, discard, engine, site, source } = scene;
  await sql("CREATE TABLE kept (id INT PRIMARY KEY, x TEXT); INSERT INTO kept VALUES (1, 'live');");
  const live = () =>
    sql(
      'SHOW TABLES; SELECT * FROM kept; SHOW DATABASES; SELECT user, host, authentication_string FROM mysql.user ORDER BY 1, 2;',
    );
  const before = await live();
  const takes = async (content: string | Buffer, query: string, expected: string, base?: 'copy') => {
    const staging = await upload(content, base);
    await engine.swap(site, source, { staging, previous: 'previous_x' });
    assert.equal((await sql(query)).trim(), expected);
    await engine.swap(site, source, { staging: 'previous_x', previous: staging });
    await discard(staging);
    assert.equal(await live(), before);
  };
  const refuses = async (content: string | Buffer, code: Fault['code'], says: RegExp) => {
    await assert.rejects(upload(content), failsWith(code, says));
    assert.equal(await live(), before);
    assert.equal((await scene.leftovers()).trim(), '');
  };
  const dump = await inside(
    scene,
    `sh -c 'MYSQL_PWD=$MARIADB_ROOT_PASSWORD mariadb-dump -uroot --databases app'`,
  );
  await takes(gzipSync(dump), 'SELECT x FROM kept', 'live');
  await takes(
    "USE app; INSERT INTO kept VALUES (2, 'new'); COMMIT;",
    'SELECT COUNT(*) FROM kept',
    '2',
    'copy',
  );
  await takes(
    'CREATE TABLE t (id INT); CREATE DEFINER=ghost@nowhere VIEW v AS SELECT 1 AS one;',
    'SELECT COUNT(*) FROM t',
    '0',
  );
  await refuses(
    "CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nCOMMIT;\nINSERT INTO nowhere VALUES ('last');",
    'import_failed',
    /nowhere[\s\S]*at line 4/,
  );
  await refuses('CREATE DATABASE other;\nUSE other;', 'import_failed', /Access denied[\s\S]*other/);
  await refuses("SET PASSWORD FOR root@localhost = PASSWORD('x');", 'import_failed', /at line 1/);
  await refuses('PGDMP nonsense', 'import_format_unknown', /pg_dump/);
  for (const [what, content] of notSql.slice(0, 2))
    await refuses(content, 'import_format_unknown', new RegExp(what));
});

test('a dump that is damaged, cut or of another version is refused, and what is live stays', async (t) => {
  const scene = await newScene(t, 'postgres');
  const { engine, site, source, put, save, scratch } = scene;
  await scene.fill(5_000);
  const sums = await scene.sums();
  const dump = await engine.dump(site, source);
  const whole = await readFile(await save(dump));
  const raw = zstdDecompressSync(whole);
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(flipped.readUInt8(whole.length >> 1) ^ 1, whole.length >> 1);
  const newer = Buffer.from(raw);
  newer.writeUInt8(99, 6);
  const cases = {
    flipped,
    cut: whole.subarray(0, whole.length - 2_000),
    newer: zstdCompressSync(newer),
    cutInside: zstdCompressSync(raw.subarray(0, raw.length - 2_000)),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    await writeFile(scratch, bytes);
    const file = await put(scratch, name);
    const tried = await engine.verifyRestore(site, source, file, `mark-${name.toLowerCase()}`, quiet);
    assert.equal(tried.outcome, 'corrupt', name);
    const wish = { staging: 'staging_1', base: 'empty', content: 'dump' } as const;
    await assert.rejects(
      engine.loadStaging(site, source, file, wish, quiet),
      failsWith('restore_failed'),
      name,
    );
    assert.equal(await scene.sums(), sums);
    assert.equal(
      (await scene.sql("select count(*) from pg_database where datname = 'staging_1'")).trim(),
      '0',
    );
    assert.equal((await scene.leftovers()).trim(), '');
  }
});

test('a million rows: dumped, tried, and a load that is killed in the middle is begun again', async (t) => {
  const scene = await newScene(t, 'postgres');
  const { engine, site, source, put, save, server } = scene;
  // More are loaded by `npm run bench -- backup`.
  await scene.fill(1_000_000);
  const sums = await scene.sql('select count(*), sum(hashtext(t::text)::bigint) from many t');
  const dump = await engine.dump(site, source);
  const file = await put(await save(dump), 'large');
  const { contentStats } = await dump.ended;
  const tried = await engine.verifyRestore(site, source, file, 'mark-large', quiet);
  assert.deepEqual(tried, { outcome: 'restored', contentStats });

  const names = { staging: 'staging_1', previous: 'previous_1' };
  const wish = { staging: names.staging, base: 'empty', content: 'dump' } as const;
  // So slow that the kill comes in the middle of it, however fast the machine is.
  const allow = (cpus: number) => server.ssh(`docker update --cpus ${cpus} ${source.container}`);
  await allow(0.1);
  const seen: number[] = [];
  let killing: Promise<string> | undefined;
  const killed = engine.loadStaging(site, source, file, wish, {
    log: () => undefined,
    fraction: (done) => {
      seen.push(done);
      killing ??= server.ssh('systemctl kill --signal=KILL slipway-load-staging-1.service');
    },
  });
  await assert.rejects(killed, failsWith('work_lost'));
  await killing;
  assert.ok(seen.length > 0 && seen.every((each) => each >= 0 && each < 1), String(seen));
  await allow(1);
  await engine.loadStaging(site, source, file, wish, quiet);
  await engine.swap(site, source, names);
  assert.equal(await scene.sql('select count(*), sum(hashtext(t::text)::bigint) from many t'), sums);
});

for (const kind of ['postgres', 'mariadb'] as const) {
  test(`${kind}: rows that are written during a dump are in it and in its stats, or in neither`, async (t) => {
    const scene = await newScene(t, kind);
    const { engine, site, source, sql, server } = scene;
    await sql('CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT PRIMARY KEY);');
    const client =
      kind === 'postgres' ? 'psql -XqU app app' : 'MYSQL_PWD=$MARIADB_ROOT_PASSWORD mariadb -uroot app';
    const writer = `i=0; while :; do i=$((i+1)); echo "BEGIN; INSERT INTO a VALUES ($i); INSERT INTO b VALUES ($i); COMMIT;"; sleep 0.002; done | ${client}`;
    await server.ssh(`docker exec -d ${source.container} sh -c '${writer}'`);
    const prefix = kind === 'postgres' ? 'rows of public.' : 'rows of ';
    const counts: unknown[] = [];
    for (let round = 0; round < 2; round += 1) {
      const dump = await engine.dump(site, source);
      const file = await scene.put(await scene.save(dump), `busy-${round}`);
      const { contentStats } = await dump.ended;
      assert.equal(contentStats[`${prefix}a`], contentStats[`${prefix}b`]);
      assert.deepEqual(await engine.verifyRestore(site, source, file, 'mark-busy', quiet), {
        outcome: 'restored',
        contentStats,
      });
      counts.push(contentStats[`${prefix}a`]);
    }
    assert.equal(new Set(counts).size, 2, `it was written all the time: ${counts}`);
  });
}

test('mariadb: a dump is proven by loading it, brings everything back, can be taken back, and ends when nobody reads it', (t) =>
  proveDumps(t, lab, 'mariadb'));
