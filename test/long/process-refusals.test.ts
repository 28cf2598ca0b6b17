import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from '../../src/store/sql.ts';
import { migratedDatabase } from '../support/database.ts';
import { newInstance, refusal } from '../support/instance.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { noneLeft, postmasterOf } from '../support/service.ts';

test('an address and a port that cannot be had are refused by their names, and the database that was started ends; a second start is refused, and the first goes on', async (t) => {
  const { dataDir, start } = newInstance(t);

  await t.test('an address that is not ours', async () => {
    const sentence = await refusal(start({ SLIPWAY_HOST: '192.0.2.1' }));
    assert.match(sentence, /192\.0\.2\.1:0 .*EADDRNOTAVAIL.*SLIPWAY_HOST/);
    await noneLeft(dataDir, 0);
  });

  await t.test('a port that is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    t.after(() => taken.close());
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const sentence = await refusal(start({ SLIPWAY_PORT: String(port) }));
    assert.ok(sentence.startsWith(`127.0.0.1:${port} is taken by another program.`), sentence);
    assert.match(sentence, /SLIPWAY_PORT/);
    await noneLeft(dataDir, 0);
  });

  await t.test('a second start on the same data folder', async () => {
    const first = start();
    const url = await first.url();
    const database = postmasterOf(dataDir);
    const sentence = await refusal(start());
    assert.ok(sentence.startsWith(`Another Slipway is running on the data folder ${dataDir}.`), sentence);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    assert.equal(postmasterOf(dataDir), database, 'its database was not touched');
    await first.kill('SIGTERM');
    await noneLeft(dataDir);
  });
});

test('a wrong or unknown setting is refused by its name before anything is touched', async (t) => {
  const { dataDir, start } = newInstance(t);
  assert.match(await refusal(start({ SLIPWAY_PORT: 'http' })), /^SLIPWAY_PORT is wrong: "http" /);
  assert.match(await refusal(start({ SLIPWAY_PROT: '80' })), /^SLIPWAY_PROT is not a setting of Slipway\./);
  const secret = await refusal(start({ SLIPWAY_MASTER_KEY: 'hunter2' }));
  assert.match(secret, /^SLIPWAY_MASTER_KEY is wrong: /);
  assert.doesNotMatch(secret, /hunter2/);
  assert.throws(() => readFileSync(join(dataDir, 'master.key')), { code: 'ENOENT' });
});

test('a database newer than the code is refused and left as it is', async (t) => {
  const { db, url } = await migratedDatabase(t);
  await db.run(sql`insert into schema_migrations (version, name, checksum) values (9999, '9999_later', 'x')`);
  const sentence = await refusal(newInstance(t).start({ SLIPWAY_DATABASE_URL: url }));
  assert.match(sentence, /^The database was made by a newer Slipway: its schema is 9999, /);
});

test('a database sealed with another master key is refused', async (t) => {
  const databaseUrl = await createTestDatabase();
  const first = newInstance(t).start({ SLIPWAY_DATABASE_URL: databaseUrl });
  await first.url();
  await first.kill('SIGTERM');
  const sentence = await refusal(newInstance(t).start({ SLIPWAY_DATABASE_URL: databaseUrl }));
  assert.match(sentence, /^The database was sealed with the master key [0-9a-f]{16}, .* SLIPWAY_MASTER_KEY /);
});

test('a data folder of another PostgreSQL version is refused and left as it is', async (t) => {
  const { dataDir, start } = newInstance(t);
  const file = join(dataDir, 'postgres', 'PG_VERSION');
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  writeFileSync(file, '17\n');
  const sentence = await refusal(start());
  assert.match(sentence, /holds a PostgreSQL 17 database, this Slipway runs PostgreSQL 18\./);
  assert.equal(readFileSync(file, 'utf8'), '17\n');
  await noneLeft(dataDir, 0);
});

test('a database server that does not answer is refused by its setting and the reason, without its password', async (t) => {
  const port = 1; // nobody listens there
  const urls = [
    `postgres://slipway:hunter2@127.0.0.1:${port}/slipway`,
    `postgres://slipway:hunter2@localhost:${port}/slipway`,
  ];
  const sentences = await Promise.all(
    urls.map((url) => refusal(newInstance(t).start({ SLIPWAY_DATABASE_URL: url }))),
  );
  for (const sentence of sentences) {
    assert.match(sentence, /SLIPWAY_DATABASE_URL cannot be used: .*ECONNREFUSED/);
    assert.doesNotMatch(sentence, /hunter2/);
  }
});

test('a wrong password for the database is refused at once, with what the server says', async (t) => {
  const { url } = await migratedDatabase(t);
  const wrong = new URL(url);
  wrong.password = 'hunter2';
  const sentence = await refusal(newInstance(t).start({ SLIPWAY_DATABASE_URL: wrong.href }));
  assert.match(sentence, /SLIPWAY_DATABASE_URL cannot be used: password authentication failed/);
  assert.doesNotMatch(sentence, /hunter2/);
});

test('a data folder that cannot be made is refused by its path', async (t) => {
  const { dataDir, start } = newInstance(t);
  writeFileSync(dataDir, 'a file');
  const sentence = await refusal(start());
  assert.ok(sentence.startsWith(`The data folder ${dataDir} cannot be used: EEXIST`), sentence);
});
