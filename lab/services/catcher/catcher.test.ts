import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { hangMs } from '../../../test/support/until.ts';
import { type LabCatcher, startCatcher } from './catcher.ts';
import { catcherRoutes } from './catcher-routes.ts';

interface TestContext {
  after(work: () => Promise<void> | void): void;
}

async function startTestCatcher(t: TestContext): Promise<LabCatcher> {
  const catcher = await startCatcher({ address: '127.0.0.1', port: 0 });
  t.after(() => catcher.close());
  return catcher;
}

async function startControl(t: TestContext, catcher: LabCatcher) {
  const app = Fastify();
  t.after(() => app.close());
  catcherRoutes(app, catcher);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const call = async (method: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const sent =
      body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, ...sent, ...(signal ? { signal } : {}) });
    const text = await response.text();
    return { status: response.status, body: Object(text === '' ? {} : JSON.parse(text)) };
  };
  return { app, call };
}

async function said(catcher: LabCatcher, path: string): Promise<[number, string]> {
  const response = await fetch(`${catcher.url}${path}`, { method: 'POST', body: '{}' });
  return [response.status, await response.text()];
}

test('a request is written down as it came, and answered ok', async (t) => {
  const catcher = await startTestCatcher(t);
  const before = Date.now();
  const headers = ['Host', 'hooks.lab.test', 'X-Two', '1', 'x-TWO', '2', 'Content-Type', 'application/json'];
  const sent = request(`${catcher.url}/hooks/a%20b?x=1&x=2&y=%C3%BC`, { method: 'PATCH', headers });
  sent.end('{"grüße":1}');
  const [response] = await once(sent, 'response');
  assert.equal(response.statusCode, 200);
  assert.equal(String(Buffer.concat(await response.toArray())), 'ok');
  const [caught, ...others] = catcher.requests();
  assert.ok(caught && others.length === 0);
  const { time, headers: got, ...rest } = caught;
  assert.deepEqual(rest, {
    id: '1',
    remoteAddress: '127.0.0.1',
    method: 'PATCH',
    path: '/hooks/a%20b',
    query: 'x=1&x=2&y=%C3%BC',
    bodyBase64: Buffer.from('{"grüße":1}').toString('base64'),
    bodyText: '{"grüße":1}',
    cut: false,
  });
  assert.deepEqual(got.slice(0, 4), [
    { name: 'Host', value: 'hooks.lab.test' },
    { name: 'X-Two', value: '1' },
    { name: 'x-TWO', value: '2' },
    { name: 'Content-Type', value: 'application/json' },
  ]);
  assert.ok(Date.parse(time) >= before);
});

test('a body that is no text is kept in bytes, and none is an empty text', async (t) => {
  const catcher = await startTestCatcher(t);
  await fetch(catcher.url, { method: 'POST', body: new Uint8Array([0xff, 0x00, 0xfe]) });
  await fetch(catcher.url);
  const [binary, empty] = catcher.requests('/');
  assert.deepEqual([binary?.bodyBase64, binary?.bodyText], ['/wD+', null]);
  assert.deepEqual([empty?.bodyBase64, empty?.bodyText, empty?.query], ['', '', '']);
});

test('10 MiB are taken; more is answered 413, and its beginning is kept', async (t) => {
  const catcher = await startTestCatcher(t);
  const most = 10 * 1024 * 1024;
  const post = (size: number) => fetch(catcher.url, { method: 'POST', body: Buffer.alloc(size, 'x') });
  assert.equal((await post(most)).status, 200);
  catcher.answer('/', { status: 204, times: 1 });
  const refused = await post(most + 1);
  assert.deepEqual([refused.status, await refused.text()], [413, `Larger than ${most} bytes`]);
  assert.equal(catcher.answers().length, 1, 'a refusal is not one of the times');
  assert.deepEqual(
    catcher.requests().map(({ cut, bodyText }) => [cut, bodyText?.length]),
    [
      [false, most],
      [true, most],
    ],
  );
});

test('a path is answered as told, with status, headers, body and delay', async (t) => {
  const catcher = await startTestCatcher(t);
  const { call } = await startControl(t, catcher);
  const headers = { 'Retry-After': '3', 'Set-Cookie': ['a=1', 'b=2'], 'Content-Type': 'application/json' };
  const answer = { path: '/hook', status: 503, headers, body: '{"later":true}', delayMs: 60 };
  assert.deepEqual(await call('PUT', '/requests/answers', answer), {
    status: 200,
    body: { answers: [answer] },
  });
  const start = performance.now();
  const response = await fetch(`${catcher.url}/hook?with=query`);
  assert.deepEqual([response.status, await response.text()], [503, '{"later":true}']);
  assert.ok(performance.now() - start >= 55, 'after the delay');
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('retry-after'), '3');
  assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
  assert.deepEqual(await said(catcher, '/other'), [200, 'ok']);
  assert.deepEqual(await call('DELETE', '/requests/answers?path=/hook'), {
    status: 200,
    body: { answers: [] },
  });
  assert.deepEqual(await said(catcher, '/hook'), [200, 'ok']);
});

test('an answer for a number of times fails that often, also when all ask at once, and then succeeds', async (t) => {
  const catcher = await startTestCatcher(t);
  catcher.answer('/hook', { status: 500, times: 2 });
  assert.deepEqual(await said(catcher, '/hook'), [500, '']);
  assert.deepEqual(catcher.answers(), [{ path: '/hook', status: 500, times: 1 }]);
  assert.deepEqual(await said(catcher, '/hook'), [500, '']);
  assert.deepEqual(await said(catcher, '/hook'), [200, 'ok']);
  catcher.answer('/hook', { status: 500, times: 5 });
  const all = await Promise.all(Array.from({ length: 20 }, () => said(catcher, '/hook')));
  assert.equal(all.filter(([status]) => status === 500).length, 5);
  catcher.answer('/hook', { status: 500 });
  catcher.answer('/hook', { status: 201 });
  assert.deepEqual(await said(catcher, '/hook'), [201, ''], 'the later replaces the earlier');
});

test('hanging up closes the connection without a word, and the request is written down', async (t) => {
  const catcher = await startTestCatcher(t);
  const { call } = await startControl(t, catcher);
  assert.equal(
    (await call('PUT', '/requests/answers', { path: '/hook', hangUp: true, times: 1 })).status,
    200,
  );
  const socket = connect(catcher.port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
  });
  socket.write('GET /hook HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.deepEqual(await socket.toArray(), []);
  assert.equal(catcher.requests('/hook').length, 1);
  assert.deepEqual(await said(catcher, '/hook'), [200, 'ok']);
});

test('a request that breaks off is not one, and a client that leaves does no harm', async (t) => {
  const catcher = await startTestCatcher(t);
  const half = connect(catcher.port, '127.0.0.1');
  await once(half, 'connect');
  half.write('POST /half HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
  half.resetAndDestroy();
  catcher.answer('/slow', { delayMs: 60_000 });
  const leaving = new AbortController();
  const slow = assert.rejects(fetch(`${catcher.url}/slow`, { signal: leaving.signal }));
  assert.equal((await catcher.next('/slow', 5000))?.path, '/slow', 'read before it is answered');
  leaving.abort();
  await slow;
  assert.deepEqual(await said(catcher, '/whole'), [200, 'ok']);
  assert.deepEqual(
    catcher.requests().map(({ path }) => path),
    ['/slow', '/whole'],
  );
});

test('requests are listed, waited for and cleared over HTTP, each read once', async (t) => {
  const catcher = await startTestCatcher(t);
  const { call } = await startControl(t, catcher);
  const waiting = [call('GET', '/requests/next?path=/a'), call('GET', '/requests/next?path=/a')];
  for (const path of ['/b', '/a?n=1', '/a?n=2']) await said(catcher, path);
  const both = await Promise.all(waiting);
  assert.deepEqual(both.map(({ body }) => body.query).sort(), ['n=1', 'n=2']);
  assert.equal((await call('GET', '/requests/next?timeoutMs=0')).body.path, '/b');
  const late = await call('GET', '/requests/next?path=/a&timeoutMs=20');
  assert.deepEqual(late, { status: 408, body: { error: 'No request to /a came within 20 ms.' } });
  const list = await call('GET', '/requests?path=/a');
  assert.deepEqual(list.body, { requests: catcher.requests('/a'), answers: [] });
  assert.deepEqual([list.body.requests.length, catcher.requests().length], [2, 3]);
  assert.equal((await call('DELETE', '/requests')).status, 204);
  assert.deepEqual(catcher.requests(), []);
});

test('what is wrong is answered 400 with a sentence, and changes nothing', async (t) => {
  const catcher = await startTestCatcher(t);
  const { call } = await startControl(t, catcher);
  const path = '/a';
  const wrong = [
    ['GET', '/requests?path=a', undefined, /"a" is no path: it begins with \//],
    ['GET', '/requests/next?path=/a%3Fb', undefined, /is no path/],
    ['GET', '/requests/next?timeoutMs=-1', undefined, /is no timeoutMs/],
    ['PUT', '/requests/answers', { path: 'a', status: 500 }, /is no path/],
    ['PUT', '/requests/answers', { path, status: 99 }, /99 is no status.*503/],
    ['PUT', '/requests/answers', { path, status: '500' }, /"status" must be integer.*for example/],
    ['PUT', '/requests/answers', { path, times: 0 }, /0 is not a number of times/],
    ['PUT', '/requests/answers', { path, delayMs: -1 }, /-1 is no delayMs/],
    ['PUT', '/requests/answers', { path, hangUp: true, status: 500 }, /hangs up says nothing/],
    ['PUT', '/requests/answers', { path, headers: { 'a b': 'c' } }, /header "a b" cannot be sent/],
    ['PUT', '/requests/answers', { path, headers: { a: 'b\r\nc: d' } }, /header "a" cannot be sent/],
    ['PUT', '/requests/answers', { status: 500 }, /path/],
    ['DELETE', '/requests/answers', undefined, /path=\/hooks\/deploy/],
  ] as const;
  for (const [method, at, body, error] of wrong) {
    const answer = await call(method, at, body);
    assert.equal(answer.status, 400, `${method} ${at} ${JSON.stringify(body)}`);
    assert.match(answer.body.error, error);
  }
  assert.deepEqual(catcher.answers(), []);
  await assert.rejects(startCatcher({ address: 'here', port: 0 }), /"here" is no address/);
  await assert.rejects(startCatcher({ address: '127.0.0.1', port: catcher.port }), { code: 'EADDRINUSE' });
});

test('closing ends open connections, delays and those who wait at once', { timeout: hangMs }, async (t) => {
  const catcher = await startTestCatcher(t);
  const { app, call } = await startControl(t, catcher);
  catcher.answer('/slow', { delayMs: 300_000 });
  const slow = assert.rejects(fetch(`${catcher.url}/slow`));
  await catcher.next('/slow', 5000);
  const idle = connect(catcher.port, '127.0.0.1');
  t.after(() => {
    idle.destroy();
  });
  await once(idle, 'connect');
  const ended = once(idle, 'close');
  idle.resume();
  const arrived = once(app.server, 'request');
  const waiting = call('GET', '/requests/next?timeoutMs=300000');
  await arrived;
  await Promise.all([catcher.close(), catcher.close()]);
  await Promise.all([slow, ended]);
  assert.equal((await waiting).status, 503);
});
