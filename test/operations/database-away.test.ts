import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../../src/fault.ts';
import { createLog } from '../../src/log.ts';
import { defineOperation } from '../../src/operations/definition.ts';
import { OperationKinds } from '../../src/operations/kinds.ts';
import { Runner } from '../../src/operations/runner.ts';
import { OperationBench } from '../support/operations.ts';

const away = () => new Fault('database_unavailable', 'The database does not answer at the moment.');

test('a database that is away while a step or an undo asks it ends no operation and skips no undo', async (t) => {
  const bench = await OperationBench.open(t);
  const acts: string[] = [];
  const onceAway = (act: string) => {
    acts.push(act);
    if (acts.filter((each) => each === act).length === 1) throw away();
  };
  const kinds = new OperationKinds();
  kinds.add(
    defineOperation<{ readonly fails: boolean }>({
      kind: 'asking',
      readInput: (stored) => ({ fails: Object(stored).fails === true }),
      steps: [
        {
          name: 'ask',
          deadlineMs: 20_000,
          run: async ({ fails }) => {
            onceAway(`ask ${fails}`);
            if (fails) throw new Fault('bad_request', 'It fails as planned.');
            return undefined;
          },
          undo: async ({ fails }) => onceAway(`undo ${fails}`),
        },
      ],
    }),
  );
  const options = { leaseMs: 900, pollMs: 30, maxRunning: 10, perWorkspace: 10, perServer: 10 };
  const runner = new Runner(bench.db, kinds, bench.queue, createLog('silent'), options);
  runner.start();
  t.after(() => runner.stop());
  const good = await bench.enqueue({ fails: false }, { kind: 'asking' });
  const bad = await bench.enqueue({ fails: true }, { kind: 'asking' });
  assert.equal((await bench.ended(good)).state, 'succeeded');
  const { state, fault } = await bench.ended(bad);
  assert.deepEqual([state, fault?.code], ['failed', 'bad_request']);
  assert.deepEqual(acts.toSorted(), [
    ...['ask false', 'ask false', 'ask true', 'ask true', 'undo true', 'undo true'],
  ]);
});
