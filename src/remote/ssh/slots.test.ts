import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChannelUse, Slots } from './slots.ts';

const forever = new AbortController().signal;

/** Who gets a place, in the order in which they get it. */
function watch(slots: Slots) {
  const order: string[] = [];
  const gives: (() => void)[] = [];
  const ask = (owner: object, name: string, use: ChannelUse = 'command', signal = forever) =>
    slots.take(owner, use, signal).then((give) => {
      order.push(name);
      gives.push(give);
    });
  const next = async () => {
    gives.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { order, ask, next };
}

test('owners take turns: one with many commands does not keep another waiting', async () => {
  const { order, ask, next } = watch(new Slots(1));
  const [busy, other] = [{}, {}];
  for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(busy, name);
  for (const name of ['b1', 'b2']) void ask(other, name);
  for (let count = 0; count < 6; count += 1) await next();
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
});

test('streams leave two places for commands', async () => {
  const { order, ask, next } = watch(new Slots(4));
  for (const name of ['s1', 's2', 's3']) void ask({}, name, 'stream');
  for (const name of ['c1', 'c2']) void ask({}, name);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ['s1', 's2', 'c1', 'c2']);
  await next();
  assert.deepEqual(order.at(-1), 's3');
});

test('who gives up while waiting takes no place', async () => {
  const { order, ask, next } = watch(new Slots(1));
  const patience = new AbortController();
  void ask({}, 'first');
  const gone = assert.rejects(ask({}, 'gone', 'command', patience.signal), /too long/);
  void ask({}, 'last');
  patience.abort(new Error('too long'));
  await gone;
  await next();
  assert.deepEqual(order, ['first', 'last']);
});

test('a server that takes fewer gets fewer, but never none', async () => {
  const slots = new Slots(3);
  const { order, ask, next } = watch(slots);
  for (const name of ['a', 'b', 'c', 'd']) void ask({}, name);
  await new Promise((resolve) => setImmediate(resolve));
  for (let count = 0; count < 5; count += 1) slots.shrink();
  await next();
  assert.deepEqual(order, ['a', 'b', 'c']);
  await next();
  assert.deepEqual(order, ['a', 'b', 'c', 'd'], 'a place is left as soon as two are free');
});
