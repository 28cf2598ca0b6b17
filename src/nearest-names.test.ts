import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestNames } from './nearest-names.ts';

test('names that were nearly written, or that hold the one that was, are found, the nearest first', () => {
  const branches = ['main', 'develop', 'feature/login', 'release/1.0', 'release/1.1', 'Main2'];
  assert.deepEqual(nearestNames('mian', ['mina', 'other']), []);
  assert.deepEqual(nearestNames('maim', branches), ['main']);
  assert.deepEqual(nearestNames('MAIN', branches), ['main', 'Main2']);
  assert.deepEqual(nearestNames('login', branches), ['feature/login']);
  assert.deepEqual(nearestNames('refs/heads/develop', branches), ['develop']);
  assert.deepEqual(nearestNames('release/1.2', branches), ['release/1.0', 'release/1.1']);
  assert.deepEqual(nearestNames('nothing-like-it', branches), []);
});

test('names of strangers, however many and long, are compared in bounded time', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `${'x'.repeat(240)}${index}`);
  assert.deepEqual(nearestNames('x'.repeat(250), many), []);
});
