import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../src/config.ts';
import { sql } from '../src/store/sql.ts';
import { callApi, startTestApp } from './support/app.ts';
import { freePort } from './support/free-port.ts';
import { newPerson } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { until, waitingForLocks } from './support/until.ts';

test('on a loopback address all three monitors answer on the port of the API, without an account', async () => {
  const service = await sharedTestApp();
  const health = await service.call('GET', '//healthz');
  assert.deepEqual([health.status, health.body], [200, { status: 'ok' }]);
  const ready = await service.call('GET', '//readyz');
  assert.deepEqual([ready.status, ready.body], [200, { status: 'ready' }]);
  await service.call('GET', '/auth/me');
  const metrics = await service.call('GET', '//metrics');
  assert.equal(metrics.status, 200);
  assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(
    metrics.text,
    /slipway_http_request_seconds_count\{method="GET",route="\/api\/v1\/auth\/me",status="401"\} [1-9]/,
  );
  assert.match(metrics.text, /slipway_process_cpu_seconds_total/);
});

test('figures name routes, never the paths that strangers ask for', async () => {
  const service = await sharedTestApp();
  await service.call('GET', '//metrics');
  await service.call('GET', '/made-up-by-a-stranger');
  await service.call('DELETE', '/auth/sessions/made-up-by-a-stranger');
  const { text } = await service.call('GET', '//metrics');
  assert.doesNotMatch(text, /made-up/);
  assert.match(text, /route="unknown",status="404"/);
});

test('switched off, readiness and figures are nowhere, and health still answers', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_MONITOR_LISTEN: 'off' } });
  assert.equal((await service.call('GET', '//healthz')).status, 200);
  assertProblem(await service.call('GET', '//readyz'), 404, 'not_found');
  assertProblem(await service.call('GET', '//metrics'), 404, 'not_found');
});

test('on an address of their own, readiness and figures answer there and nowhere else', async (t) => {
  const monitor = `127.0.0.1:${await freePort()}`;
  const service = await startTestApp(t, { env: { SLIPWAY_MONITOR_LISTEN: monitor } });
  assertProblem(await service.call('GET', '//metrics'), 404, 'not_found');
  assertProblem(await service.call('GET', '//readyz'), 404, 'not_found');
  assert.equal((await callApi(`http://${monitor}`, 'GET', '//readyz')).status, 200);
  assert.match((await callApi(`http://${monitor}`, 'GET', '//metrics')).text, /^# HELP/);
  assertProblem(await callApi(`http://${monitor}`, 'GET', '/auth/me'), 404, 'not_found');
});

test('who has no token learns nothing of the inside where one is set, and who has it learns all', async (t) => {
  const token = 'for-the-monitor-alone';
  const service = await startTestApp(t, { env: { SLIPWAY_MONITOR_TOKEN: token } });
  assert.deepEqual((await service.call('GET', '//healthz')).body, { status: 'ok' });
  const { token: own } = await newPerson(service);
  for (const path of ['//readyz', '//metrics']) {
    for (const given of [undefined, '', 'for-the-monitor-alon', `${token}x`, own]) {
      const options = given === undefined ? {} : { token: given };
      const answer = await service.call('GET', path, options);
      assertProblem(answer, 401, 'unauthenticated');
      assert.doesNotMatch(answer.text, /slipway_|ready"/);
    }
    assert.equal((await service.call('GET', path, { token })).status, 200, path);
  }
  // It opens nothing else.
  assertProblem(await service.call('GET', '/auth/me', { token }), 401, 'unauthenticated');
});

test('who comes through a proxy on the same machine learns nothing of the inside', async () => {
  const service = await sharedTestApp();
  for (const path of ['//readyz', '//metrics'])
    for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via'])
      assertProblem(await service.call('GET', path, { headers: { [name]: 'x' } }), 404, 'not_found');
  const health = await service.call('GET', '//healthz', { headers: { 'x-forwarded-for': '192.0.2.7' } });
  assert.equal(health.status, 200);
});

test('who sets the monitors on the public port without a token is told what would be right', () => {
  const env = { SLIPWAY_HOST: '0.0.0.0' };
  assert.throws(() => readConfig({ ...env, SLIPWAY_MONITOR_LISTEN: 'main' }), /SLIPWAY_MONITOR_TOKEN/);
  const withToken = { ...env, SLIPWAY_MONITOR_TOKEN: 'for-the-monitor-alone' };
  assert.deepEqual(readConfig(withToken).monitorListen, { at: 'main' });
  assert.deepEqual(readConfig({ ...withToken, SLIPWAY_MONITOR_LISTEN: 'off' }).monitorListen, { at: 'off' });
  assert.throws(
    () => readConfig({ SLIPWAY_MONITOR_TOKEN: 'short' }),
    /SLIPWAY_MONITOR_TOKEN is wrong: its value/,
  );
});

test('on an address that others reach, readiness and figures are off unless a setting says otherwise', () => {
  assert.deepEqual(readConfig({}).monitorListen, { at: 'main' });
  assert.deepEqual(readConfig({ SLIPWAY_HOST: '0.0.0.0' }).monitorListen, { at: 'off' });
  assert.deepEqual(
    readConfig({ SLIPWAY_HOST: '0.0.0.0', SLIPWAY_MONITOR_LISTEN: '127.0.0.1:9100' }).monitorListen,
    {
      at: 'address',
      host: '127.0.0.1',
      port: 9100,
    },
  );
});

test('a stop lets the request under way finish, says meanwhile that it is not ready, and takes no other', async (t) => {
  const monitor = `127.0.0.1:${await freePort()}`;
  const service = await startTestApp(t, { env: { SLIPWAY_MONITOR_LISTEN: monitor } });
  const { token, email } = await newPerson(service);
  const { db } = service.app.store;
  // What cuts the connections that are left when the time for a stop has run out.
  const cut = t.mock.method(service.app.server.server, 'closeAllConnections');
  let stopped = false;
  let stopping: Promise<void> | undefined;
  // The profile cannot be read while this holds, so the request stays under way for as long as we like.
  const slow = await db.transaction(async (tx) => {
    await tx.run(sql`lock table accounts in access exclusive mode`);
    const request = service.call('GET', '/auth/me', { token });
    await until(async () => (await waitingForLocks(db)) === 1);
    stopping = service.app.stop().then(() => {
      stopped = true;
    });
    const ready = await callApi(`http://${monitor}`, 'GET', '//readyz');
    assertProblem(ready, 503, 'shutting_down');
    assert.ok(Number(ready.headers.get('retry-after')) > 0);
    await assert.rejects(service.call('GET', '//healthz'), 'a new connection is refused');
    assert.equal(stopped, false);
    return { request };
  });
  const answer = await slow.request;
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.email, email);
  await stopping;
  assert.equal(stopped, true);
  assert.equal(cut.mock.callCount(), 0, 'with nothing left to do it still waited until its time was over');
});

test('without its database the service says so, changes nothing, and recovers by itself', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const { db } = service.app.store;
  // Every connection is cut under it; the next calls open new ones.
  await db
    .run(sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()`)
    .catch(() => undefined);
  const answer = await service.call('GET', '/auth/me', { token });
  assert.ok([200, 503].includes(answer.status), answer.text);
  if (answer.status === 503) assertProblem(answer, 503, 'database_unavailable');
  await until(async () => (await service.call('GET', '//readyz')).status === 200);
  assert.equal((await service.call('GET', '/auth/me', { token })).status, 200);
});
