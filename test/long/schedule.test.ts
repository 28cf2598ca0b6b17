import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../src/log.ts';
import { OperationQueue } from '../../src/operations/queue.ts';
import { connectDatabase } from '../../src/store/database.ts';
import { Listener } from '../../src/store/listener.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

test('a schedule fires once in the whole installation, not once an instance', async (t) => {
  const connectionString = await createTestDatabase();
  const log = createLog('silent');
  let runs = 0;
  const instances = await Promise.all(
    [1, 2].map(async () => {
      const db = connectDatabase({ connectionString }, log);
      const listener = new Listener({ connectionString }, log);
      await listener.start();
      const queue = new OperationQueue(db, listener, log);
      const run = async () => {
        runs += 1;
      };
      queue.add({ name: 'every-minute', cron: '* * * * *', timezone: 'UTC', run });
      await queue.start(() => undefined);
      return { db, listener, queue };
    }),
  );
  t.after(async () => {
    for (const { db, listener, queue } of instances) {
      await queue.stop();
      await listener.stop();
      await db.close();
    }
  });
  // A minute begins, the clock of the queue notices within half of one, a worker looks within another half.
  await until(() => runs > 0);
  await sleep(5_000);
  assert.equal(runs, 1);
});
