import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inbox } from './inbox.ts';

interface Letter {
  readonly id: number;
  readonly to: readonly string[];
}

const letters = () => new Inbox<Letter>(({ to }) => to);
const to = (id: number, ...keys: string[]): Letter => ({ id, to: keys });
const soon = 2000;

test('what came before is read in order, and each only once', async () => {
  const inbox = letters();
  for (const id of [1, 2, 3]) inbox.put(to(id, 'a'));
  assert.deepEqual([(await inbox.next('a', soon))?.id, (await inbox.next('a', soon))?.id], [1, 2]);
  assert.equal((await inbox.next(undefined, soon))?.id, 3);
  assert.equal(await inbox.next('a', 0), undefined);
  assert.equal(inbox.list('a').length, 3, 'what was read is still on the list');
});

test('two who wait get two different ones, first come first served, and none is given twice', async () => {
  const inbox = letters();
  const waiting = [
    inbox.next('a', soon),
    inbox.next('b', soon),
    inbox.next('a', soon),
    inbox.next(undefined, soon),
  ];
  inbox.put(to(1, 'a'));
  inbox.put(to(2, 'a'));
  inbox.put(to(3, 'a'));
  inbox.put(to(4, 'b'));
  assert.deepEqual(
    (await Promise.all(waiting)).map((each) => each?.id),
    [1, 4, 2, 3],
  );
  assert.equal(await inbox.next(undefined, 0), undefined);
});

test('many who wait at once get every one exactly once', async () => {
  const inbox = letters();
  const early = Array.from({ length: 50 }, () => inbox.next('a', soon));
  for (let id = 0; id < 100; id++) inbox.put(to(id, 'a'));
  const late = Array.from({ length: 50 }, () => inbox.next('a', soon));
  const ids = (await Promise.all([...early, ...late])).map((each) => each?.id);
  assert.deepEqual(
    ids,
    Array.from({ length: 100 }, (_, id) => id),
  );
});

test('what goes to two is read once by each, or once by whoever takes anything', async () => {
  const inbox = letters();
  inbox.put(to(1, 'a', 'b'));
  assert.equal((await inbox.next('a', 0))?.id, 1);
  assert.equal(await inbox.next('a', 0), undefined);
  assert.equal((await inbox.next('b', 0))?.id, 1);
  inbox.put(to(2, 'a', 'b'));
  assert.equal((await inbox.next(undefined, 0))?.id, 2);
  assert.equal(await inbox.next('b', 0), undefined);
});

test('whoever gave up takes nothing from the next', async () => {
  const inbox = letters();
  assert.equal(await inbox.next('a', 5), undefined);
  const stop = new AbortController();
  const stopped = inbox.next('a', soon, stop.signal);
  stop.abort(new Error('left'));
  await assert.rejects(stopped, /left/);
  await assert.rejects(inbox.next('a', soon, stop.signal), /left/, 'also when it left before');
  inbox.put(to(1, 'a'));
  assert.equal((await inbox.next('a', 0))?.id, 1);
});

test('a thousand are kept, the oldest go first, and clearing leaves those who wait', async () => {
  const inbox = letters();
  for (let id = 0; id < 1005; id++) inbox.put(to(id, 'a'));
  assert.deepEqual([inbox.list().length, inbox.list()[0]?.id], [1000, 5]);
  assert.equal((await inbox.next('a', 0))?.id, 5);
  inbox.clear();
  assert.deepEqual([inbox.list(), await inbox.next('a', 0)], [[], undefined]);
  const waiting = inbox.next('a', soon);
  inbox.clear();
  inbox.put(to(2000, 'a'));
  assert.equal((await waiting)?.id, 2000);
});

test('closing leaves nobody waiting', async () => {
  const inbox = letters();
  const waiting = inbox.next('a', 60_000);
  inbox.close();
  await assert.rejects(waiting, /closed/);
  await assert.rejects(inbox.next('a', 60_000), /closed/);
});
