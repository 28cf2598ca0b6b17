import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareContentStats } from './verify-part.ts';

test('equal stats differ in nothing, whatever their order and whether they are numbers or texts', () => {
  assert.deepEqual(compareContentStats({ 'rows of a': 3, tables: '2' }, { tables: 2, 'rows of a': '3' }), []);
});

test('what differs, lacks or is too much is said in words', () => {
  assert.deepEqual(compareContentStats({ 'rows of a': 3, views: 1 }, { 'rows of a': 2, triggers: 4 }), [
    'rows of a: 3 when it was dumped, 2 when it was restored',
    'triggers: none when it was dumped, 4 when it was restored',
    'views: 1 when it was dumped, none when it was restored',
  ]);
});

test('of very many differences the first are shown, and the rest is counted', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`table ${index}`, index]));
  const shown = compareContentStats(many, {});
  assert.equal(shown.length, 21);
  assert.equal(shown.at(-1), 'and 30 more');
});
