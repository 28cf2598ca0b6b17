import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evenly, type Load, packed } from './start-release.ts';

const load = (nodeId: string, own: number, all: number, memoryMb = 0): Load => ({
  nodeId,
  own,
  all,
  memoryMb,
});

/** Where so many of 256 MB are created, one after the other, on servers that have 1,000. */
function places(choose: typeof evenly, loads: readonly Load[], count: number): string {
  return Array.from({ length: count }, () => choose(loads, 256, 1_000)?.nodeId).join('');
}

test('replicas are as many on each server, also where one is empty because it has just come back', () => {
  assert.equal(places(evenly, [load('a', 0, 0), load('b', 0, 0), load('c', 0, 0)], 6), 'abcabc');
  const back = [load('a', 0, 3), load('b', 0, 3), load('c', 0, 0)];
  assert.equal([...places(evenly, back, 6)].sort().join(''), 'aabbcc');
});

test('packed replicas take the next server only when their memory finds no room on the first', () => {
  assert.equal(places(packed, [load('a', 0, 0), load('b', 0, 0), load('c', 0, 0)], 4), 'aaab');
  assert.equal(places(packed, [load('a', 0, 1, 256), load('b', 1, 1, 256), load('c', 0, 0)], 3), 'bba');
});

test('where no server has room for what they may have, they are even', () => {
  assert.equal(places(packed, [load('a', 0, 2, 900), load('b', 0, 1, 900)], 2), 'ba');
});

test('nobody places anything where no server takes any', () => {
  assert.equal(packed([], 256, 1_000), undefined);
});
