/** A step that is rows alone is done in the transaction of its entries, between the step before and the one after it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/log.ts';
import { defineOperation } from '../../src/operations/definition.ts';
import type { JournalHook } from '../../src/operations/journal.ts';
import { OperationKinds } from '../../src/operations/kinds.ts';
import { assertLease } from '../../src/operations/operations.ts';
import { Runner } from '../../src/operations/runner.ts';
import type { Queryable } from '../../src/store/database.ts';
import { sql } from '../../src/store/sql.ts';
import { OperationBench } from '../support/operations.ts';

interface Input {
  /** How often the rows are refused. */
  refusals: number;
}

test('a step that is rows alone', async (t) => {
  const bench = await OperationBench.open(t);
  const { db } = bench;
  await db.raw('create table marks (operation uuid, word text)');
  const mark = (tx: Queryable, operation: string, word: string) =>
    tx.run(sql`insert into marks values (${operation}, ${word})`);
  const wordsOf = async (id: string) =>
    (await db.rows<{ word: string }>(sql`select word from marks where operation = ${id}`)).map(
      ({ word }) => word,
    );
  const undone: string[] = [];
  const left = new Map<string, number>();
  const writeRows = async (tx: Queryable, { refusals }: Input, operationId: string) => {
    await mark(tx, operationId, 'rows');
    const refused = left.get(operationId) ?? refusals;
    left.set(operationId, refused - 1);
    if (refused > 0) throw new Error('refused as planned');
    return { word: 'written' };
  };
  const kinds = new OperationKinds();
  kinds.add(
    defineOperation<Input>({
      kind: 'with-rows',
      readInput: (stored) => ({ refusals: Number(Object(stored).refusals) }),
      steps: [
        {
          name: 'before',
          deadlineMs: 20_000,
          undo: async (_, { operationId }) => void undone.push(`${operationId} before`),
          run: async () => 1,
        },
        {
          name: 'rows',
          deadlineMs: 20_000,
          undo: async (_, { operationId }) => void undone.push(`${operationId} rows`),
          rows: (tx, input, { operationId }) => writeRows(tx, input, operationId),
          run: (input, context) =>
            db.transaction(async (tx) => {
              await assertLease(tx, context);
              return writeRows(tx, input, context.operationId);
            }),
        },
        {
          name: 'after',
          deadlineMs: 20_000,
          undo: { none: 'nothing was done' },
          run: async (_, { operationId, outputs }) => {
            const { word } = Object(outputs.get('rows'));
            await mark(db, operationId, `after ${word}`);
            return undefined;
          },
        },
      ],
    }),
  );
  const writes: string[] = [];
  let together: string[] = [];
  const hook: JournalHook = (moment, entry) => {
    if (moment === 'before') together.push(entry);
    else if (together.length > 0) {
      writes.push(together.join(', '));
      together = [];
    }
  };
  const options = { leaseMs: 9_000, pollMs: 30, maxRunning: 1, perWorkspace: 10, perServer: 10, hook };
  const runner = new Runner(db, kinds, bench.queue, createLog('silent'), options);
  runner.start();
  t.after(() => runner.stop());
  const run = async (refusals: number) => {
    writes.length = 0;
    together = [];
    const id = await bench.enqueue({ refusals }, { kind: 'with-rows' });
    return { id, ...(await bench.ended(id)) };
  };

  await t.test('takes no write of its own, and those after it have its output', async () => {
    const { id, state } = await run(0);
    assert.equal(state, 'succeeded');
    assert.deepEqual(await wordsOf(id), ['rows', 'after written']);
    assert.deepEqual(writes, [
      'begun, before running',
      'before done, rows running, rows done, after running',
      'after done, succeeded',
    ]);
  });

  await t.test('is tried by itself where it spoils the write, which left nothing', async () => {
    const { id, state } = await run(1);
    assert.equal(state, 'succeeded');
    assert.deepEqual(await wordsOf(id), ['rows', 'after written']);
  });

  await t.test('fails as any other, with what is undone then', async () => {
    const { id, state, fault } = await run(2);
    assert.deepEqual([state, fault?.step, fault?.evidence], ['failed', 'rows', 'refused as planned']);
    assert.deepEqual(await wordsOf(id), []);
    assert.deepEqual(
      undone.filter((each) => each.startsWith(id)),
      [`${id} rows`, `${id} before`],
    );
  });
});
