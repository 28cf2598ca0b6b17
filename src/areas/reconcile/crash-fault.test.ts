import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceState } from '../../engine/engine.ts';
import { Secret } from '../../secret.ts';
import { crashFault } from './crash-fault.ts';

const container: InstanceState = {
  name: 'slipway-x-web-1',
  id: 'x',
  labels: {},
  status: 'running',
  exitCode: 1,
  isOutOfMemory: false,
  restarts: 1,
  startedAt: null,
  finishedAt: null,
  pid: 7,
  address: '198.18.0.16',
  image: 'sha256:x',
};

test('a crash says how it ended, where Docker still knows, and what it said last; several are a loop', () => {
  const ended = { ...container, status: 'restarting', exitCode: 137 } as const;
  const one = crashFault(ended, ['Error: no', '  at x'], [], null);
  assert.deepEqual([one.code, one.step], ['app_crashed', null]);
  assert.match(one.message, /code 137/);
  assert.match(
    one.evidence ?? '',
    /web-1: restarting, started again 1 times, exit code 137\nError: no\n {2}at x/,
  );
  const again = crashFault(container, ['Error: no'], [], null);
  assert.doesNotMatch(`${again.message} ${again.evidence}`, /code/);
  assert.equal(crashFault({ ...container, restarts: 3 }, [], [], null).code, 'app_crash_loop');
});

test('one that used too much memory is told so, with its limit where it has one', () => {
  const killed = { ...container, isOutOfMemory: true, restarts: 9 };
  assert.match(crashFault(killed, [], [], 256).message, /\(256 MB\)/);
  const without = crashFault(killed, [], [], null);
  assert.equal(without.code, 'app_out_of_memory');
  assert.doesNotMatch(without.message, /null|MB/);
});

test('its secrets are in no part of it, also one of several lines and one in base64', () => {
  const key = '-----BEGIN-----\nfirst-line-of-the-key\nsecond-line-of-the-key';
  const secrets = [new Secret('canary-one'), new Secret(key)];
  const lines = [
    'password canary-one is wrong',
    Buffer.from('x:canary-one').toString('base64'),
    ...key.split('\n'),
    `  second-line-of-the-key`,
  ];
  const told = JSON.stringify(crashFault(container, lines, secrets, null));
  for (const part of ['canary-one', 'Y2FuYXJ5', 'first-line', 'second-line'])
    assert.ok(!told.includes(part), part);
  assert.match(told, /password \[secret\] is wrong/);
});
