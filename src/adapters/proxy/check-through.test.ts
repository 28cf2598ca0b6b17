import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { type EnvironmentId, newId } from '../../ids.ts';
import type { Remote } from '../../remote/remote.ts';
import { admitAndCheck } from './check-through.ts';

const never = () => assert.fail('nobody asks for this');
const server = { name: 'slipway-a-web-1', address: '198.18.0.16', port: 3_000 };
const front = { id: newId<EnvironmentId>(), port: 21_000, hosts: [], servers: [], holdSeconds: 30 };

/** Through a proxy that says this. */
async function check(problem: string | null, said: string) {
  const last = { atMs: 0, isMet: false, problem, bytes: Buffer.from(said) };
  const remote: Remote = {
    secrets: [],
    run: never,
    output: never,
    script: never,
    stream: never,
    writeFile: never,
    readFile: never,
    fence: never,
    startUnit: never,
    stopUnit: never,
    readUnit: never,
    relay: async () => [{ tries: [last], last }],
  };
  const work = { remote, fence: { scope: 'test', epoch: 1 }, signal: new AbortController().signal };
  const [answer] = await admitAndCheck(work, front, [server], { path: '/', host: 'x', timeoutMs: 1_000 });
  assert.ok(answer);
  return answer;
}

test('a proxy that is not there, or goes in the middle, is told as such: it is worth waiting for', async () => {
  for (const problem of ['connect:Connection refused', 'answer:Connection reset by peer', null])
    assert.equal((await faultOf(() => check(problem, ''))).code, 'proxy_down', String(problem));
});

test('an answer, and none in time, are told as such', async () => {
  const ok = await check(null, `HTTP/1.1 200 OK\r\nX-Slipway-Served: ${server.name}\r\n\r\nhello`);
  assert.deepEqual([ok.status, ok.bytes.toString(), ok.problem], [200, 'hello', null]);
  const late = await check('answer:timed out', '');
  assert.deepEqual([late.status, late.problem], [null, 'answer:timed out']);
});
