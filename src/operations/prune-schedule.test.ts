import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedDatabase, newWorkspace } from '../../test/support/database.ts';
import { day, minute } from '../clock.ts';
import { appendEvents } from '../events/events.ts';
import { newId } from '../ids.ts';
import { sql } from '../store/sql.ts';
import { OperationKinds } from './kinds.ts';
import { answersKeptMs, pruneSchedule } from './prune-schedule.ts';

test('answers are kept for their time and not longer, and so are events', async (t) => {
  const { db } = await migratedDatabase(t);
  const workspaceId = await newWorkspace(db);
  const claim = (key: string, agoMs: number, isAnswered: boolean) =>
    db.run(sql`
      insert into idempotency_keys (workspace_id, key, fingerprint, claim, claimed_at, status, answered_at)
      values (${workspaceId}, ${key}, ${Buffer.alloc(32)}, ${newId()}, ${new Date(Date.now() - agoMs)},
        ${isAnswered ? 201 : null}, ${isAnswered ? new Date() : null})`);
  await claim('old', answersKeptMs + minute, true);
  await claim('abandoned', answersKeptMs + minute, false);
  await claim('recent', answersKeptMs - minute, true);
  for (const [kind, agoMs] of [
    ['old', 31 * day],
    ['recent', 29 * day],
  ] as const) {
    await db.transaction((tx) =>
      appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind, data: {} }]),
    );
    await db.run(sql`update events set at = ${new Date(Date.now() - agoMs)} where kind = ${kind}`);
  }
  await pruneSchedule(db, new OperationKinds(), { eventDays: 30, operationDays: 90, auditDays: 365 }).run();
  const keys = await db.rows<{ key: string }>(sql`select key from idempotency_keys`);
  assert.deepEqual(keys, [{ key: 'recent' }]);
  const events = await db.rows<{ kind: string }>(sql`select kind from events`);
  assert.deepEqual(events, [{ kind: 'recent' }]);
});
