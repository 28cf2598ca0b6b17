import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../../test/support/faults.ts';
import type { Placement } from '../../../engine/placement.ts';
import { type EnvironmentId, newId, type ServerId, type WorkspaceId } from '../../../ids.ts';
import type { Remote, UnitState } from '../../../remote/remote.ts';
import { Secret } from '../../../secret.ts';
import { isTransient } from '../../releases/transient-retry.ts';
import type { EngineProgress, ServiceSource } from './engine.ts';
import { postgresEngine } from './postgres/postgres.ts';
import { runUnit } from './run-unit.ts';

const never = () => assert.fail('nobody asks for this');
const work = { script: 'true', args: [] };
const file = { path: '/dump', bytes: 10 };
const silent = { log: () => undefined, fraction: () => undefined };

/** A server that does only this. */
function hostWith(does: Partial<Remote>) {
  const remote: Remote = {
    secrets: [],
    run: never,
    output: never,
    script: never,
    stream: never,
    writeFile: never,
    readFile: never,
    fence: never,
    relay: never,
    startUnit: never,
    stopUnit: never,
    readUnit: never,
    ...does,
  };
  const placement: Placement = {
    workspaceId: newId<WorkspaceId>(),
    environmentId: newId<EnvironmentId>(),
    serverId: newId<ServerId>(),
    clusterId: null,
    port: 21_000,
    network: 0,
  };
  return {
    placement,
    remote,
    capacity: { memoryMb: 1_024, cpus: 1 },
    fence: { scope: 'test', epoch: 1 },
    signal: new AbortController().signal,
  };
}

/** One that has printed this, and is in this state. */
function run(printed: string, state: UnitState, progress: EngineProgress = silent) {
  const bytes = Buffer.from(printed);
  const read = async () => ({ state, bytes, next: bytes.length });
  const host = hostWith({ startUnit: read, stopUnit: async () => undefined, readUnit: read });
  return runUnit(host, 'slipway-load', work, { folder: '/data', mostBytes: null }, file, progress);
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
    overrun: null,
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

test('databases are swapped again where Docker was started again meanwhile: nobody knows how far that came', async () => {
  const password = new Secret('x');
  const source: ServiceSource = {
    type: 'service',
    kind: 'postgres',
    version: '17',
    image: 'postgres:17',
    container: 'slipway-db',
    volume: 'slipway-db',
    volumePath: '/var/lib/postgresql/data',
    credentials: { password, adminPassword: password },
    memoryMb: 256,
  };
  const swap = (said: string) => {
    const nothing = Buffer.alloc(0);
    const ended = { code: 1, signal: null, stdout: nothing, stderr: Buffer.from(said) };
    const names = { staging: 'staging_1', previous: 'previous_1' };
    return faultOf(() => postgresEngine.swap(hostWith({ run: async () => ended }), source, names));
  };
  for (const said of [
    'Error response from daemon: No such exec instance: 06b1',
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    'error during connect: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.45/exec/06b1/json": EOF',
  ])
    assert.equal((await swap(said)).code, 'work_lost', said);
  assert.equal((await swap('ERROR: database "app" is being accessed')).code, 'restore_failed');
});

test('work that the kernel killed, for its memory for example, would be killed again', async () => {
  const fault = await faultOf(() => run('half\n', { kind: 'ended', code: 137 }));
  assert.equal(fault.code, 'remote_failed');
  assert.equal(isTransient(fault), false);
});

test('work that is ended for what it fills says by how much, whatever its last words were', async () => {
  const ended = { kind: 'ended', code: 143 } as const;
  for (const [line, code, says] of [
    ['@over disk 400000000 536870912', 'disk_full', /0\.4 GB left: 0\.5 GB must stay free/],
    ['@over data 3000000000 1000000000', 'import_failed', /3\.0 GB of data.*1\.0 GB are allowed/],
  ] as const)
    for (const last of ['', '@end 0\n', '@end 137\n']) {
      const end = await run(`half\n${line}\n${last}`, ended);
      assert.ok(!end.isDone && end.overrun);
      assert.equal(end.overrun.code, code);
      assert.match(end.overrun.message, says);
    }
});

test('whoever lets a file print our own words without end does not fill the log', async () => {
  const told: string[] = [];
  const log = (line: string) => void told.push(line);
  const flood = `@stage ${'x'.repeat(5_000)}\n`.repeat(1_000);
  await run(`${flood}@end 0\n`, { kind: 'ended', code: 0 }, { log, fraction: () => undefined });
  assert.deepEqual([told.length, told[0]?.length], [20, 200]);
});
