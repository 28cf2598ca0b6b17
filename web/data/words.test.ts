import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, bytes, duration, memory, words } from './words.ts';

test('times are told as people say them', () => {
  const now = Date.parse('2026-11-16T12:00:00Z');
  const told = [
    '2026-11-16T11:59:58Z',
    '2026-11-16T11:55:00Z',
    '2026-11-14T12:00:00Z',
    '2026-11-16T12:20:00Z',
  ];
  assert.deepEqual(
    told.map((at) => ago(at, now)),
    ['just now', '5 minutes ago', '2 days ago', 'in 20 minutes'],
  );
});

test('durations, sizes and names', () => {
  assert.deepEqual([40, 2_340, 42_000, 61_500, 3_720_000].map(duration), [
    '40 ms',
    '2.3 s',
    '42 s',
    '1 min 2 s',
    '1 h 2 min',
  ]);
  assert.deepEqual([0, 999, 48_211_034, 2_000_000_000].map(bytes), ['0 B', '999 B', '48.2 MB', '2.0 GB']);
  assert.deepEqual([512, 1536, 16_384].map(memory), ['512 MB', '1.5 GB', '16 GB']);
  assert.deepEqual(['host_key_changed', 'registerDomain', 'create-release'].map(words), [
    'host key changed',
    'register domain',
    'create release',
  ]);
});
