import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperationBench } from '../support/operations.ts';
import { stepNames } from '../support/ten-steps.ts';

/** Begun, ten steps with a start and an end each, and the end: before and after each of these writes. */
const journalPoints = (1 + 2 * stepNames.length + 1) * 2;

test('killed at every journal point, each effect happens exactly once and the end is right', async (t) => {
  const bench = await OperationBench.open(t);
  for (let point = 0; point < journalPoints; point += 1) {
    const victim = await bench.host();
    const id = await bench.enqueue({ world: bench.world.url, killAt: point });
    await victim.exited;
    assert.equal(victim.child.signalCode, 'SIGKILL', `point ${point}: the worker was killed`);
    const heir = await bench.host();
    const row = await bench.ended(id);
    assert.equal(row.state, 'succeeded', `point ${point}`);
    assert.deepEqual(
      bench.world.actsOf(id),
      stepNames.map((name) => [name, 1]),
      `point ${point}`,
    );
    await heir.stop();
  }
  // A wake-up that a killed worker had in hand is cleared by whoever is there.
  await bench.host();
  await bench.nothingLeft(60_000);
});

test('killed at every journal point on the way back, everything is undone', async (t) => {
  const bench = await OperationBench.open(t);
  // Begun, two steps done, the third failed: then the turn, three undos, and the end.
  const first = (1 + 2 + 2 + 2) * 2;
  const points = (1 + 2 * 3 + 1) * 2;
  for (let point = first; point < first + points; point += 1) {
    const victim = await bench.host();
    const id = await bench.enqueue({ world: bench.world.url, failAt: 'step-3', killAt: point });
    await victim.exited;
    assert.equal(victim.child.signalCode, 'SIGKILL', `point ${point}: the worker was killed`);
    const heir = await bench.host();
    const row = await bench.ended(id);
    assert.equal(row.state, 'failed', `point ${point}`);
    assert.equal(row.fault?.step, 'step-3', `point ${point}`);
    assert.deepEqual(bench.world.actsOf(id), [], `point ${point}`);
    await heir.stop();
  }
  // A wake-up that a killed worker had in hand is cleared by whoever is there.
  await bench.host();
  await bench.nothingLeft(60_000);
});
