import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParseThread } from './parse-thread.ts';
import { isSourceFacts } from './source-facts.ts';

/** Aliases that all stand for the first; the parser compares each with each and needs long for it. */
const slow = Array.from({ length: 100_000 }, (_, at) => `k${at}: &a${at} x`).join('\n');

test('a file that takes too long counts as unreadable, and those behind it are still parsed', async () => {
  const thread = new ParseThread(1_500);
  const [first, second, third] = await Promise.all([
    thread.parse('yaml', 'slow.yaml', slow),
    thread.parse('yaml', 'a.yaml', 'a: 1'),
    thread.parse('source', 'a.js', 'app.listen(4000)'),
  ]);
  assert.ok('failed' in first);
  assert.deepEqual(second, { value: { a: 1 } });
  assert.ok('value' in third && isSourceFacts(third.value));
  assert.equal(third.value.listens[0]?.port, 4000);
});

test('code nested a hundred thousand times deep is parsed or refused, and nothing dies of it', async () => {
  const thread = new ParseThread();
  for (const text of [
    '!'.repeat(250_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `${'a=>'.repeat(80_000)}a`,
  ])
    await thread.parse('source', 'a.js', text);
  assert.ok('value' in (await thread.parse('source', 'b.js', 'process.env.A')));
});

test('text that cannot be parsed says why', async () => {
  const outcome = await new ParseThread().parse('yaml', 'a.yaml', 'a: [1, 2');
  assert.ok('failed' in outcome && outcome.failed !== '');
});
