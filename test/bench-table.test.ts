import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benches } from '../bench/benches.ts';
import { type Aim, assertMeasured, type Figure, isMet, milliseconds, secondsOf } from '../bench/figure.ts';
import { document, plainTable, type Result, summary } from '../bench/table.ts';

const figure = (aim: Aim, own = 10, other = 20): Figure => ({
  what: 'a thing',
  slipway: milliseconds(own),
  aim,
  beside: { name: 'a peer', amount: milliseconds(other) },
});

test('whether an aim is met follows from what was measured', () => {
  assert.equal(isMet(figure({ atMost: 10 })), true);
  assert.equal(isMet(figure({ atMost: 9 })), false);
  assert.equal(isMet(figure({ atLeast: 10 })), true);
  assert.equal(isMet(figure({ atLeast: 11 })), false);
  assert.equal(isMet(figure({ ratioAtMost: 0.5 })), true);
  assert.equal(isMet(figure({ ratioAtMost: 0.49 })), false);
  assert.equal(isMet(figure({ ratioAtLeast: 0.5 })), true);
  assert.equal(isMet(figure({ ratioAtLeast: 0.51 })), false);
  assert.equal(isMet(figure({ atMost: 20, ratioAtMost: 0.4 })), false, 'all of them have to hold');
  assert.equal(isMet({ what: 'a thing', slipway: milliseconds(1) }), undefined);
  assert.equal(isMet({ what: 'a thing', slipway: milliseconds(1), aim: { ratioAtMost: 5 } }), false);
});

test('what is no number, or compares two units, is not a figure', () => {
  assert.throws(() => assertMeasured([figure({}, Number.NaN)]), /not measured/);
  assert.throws(() => assertMeasured([figure({}, 1, Number.POSITIVE_INFINITY)]), /not measured/);
  const mixed: Figure = { ...figure({}), slipway: secondsOf(1) };
  assert.throws(() => assertMeasured([mixed]), /compares s with ms/);
});

test('a bench that failed or was left out is told in the table, beside the others', () => {
  const results: Result[] = [
    { bench: 'one', about: 'one thing.', outcome: { state: 'measured', figures: [figure({ atMost: 9 })] } },
    { bench: 'two', about: 'another.', outcome: { state: 'failed', reason: 'a | in\nit' } },
    { bench: 'three', about: 'a third.', outcome: { state: 'left out', reason: 'no root' } },
  ];
  const about = { date: '2026-01-01', machine: 'this', node: '24', command: 'it' };
  const run = { ...about, minutes: 3, pace: 'It counted in 0.90 s', results };
  const lines = document(run).split('\n');
  assert.match(document(run), /^One run of `it`.* It counted in 0\.90 s, median and range/m);
  assert.equal(lines.filter((line) => line.startsWith('| --- ')).length, 1, 'one table');
  assert.ok(
    lines.includes('| one | a thing | 10 ms | a peer: 20 ms | 0.50 | at most 9 ms | missed |'),
    document(run),
  );
  assert.ok(lines.includes('| two | failed: a \\| in it |  |  |  |  | failed |'), document(run));
  assert.ok(lines.includes('| three | left out: no root |  |  |  |  | left out |'), document(run));
  assert.equal(summary(results), 'Of 1 aims, 0 are met and 1 missed. Failed: two. Left out: three.');
  assert.match(plainTable(results), /^one +a thing +10 ms +a peer: 20 ms +0\.50 +at most 9 ms +missed$/m);
});

test('every bench says in one line what it measures', () => {
  for (const [name, { about }] of Object.entries(benches)) assert.match(about, /^\S.*\.$/, name);
});
