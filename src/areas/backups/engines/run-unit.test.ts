import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../../test/support/faults.ts';
import type { Placement } from '../../../engine/placement.ts';
import { type EnvironmentId, newId, type ServerId, type WorkspaceId } from '../../../ids.ts';
import type { Remote, UnitState } from '../../../remote/remote.ts';
import { isTransient } from '../../releases/transient-retry.ts';
import { runUnit } from './run-unit.ts';

const never = () => assert.fail('nobody asks for this');
const work = { script: 'true', args: [] };
const file = { path: '/dump', bytes: 10 };
const progress = { log: () => undefined, fraction: () => undefined };

/** One that has printed this, and is in this state. */
function run(printed: string, state: UnitState) {
  const bytes = Buffer.from(printed);
  const remote: Remote = {
    run: never,
    output: never,
    script: never,
    stream: never,
    writeFile: never,
    readFile: never,
    fence: never,
    relay: never,
    startUnit: async () => undefined,
    stopUnit: async () => undefined,
    readUnit: async () => ({ state, bytes, next: bytes.length }),
  };
  const placement: Placement = {
    workspaceId: newId<WorkspaceId>(),
    environmentId: newId<EnvironmentId>(),
    serverId: newId<ServerId>(),
    port: 21_000,
    network: 0,
  };
  const host = {
    placement,
    remote,
    capacity: { memoryMb: 1_024, cpus: 1 },
    fence: { scope: 'test', epoch: 1 },
    signal: new AbortController().signal,
  };
  return runUnit(host, 'slipway-load', work, file, progress);
}

test('work that ends by itself tells how', async () => {
  assert.deepEqual(await run('@stat ["rows",3]\n@end 0\n', { kind: 'ended', code: 0 }), {
    isDone: true,
    contentStats: { rows: 3 },
  });
  assert.deepEqual(await run('no such table\n@refused it\n@end 3\n', { kind: 'ended', code: 3 }), {
    isDone: false,
    refused: 'it',
    evidence: 'no such table',
  });
});

test('work that was cut off, by a server that is started again for example, is worth another try', async () => {
  const cutOff: [string, UnitState][] = [
    ['half\n', { kind: 'absent' }],
    ['half\n', { kind: 'ended', code: 255, lost: true }],
    // A shell that is told to end runs its last lines with the code of the command before.
    ['half\n@end 0\n', { kind: 'ended', code: 255, lost: true }],
    ['half\nError response from daemon: No such exec instance: c9c4\n@end 1\n', { kind: 'ended', code: 1 }],
  ];
  for (const [printed, state] of cutOff) {
    const fault = await faultOf(() => run(printed, state));
    assert.equal(fault.code, 'work_lost');
    assert.equal(isTransient(fault), true);
    assert.match(fault.evidence ?? '', /^half/);
  }
});

test('work that the kernel killed, for its memory for example, would be killed again', async () => {
  const fault = await faultOf(() => run('half\n', { kind: 'ended', code: 137 }));
  assert.equal(fault.code, 'remote_failed');
  assert.equal(isTransient(fault), false);
});
