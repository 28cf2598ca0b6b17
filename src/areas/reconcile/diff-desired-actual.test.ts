import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceState, SeenFront } from '../../engine/engine.ts';
import type { RunPlan } from '../../engine/release-spec.ts';
import { type DeploymentId, type EnvironmentId, newId } from '../../ids.ts';
import {
  type Actual,
  desiredInstances,
  diffDesiredActual,
  type Observed,
  observedOf,
} from './diff-desired-actual.ts';

const id = newId<DeploymentId>();
const run: RunPlan = {
  port: 8080,
  health: { path: null, port: null, timeoutSeconds: 5, startSeconds: 60 },
  startCommand: null,
  releaseCommand: null,
  replicas: 2,
  memoryMb: null,
  cpus: null,
  volumes: [],
  processes: [
    { name: 'worker', kind: 'worker', command: 'x', schedule: null, replicas: 1 },
    { name: 'nightly', kind: 'cron', command: 'x', schedule: '0 3 * * *', replicas: 1 },
  ],
  drainSeconds: 30,
  stopSeconds: 10,
  holdSeconds: 30,
  isRoot: false,
  askedOfServices: [],
  plainKeys: [],
};
const [first = '', second = '', worker = ''] = desiredInstances(run, id);

const container = (name: string, more: Partial<InstanceState> = {}): [string, InstanceState] => [
  name,
  {
    name,
    id: name,
    labels: {},
    status: 'running',
    exitCode: 0,
    isOutOfMemory: false,
    restarts: 0,
    startedAt: '2026-01-01T00:00:00Z',
    finishedAt: null,
    pid: 1,
    image: 'sha256:x',
    address: { [first]: '198.18.0.16', [second]: '198.18.0.17', [worker]: '198.18.0.18' }[name] ?? null,
    ...more,
  },
];
const well = [container(first), container(second), container(worker)];
const servers = [
  { name: second, address: '198.18.0.17', port: 8080 },
  { name: first, address: '198.18.0.16', port: 8080 },
];
const file: NonNullable<SeenFront['file']> = {
  state: 'serving',
  port: 21_000,
  servers,
  hosts: [],
  routes: [],
};
const front: SeenFront = { id: newId<EnvironmentId>(), file, running: null, agrees: true };
const look = (containers: [string, InstanceState][], more: Partial<Actual> = {}, before: Observed = {}) =>
  diffDesiredActual(
    run,
    id,
    { containers: new Map(containers), front, isProxyRunning: true, alsoWrong: [], ...more },
    before,
  );

test('web and workers are expected, each with its number; a cron process is not', () => {
  assert.deepEqual(desiredInstances(run, id), [
    ...[`slipway-${id}-web-1`, `slipway-${id}-web-2`, `slipway-${id}-worker-1`],
  ]);
});

test('all there, and the proxy agrees in whatever order: well', () => {
  assert.deepEqual(look(well), { kind: 'well' });
});

test('a replica that was moved to another server is listed where it was: the front is to be put right', () => {
  const at = (address: string) => [
    container(first, { address, port: 22_000 }),
    container(second, { address: '10.0.0.2', port: 22_001 }),
    container(worker),
  ];
  const listed = [
    { name: first, address: '10.0.0.1', port: 22_000 },
    { name: second, address: '10.0.0.2', port: 22_001 },
  ];
  const there = { front: { ...front, file: { ...file, servers: listed } } };
  assert.deepEqual(look(at('10.0.0.1'), there), { kind: 'well' });
  assert.deepEqual(look(at('10.0.0.3'), there), { kind: 'missing', what: ['front'] });
});

test('what is gone, or stands still without having crashed, is to be put back', () => {
  assert.deepEqual(look([container(first), container(worker)]), {
    kind: 'missing',
    what: [second, 'front'],
  });
  for (const status of ['exited', 'created', 'dead', 'paused'] as const) {
    const stopped = [container(first), container(second), container(worker, { status })];
    assert.deepEqual(look(stopped), { kind: 'missing', what: [worker] }, status);
  }
  assert.deepEqual(look(well, { alsoWrong: ['service main'] }), { kind: 'missing', what: ['service main'] });
});

test('a proxy that is away, has no front, another one, or one that does not serve, is to be put right', () => {
  const what = (more: Partial<Actual>) => {
    const finding = look(well, more);
    return finding.kind === 'missing' ? finding.what : finding.kind;
  };
  assert.deepEqual(what({ isProxyRunning: false, front: undefined }), ['proxy']);
  assert.deepEqual(what({ front: undefined }), ['front']);
  assert.deepEqual(what({ front: { ...front, agrees: false } }), ['front']);
  assert.deepEqual(what({ front: { ...front, file: null } }), ['front']);
  const [one, other] = servers;
  assert.ok(one && other);
  assert.deepEqual(what({ front: { ...front, file: { ...file, servers: [one] } } }), ['front']);
  assert.deepEqual(what({ front: { ...front, file: { ...file, servers: [one, { ...other, port: 1 }] } } }), [
    'front',
  ]);
  for (const state of ['held', 'stopped'] as const)
    assert.deepEqual(what({ front: { ...front, file: { ...file, state } } }), ['front'], state);
});

test('one that ended by itself since the last look has crashed, once', () => {
  const crashed = container(first, { restarts: 2 });
  const all = [crashed, container(second), container(worker)];
  const before = observedOf(new Map([container(first, { restarts: 1 })]));
  assert.deepEqual(look(all, {}, before), { kind: 'crashed', container: crashed[1], isFrontAmiss: false });
  assert.deepEqual(look(all, {}, observedOf(new Map(all))), { kind: 'well' });
  assert.deepEqual(look(all), { kind: 'well' }, 'before the first look it was the deployment’s to judge');
  const trying = [container(first, { status: 'restarting' }), container(second), container(worker)];
  assert.equal(look(trying).kind, 'crashed');
});

test('beside one that crashes, a proxy that has no front is put right', () => {
  const trying = [container(first, { status: 'restarting' }), container(second), container(worker)];
  const isFrontAmiss = (more: Partial<Actual>) => {
    const finding = look(trying, more);
    return finding.kind === 'crashed' && finding.isFrontAmiss;
  };
  assert.equal(isFrontAmiss({}), false);
  assert.equal(isFrontAmiss({ front: { ...front, agrees: false } }), true, 'a server has joined without it');
  assert.equal(isFrontAmiss({ front: undefined }), true);
  assert.equal(isFrontAmiss({ front: undefined, isProxyRunning: false }), false, 'there is none to tell');
});

test('a server that was started anew counts from nothing, and is no crash', () => {
  const before = observedOf(new Map([container(first, { restarts: 4 })]));
  assert.deepEqual(look(well, {}, before), { kind: 'well' });
});
