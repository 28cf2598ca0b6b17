import assert from 'node:assert/strict';
import { createHash, createHmac, type Hash, type Hmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Idempotency } from '../src/http/idempotency.ts';
import { sql } from '../src/store/sql.ts';
import { TestClock } from './support/app.ts';
import { migratedDatabase, newWorkspace } from './support/database.ts';

const request = {
  headers: { 'idempotency-key': 'one' },
  method: 'POST',
  url: '/things',
  body: { name: 'a' },
};

test('work that saved its answer is done once; work that saved none, or failed, is done again', async (t) => {
  const { db } = await migratedDatabase(t);
  const workspaceId = await newWorkspace(db);
  const idempotency = new Idempotency(db, new TestClock(), Buffer.alloc(32, 1));
  let runs = 0;
  const run = () => {
    runs += 1;
    return { run: runs };
  };
  const looking = () => idempotency.once(workspaceId, request, async () => ({ status: 200, body: run() }));
  assert.deepEqual(await looking(), { status: 200, body: { run: 1 } });
  assert.deepEqual(await looking(), { status: 200, body: { run: 2 } }, 'nothing was saved');

  const failing = idempotency.once(workspaceId, request, async () => {
    throw new Error('it failed');
  });
  await assert.rejects(failing, /it failed/);

  const making = () =>
    idempotency.once(workspaceId, request, (saveResponse) =>
      db.transaction((tx) => saveResponse(tx, { status: 201, location: '/things/1', body: run() })),
    );
  const made = { status: 201, location: '/things/1', body: { run: 3 } };
  assert.deepEqual(await making(), made);
  assert.deepEqual(await making(), made, 'the first answer again');
  assert.equal(runs, 3);
});

test('whoever has a copy of the database cannot try passwords against what was sent', async (t) => {
  const { db } = await migratedDatabase(t);
  const workspaceId = await newWorkspace(db);
  const key = randomBytes(32);
  const sent = { ...request, body: { password: 'summer' } };
  const answer = { status: 201, body: null };
  await new Idempotency(db, new TestClock(), key).once(workspaceId, sent, (saveResponse) =>
    db.transaction((tx) => saveResponse(tx, answer)),
  );
  const row = await db.one<{ fingerprint: Buffer }>(sql`select fingerprint from idempotency_keys`);
  const parts = JSON.stringify([sent.method, sent.url, sent.body]);
  const tried = (hash: Hash | Hmac) =>
    hash
      .update(parts)
      .digest()
      .equals(row?.fingerprint ?? Buffer.alloc(0));
  assert.ok(!tried(createHash('sha256')));
  assert.ok(tried(createHmac('sha256', key)), 'the same with the key that is not in it');
});
