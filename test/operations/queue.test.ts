import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readEvents } from '../../src/events/events.ts';
import { Fault } from '../../src/fault.ts';
import { newId, type OperationId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { defineOperation, type StateChange, type Step } from '../../src/operations/definition.ts';
import { OperationKinds } from '../../src/operations/kinds.ts';
import {
  cancelIn,
  cancelOperation,
  hasUnfinishedInQueue,
  lockQueued,
} from '../../src/operations/operations.ts';
import { Runner } from '../../src/operations/runner.ts';
import { sql } from '../../src/store/sql.ts';
import { OperationBench } from '../support/operations.ts';
import { until, waitingForLocks } from '../support/until.ts';

interface Input {
  readonly name: string;
  readonly feed: string;
}

/** Steps that wait until they are let go, in this process; `acts` is what happened, in order. */
class Scene {
  readonly bench: OperationBench;
  readonly kinds = new OperationKinds();
  readonly acts: string[] = [];
  readonly changes: StateChange[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  constructor(bench: OperationBench) {
    this.bench = bench;
    const step = (name: string, more: Partial<Step<Input>> = {}): Step<Input> => ({
      name,
      deadlineMs: 20_000,
      run: async (input, context) => {
        this.acts.push(`${input.name} ${name}`);
        context.log(`${input.name} in ${name}`);
        await Promise.race([this.gate(`${input.name} ${name}`).promise, stopped(context.signal)]);
        return undefined;
      },
      undo: async (input) => void this.acts.push(`${input.name} undo ${name}`),
      ...more,
    });
    this.kinds.add(
      defineOperation<Input>({
        kind: 'two-steps',
        readInput: (stored) => ({ name: String(Object(stored).name), feed: String(Object(stored).feed) }),
        steps: [
          step('work'),
          // Never among what happened: the step before has left it nothing to do.
          step('rest', { isIdle: (outputs) => outputs.has('work') }),
          step('tidy', { isPostCommit: true, undo: { none: 'it is only tidying' } }),
        ],
        logFeed: ({ feed }) => feed as OperationId,
        onStateChange: async (_tx, _operation, change) => void this.changes.push(change),
      }),
    );
  }

  static async open(t: TestContext): Promise<Scene> {
    const scene = new Scene(await OperationBench.open(t));
    const { db, queue } = scene.bench;
    const options = { leaseMs: 900, pollMs: 30, maxRunning: 10, perWorkspace: 10, perServer: 10 };
    const runner = new Runner(db, scene.kinds, queue, createLog('silent'), options);
    runner.start();
    t.after(() => runner.stop());
    return scene;
  }

  gate(name: string): PromiseWithResolvers<void> {
    const found = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, found);
    return found;
  }

  enqueue(name: string, queueKey?: string): Promise<OperationId> {
    const input = { name, feed: newId<OperationId>() };
    return this.bench.enqueue(input, { kind: 'two-steps', ...(queueKey && { queueKey }) });
  }

  async begun(act: string): Promise<void> {
    await until(() => this.acts.includes(act));
  }

  letGo(...names: string[]): void {
    for (const name of names) for (const step of ['work', 'tidy']) this.gate(`${name} ${step}`).resolve();
  }

  cancel(id: OperationId): Promise<void> {
    return cancelOperation(this.bench.db, this.kinds, this.bench.workspaceId, id);
  }
}

async function stopped(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  throw signal.reason;
}

const isAlreadyFinished = (error: unknown) => error instanceof Fault && error.code === 'already_finished';

test('what shares a key runs one after the other, in order; what does not, beside it', async (t) => {
  const scene = await Scene.open(t);
  const key = newId();
  const ids = [await scene.enqueue('first', key), await scene.enqueue('second', key)];
  ids.push(await scene.enqueue('third', key));
  const other = await scene.enqueue('other', newId());
  await scene.begun('first work');
  await scene.begun('other work');
  assert.equal(await hasUnfinishedInQueue(scene.bench.db, key), true);
  scene.letGo('other');
  await scene.bench.ended(other);
  scene.gate('first work').reject(new Error('as planned'));
  await scene.begun('second work');
  assert.ok(!scene.acts.includes('third work'), 'it waits for the second');
  scene.letGo('second', 'third');
  const [first = newId<OperationId>(), ...rest] = ids;
  assert.equal((await scene.bench.ended(first)).state, 'failed');
  for (const id of rest) assert.equal((await scene.bench.ended(id)).state, 'succeeded');
  const own = scene.acts.filter((act) => !act.startsWith('other'));
  assert.deepEqual(own, [
    ...['first work', 'first undo work', 'second work', 'second tidy', 'third work', 'third tidy'],
  ]);
  assert.equal(await hasUnfinishedInQueue(scene.bench.db, key), false);
});

test('one that pauses before another try keeps its place in the queue', async (t) => {
  const scene = await Scene.open(t);
  const key = newId();
  const first = await scene.enqueue('first', key);
  await scene.begun('first work');
  const second = await scene.enqueue('second', key);
  // As after a worker that died: the lease has run out, and the next look is some time away.
  await scene.bench.db.run(sql`
    update operations set wake_at = now() + interval '1 second', lease_epoch = lease_epoch + 1, lease_until = null
    where id = ${first}`);
  scene.letGo('first', 'second');
  assert.equal((await scene.bench.ended(second)).state, 'succeeded');
  assert.deepEqual(scene.acts.at(-1), 'second tidy');
  assert.ok(scene.acts.lastIndexOf('first tidy') < scene.acts.indexOf('second work'), scene.acts.join());
});

test('one that waits can be ended by its successor; one at work, or being taken up, is left alone', async (t) => {
  const scene = await Scene.open(t);
  const { db, workspaceId } = scene.bench;
  const key = newId();
  const first = await scene.enqueue('first', key);
  await scene.begun('first work');
  const second = await scene.enqueue('second', key);
  // As after a worker that died before its first step.
  await db.run(sql`
    update operations set lease_owner = ${newId()}, lease_until = now() - interval '1 second' where id = ${second}`);
  await db.transaction(async (tx) => {
    assert.equal(await lockQueued(tx, workspaceId, first), false, 'it is at work');
    assert.equal(await lockQueued(tx, newId(), second), false, 'it is of another workspace');
    assert.equal(await lockQueued(tx, workspaceId, second), true);
    const besides = await db.transaction((other) => lockQueued(other, workspaceId, second));
    assert.equal(besides, false, 'another has it in hand, and nobody waits for that');
    assert.equal(await waitingForLocks(db), 0);
    await cancelIn(tx, scene.kinds, workspaceId, second);
  });
  assert.equal((await scene.bench.row(second)).state, 'cancelled');
  assert.ok(await db.exists(sql`select 1 from operations where id = ${second} and lease_until is null`));
  scene.letGo('first');
  assert.equal((await scene.bench.ended(first)).state, 'succeeded');
  await db.transaction(async (tx) => assert.equal(await lockQueued(tx, workspaceId, second), false));
  assert.ok(!scene.acts.some((act) => act.startsWith('second')));
});

test('before an afterthought a cancel undoes everything; from there on it is refused', async (t) => {
  const scene = await Scene.open(t);
  const early = await scene.enqueue('early');
  await scene.begun('early work');
  await scene.cancel(early);
  assert.equal((await scene.bench.ended(early)).state, 'cancelled');
  assert.deepEqual(scene.acts, ['early work', 'early undo work']);
  const late = await scene.enqueue('late');
  scene.gate('late work').resolve();
  await scene.begun('late tidy');
  await assert.rejects(scene.cancel(late), isAlreadyFinished);
  scene.letGo('late');
  assert.equal((await scene.bench.ended(late)).state, 'succeeded');
  await assert.rejects(scene.cancel(late), isAlreadyFinished);
});

test('an afterthought that fails is told in the lines, undoes nothing, and the operation ends well', async (t) => {
  const scene = await Scene.open(t);
  const { bench } = scene;
  const feedId = newId<OperationId>();
  const id = await bench.enqueue({ name: 'one', feed: feedId }, { kind: 'two-steps' });
  scene.gate('one work').resolve();
  await scene.begun('one tidy');
  scene.gate('one tidy').reject(new Error('nothing to tidy with'));
  assert.equal((await bench.ended(id)).state, 'succeeded');
  assert.deepEqual(scene.acts, ['one work', 'one tidy']);
  assert.deepEqual(scene.changes.at(-1), { state: 'succeeded' });
  const range = { after: 0, upTo: Number.MAX_SAFE_INTEGER, limit: 100 };
  const own = { workspaceId: bench.workspaceId, feedId: id };
  const told = await readEvents(bench.db, { workspaceId: bench.workspaceId, feedId }, range);
  const lines = told.map(({ kind, data }) => [kind, data.step, data.line]);
  assert.deepEqual(lines, [
    ['log', 'work', 'one in work'],
    ['log', 'tidy', 'one in tidy'],
    ['log', 'tidy', 'nothing to tidy with'],
  ]);
  const kinds = (await readEvents(bench.db, own, range)).map(({ kind }) => kind);
  assert.ok(!kinds.includes('log'), 'the lines are told in one place');
  assert.equal(kinds.at(-1), 'end');
});

test('a step after a post-commit one is refused where it is defined', () => {
  const step = (name: string, isPostCommit?: true): Step<unknown> => ({
    name,
    deadlineMs: 1,
    run: async () => undefined,
    undo: { none: 'no' },
    ...(isPostCommit && { isPostCommit }),
  });
  const define = (...steps: Step<unknown>[]) =>
    defineOperation({ kind: 'x', readInput: (stored) => stored, steps });
  assert.throws(() => define(step('a', true), step('b')), /post-commit/);
  assert.throws(() => define(step('a', true), step('b'), step('c', true)), /post-commit/);
  assert.deepEqual([...define(step('a'), step('b', true), step('c', true)).postCommitSteps], ['b', 'c']);
  assert.equal(define(step('a'), step('b')).postCommitSteps.size, 0);
});
