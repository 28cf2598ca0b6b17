import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Probe } from '../../engine/health-probe.ts';
import { KeptProbes } from './kept-probes.ts';

const probe = (more: Partial<Probe> = {}): Probe => ({
  atMs: 0,
  outcome: 'refused',
  status: null,
  location: null,
  body: '',
  problem: null,
  ...more,
});

test('equal probes in a row are kept once, with the time of the first and their number', () => {
  const kept = new KeptProbes();
  for (let atMs = 0; atMs < 1_000; atMs += 200) kept.add('web-1', probe({ atMs }));
  kept.add('web-1', probe({ atMs: 1_000, outcome: 'ok', status: 200 }));
  kept.add('web-1', probe({ atMs: 1_200 }));
  assert.deepEqual(
    kept.all.map(({ atMs, outcome, repeated }) => [atMs, outcome, repeated]),
    [
      [0, 'refused', 4],
      [1_000, 'ok', 0],
      [1_200, 'refused', 0],
    ],
  );
});

test('any difference, and another container, is an entry of its own', () => {
  const kept = new KeptProbes();
  const all: [string, Probe][] = [
    ['web-1', probe()],
    ['web-2', probe()],
    ['web-2', probe({ body: 'x' })],
    ['web-2', probe({ body: 'x', status: 500, outcome: 'status' })],
    ['web-2', probe({ body: 'x', status: 503, outcome: 'status' })],
    ['web-2', probe({ body: 'x', status: 503, outcome: 'status', problem: 'read: x' })],
    ['web-2', probe({ body: 'x', status: 503, outcome: 'status', location: '/' })],
  ];
  for (const [container, each] of all) kept.add(container, each);
  assert.equal(kept.all.length, all.length);
});

test('of many the first and the last are kept, and never more than sixty', () => {
  const kept = new KeptProbes();
  for (let turn = 0; turn < 500; turn += 1) kept.add('web-1', probe({ atMs: turn, body: String(turn) }));
  const times = kept.all.map(({ atMs }) => atMs);
  assert.equal(times.length, 60);
  assert.deepEqual(
    times.slice(0, 30),
    Array.from({ length: 30 }, (_, index) => index),
  );
  assert.deepEqual(
    times.slice(30),
    Array.from({ length: 30 }, (_, index) => 470 + index),
  );
});
