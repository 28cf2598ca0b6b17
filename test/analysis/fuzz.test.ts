import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyst } from '../../src/analysis/process/analyst.ts';
import { attempt, type Outcome } from '../fuzz/attempt.ts';
import { TreeMaker } from '../fuzz/tree-maker.ts';
import { BusyLoop } from '../support/busy-loop.ts';

const trees = 120;
const seed = 1;
/** Handing files on takes hundredths of a second; what hurts, seconds. */
const mostBusyMs = 500;

test('whoever wants to stop the service with any of many hostile repositories cannot', async (t) => {
  const [analyst, maker, busy] = [new Analyst({ cpuMs: 2_000 }), new TreeMaker(), new BusyLoop()];
  t.after(() => Promise.all([analyst.close(), maker.close()]));
  const numbers = [...Array(trees).keys()].values();
  const outcomes: Outcome[] = [];
  const lane = async () => {
    for (const number of numbers) outcomes.push(await attempt(analyst, maker, seed, number));
  };
  await Promise.all([lane(), lane(), lane()]);
  assert.deepEqual(
    outcomes.filter(({ kind, broken }) => kind === 'failed' || broken.length > 0),
    [],
    'npm run analysis-fuzz -- --seed 1 --only <number> repeats one',
  );
  assert.ok(outcomes.filter(({ kind }) => kind === 'result').length > trees / 2);
  const most = busy.longestMs();
  busy.stop();
  assert.ok(most < mostBusyMs, `the loop was busy for ${Math.round(most)} ms in one go`);
});
