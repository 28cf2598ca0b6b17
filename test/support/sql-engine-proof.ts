/** What a backup of a SQL database has to stand, on a real one: dumped, tried, brought back, taken back, broken off. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { TestLab } from './lab.ts';
import { engineScene, quiet } from './sql-engine-scene.ts';
import { until } from './until.ts';

const muchMore = {
  postgres:
    'CREATE TABLE more AS SELECT md5(random()::text) || md5(random()::text) AS text FROM generate_series(1, 600000);',
  mariadb: 'CREATE TABLE more AS SELECT CONCAT(MD5(RAND()), MD5(RAND())) AS text FROM seq_1_to_600000;',
};

export async function proveDumps(t: TestContext, lab: TestLab, kind: 'postgres' | 'mariadb'): Promise<void> {
  const server = await lab.shared('docker');
  const scene = await engineScene(t, server, kind);
  const { site, source, engine, sql } = scene;
  await scene.fill(110_000);
  const sums = await scene.sums();

  const dump = await engine.dump(site, source);
  const saved = await scene.save(dump);
  const { contentStats, rawBytes, warning } = await dump.ended;
  assert.equal(warning, null);
  assert.ok(rawBytes > 3_000_000, String(rawBytes));
  assert.equal(contentStats[kind === 'postgres' ? 'rows of public.many' : 'rows of many'], 110_000);
  assert.ok(Object.keys(contentStats).length > 20, JSON.stringify(contentStats));
  const file = await scene.put(saved, 'dump');

  const tried = await engine.verifyRestore(site, source, file, 'mark1', quiet);
  assert.deepEqual(tried, { outcome: 'restored', contentStats });
  assert.equal((await scene.leftovers()).trim(), '');

  await sql('DROP TABLE many; DELETE FROM people; CREATE TABLE newer (id int);');
  const damaged = await scene.sums().catch(String);
  const names = { staging: 'staging_1', previous: 'previous_1' };
  const wish = { staging: names.staging, base: 'empty', content: 'dump' } as const;
  const fractions: number[] = [];
  const lines: string[] = [];
  const progress = {
    log: (line: string) => lines.push(line),
    fraction: (done: number) => fractions.push(done),
  };
  await engine.loadStaging(site, source, file, wish, progress);
  assert.equal(await scene.sums().catch(String), damaged, 'what is live is not touched by a load');
  await engine.swap(site, source, names);
  assert.equal(await scene.sums(), sums);
  await engine.swap(site, source, names);
  assert.equal(await scene.sums(), sums, 'a swap that is done is not done again');

  await engine.swap(site, source, { staging: names.previous, previous: names.staging });
  assert.match(await sql('SELECT COUNT(*) FROM newer;'), /^0$/m, 'taken back');
  await engine.swap(site, source, names);
  await engine.discard(site, source, names.previous);
  await engine.discard(site, source, names.previous);
  assert.equal(await scene.sums(), sums);
  assert.equal((await scene.leftovers()).trim(), '');

  const tool = kind === 'postgres' ? 'pg_dump' : 'mariadb-dump';
  // More than fits into what lies between the tool and a reader who has stopped.
  await sql(muchMore[kind]);
  const unread = await engine.dump(site, source);
  unread.content.once('data', () => unread.content.pause());
  await until(async () => (await scene.running(tool)) === 1, 'the tool to run');
  unread.content.destroy();
  await assert.rejects(unread.ended);
  await until(async () => (await scene.running(tool)) === 0, 'the tool to end');
  const client = kind === 'postgres' ? 'psql' : 'mariadb';
  await until(async () => (await scene.running(client)) === 0, 'its clients to end');

  await server.ssh(`docker stop -t 30 ${source.container}`);
  const down = await engine.dump(site, source);
  down.content.resume().on('error', () => undefined);
  await assert.rejects(down.ended, { code: 'database_down' });
}
