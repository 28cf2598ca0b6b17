/** An operation of ten steps, killed at points of its journal, and ended by the next worker. */
import assert from 'node:assert/strict';
import type { OperationBench } from './operations.ts';
import { stepNames } from './ten-steps.ts';

/** Begun, ten steps with a start and an end each, and the end: before and after each of these writes. */
const forwards = (1 + 2 * stepNames.length + 1) * 2;
/** Begun, two steps done, the third failed: then the turn, three undos, and the end. */
const turn = (1 + 2 + 2 + 2) * 2;
const backwards = (1 + 2 * 3 + 1) * 2;

/** Every so many of them. */
export async function killForwards(bench: OperationBench, every: number): Promise<void> {
  for (let point = 0; point < forwards; point += every) {
    const { state, acts } = await killAt(bench, { killAt: point });
    assert.equal(state, 'succeeded', `point ${point}`);
    const once = stepNames.map((name) => [name, 1]);
    assert.deepEqual(acts, once, `point ${point}`);
  }
  await cleared(bench);
}

export async function killOnTheWayBack(bench: OperationBench, every: number): Promise<void> {
  for (let point = turn; point < turn + backwards; point += every) {
    const { state, fault, acts } = await killAt(bench, { failAt: 'step-3', killAt: point });
    assert.deepEqual([state, fault?.step, acts], ['failed', 'step-3', []], `point ${point}`);
  }
  await cleared(bench);
}

async function killAt(bench: OperationBench, trouble: { killAt: number; failAt?: string }) {
  const victim = await bench.host();
  const id = await bench.enqueue({ world: bench.world.url, ...trouble });
  await victim.exited;
  assert.equal(victim.child.signalCode, 'SIGKILL', `point ${trouble.killAt}: the worker was killed`);
  const heir = await bench.host();
  const row = await bench.ended(id);
  await heir.stop();
  return { ...row, acts: bench.world.actsOf(id) };
}

/** A wake-up that a killed worker had in hand is cleared by whoever is there. */
async function cleared(bench: OperationBench): Promise<void> {
  await bench.host();
  await bench.nothingLeft();
}
