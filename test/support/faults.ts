/** Catches the fault that something must end in. */
import assert from 'node:assert/strict';
import { Fault } from '../../src/fault.ts';

export async function faultOf(work: () => unknown): Promise<Fault> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof Fault, `expected a fault, found ${String(error)}`);
    return error;
  }
  assert.fail('expected a fault, and nothing failed');
}
