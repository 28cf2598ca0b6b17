import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../src/http/metrics.ts';
import { createLog } from '../../src/log.ts';
import { readBacklog } from '../../src/operations/backlog.ts';
import { defineOperation } from '../../src/operations/definition.ts';
import { OperationKinds } from '../../src/operations/kinds.ts';
import { cancelOperation } from '../../src/operations/operations.ts';
import { Runner } from '../../src/operations/runner.ts';
import { connectDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { TrialDatabase } from '../faults/database.ts';
import { OperationBench } from '../support/operations.ts';
import { until } from '../support/until.ts';

/** What is told of operations, without the buckets. */
function toldOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => /^slipway_(operation|database)/.test(line) && !/_bucket|_sum/.test(line));
}

test('figures say how much work there is, how long it waits, and how what was asked for ended', async (t) => {
  const bench = await OperationBench.open(t);
  const gate = Promise.withResolvers<void>();
  const kinds = new OperationKinds();
  kinds.add(
    defineOperation<{ readonly how: string }>({
      kind: 'gated',
      readInput: (stored) => {
        const { how } = Object(stored);
        if (typeof how !== 'string') throw new Error('no word how');
        return { how };
      },
      steps: [
        {
          name: 'wait',
          deadlineMs: 20_000,
          undo: { none: 'nothing was done' },
          run: async ({ how }, { signal }) => {
            const stopped = new Promise((_, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
            );
            await Promise.race([how === 'cancelled' ? stopped : gate.promise, stopped]);
            if (how === 'failed') throw new Error('it fails as planned');
            return undefined;
          },
        },
      ],
    }),
  );
  const metrics = new Metrics(() => readBacklog(bench.db));
  const told = async () => toldOf((await metrics.told()).text);
  const nothing = ['slipway_operations_longest_wait_seconds 0', 'slipway_database_up 1'];
  assert.deepEqual(await told(), nothing);

  const runner = new Runner(bench.db, kinds, bench.queue, createLog('silent'), {
    leaseMs: 900,
    pollMs: 30,
    maxRunning: 10,
    perWorkspace: 10,
    perServer: 10,
    ended: (kind, state, seconds) => metrics.countEnd(kind, state, seconds),
  });
  runner.start();
  t.after(() => runner.stop());
  const queueKey = bench.workspaceId;
  await bench.enqueue({ how: 'succeeded' }, { kind: 'gated', queueKey });
  await bench.enqueue({ how: 'failed' }, { kind: 'gated', queueKey });
  const unwanted = await bench.enqueue({ how: 'cancelled' }, { kind: 'gated' });
  await bench.enqueue({}, { kind: 'gated' });
  await until(async () => (await told()).some((line) => line.includes('state="running"} 2')));
  await until(async () =>
    (await told()).includes('slipway_operation_seconds_count{kind="gated",state="failed"} 1'),
  );
  const busy = await told();
  assert.ok(busy.includes('slipway_operations_unfinished{kind="gated",state="queued"} 1'), busy.join('\n'));
  const waits = busy.find((line) => line.startsWith('slipway_operations_longest_wait_seconds '));
  assert.ok(Number(waits?.split(' ')[1]) > 0, 'the second in the queue is due, and waits');

  await cancelOperation(bench.db, kinds, bench.workspaceId, unwanted);
  gate.resolve();
  const ends = [
    'slipway_operation_seconds_count{kind="gated",state="cancelled"} 1',
    'slipway_operation_seconds_count{kind="gated",state="failed"} 2',
    'slipway_operation_seconds_count{kind="gated",state="succeeded"} 1',
  ];
  const all = [...ends, ...nothing].sort().join('\n');
  await until(async () => (await told()).sort().join('\n') === all);
});

test('without its database an instance tells that, and its own figures all the same', async (t) => {
  const database = await TrialDatabase.open();
  const log = createLog('silent');
  const db = connectDatabase({ connectionString: database.url }, log);
  t.after(async () => {
    await db.close();
    await database.remove();
  });
  await migrate(db, log);
  const metrics = new Metrics(() => readBacklog(db));
  assert.match((await metrics.told()).text, /^slipway_database_up 1$/m);
  await database.stop();
  const { text } = await metrics.told();
  assert.deepEqual(toldOf(text), ['slipway_database_up 0']);
  assert.match(text, /^slipway_process_cpu_seconds_total /m);
  await database.start();
  assert.match((await metrics.told()).text, /^slipway_database_up 1$/m);
});
