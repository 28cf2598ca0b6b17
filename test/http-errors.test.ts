import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiFaultCodes } from '../src/fault.ts';
import { startBareServer } from './support/bare-server.ts';
import { newEmail, newPerson } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { exchange } from './support/raw-socket.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { newPassword, post } from './support/steps.ts';

const login = { email: newEmail(), password: newPassword() };

test('a body that is not JSON is refused', async () => {
  const service = await sharedTestApp();
  for (const body of [
    '{',
    '{"email":}',
    "{'email':1}",
    'email=a',
    '{"a":1}{"b":2}',
    '\u0000',
    '{"a":1,}',
    'NaN',
  ]) {
    assertProblem(await post(service, '/auth/login', body), 400, 'bad_request');
  }
});

test('JSON that reaches for the prototype is refused, at any depth', async () => {
  const service = await sharedTestApp();
  for (const body of [
    '{"__proto__":{"email":"a@example.com"}}',
    '{"email":"a@example.com","password":"x","__proto__":null}',
    '{"a":{"b":[{"__proto__":{"admin":true}}]}}',
    '{"\\u005f_proto__":{}}',
    '{"constructor":{"prototype":{"admin":true}}}',
  ]) {
    assertProblem(await post(service, '/auth/login', body), 400, 'bad_request');
  }
  assert.equal('admin' in {}, false);
});

test('a body that is not sent as JSON is refused, whatever it holds', async () => {
  const service = await sharedTestApp();
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/json-patch+json',
    'nonsense',
    '',
  ];
  for (const type of types) {
    const answer = await post(service, '/auth/login', JSON.stringify(login), { 'content-type': type });
    assertProblem(answer, 415, 'unsupported_media_type');
  }
  const charset = { 'content-type': 'Application/JSON; charset=utf-8' };
  assertProblem(await post(service, '/auth/login', login, charset), 401, 'invalid_credentials');
});

test('a body of more than one mebibyte is refused, whether its length is told ahead or not', async () => {
  const service = await sharedTestApp();
  const body = JSON.stringify({ ...login, password: 'x'.repeat(1024 * 1024) });
  const head =
    'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n';
  const told = await exchange(service.url, `${head}Content-Length: ${body.length}\r\n\r\n`);
  assertProblem(told, 413, 'payload_too_large');
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
  const untold = await exchange(service.url, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`);
  assertProblem(untold, 413, 'payload_too_large');
  for (const { text } of [told, untold])
    assert.match(text, /larger than the [\d,]+ bytes that this operation takes/);
});

test('a path that leads nowhere is not found, and says nothing of what else there is', async () => {
  const service = await sharedTestApp();
  for (const path of [
    '/nothing',
    '/auth',
    '/auth/',
    '/auth/login/',
    '/AUTH/LOGIN',
    '/auth/loginx',
    '//api',
    '//api/v2/auth/login',
    '//.env',
  ]) {
    assertProblem(await service.call('GET', path), 404, 'not_found');
  }
});

test('a method that a path does not take is refused with those it takes', async () => {
  const service = await sharedTestApp();
  const cases = [
    ['GET', '/auth/login', 'POST'],
    ['PUT', '/auth/login?x=1', 'POST'],
    ['DELETE', '/auth/me', 'GET, HEAD'],
    ['GET', '/auth/sessions/01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b', 'DELETE'],
    ['POST', '//healthz', 'GET, HEAD'],
    ['OPTIONS', '/auth/login', 'POST'],
    ['PATCH', '//api/docs', 'GET, HEAD'],
  ] as const;
  for (const [method, path, allow] of cases) {
    const answer = await service.call(method, path);
    assertProblem(answer, 405, 'method_not_allowed');
    assert.equal(answer.headers.get('allow'), allow);
  }
});

test('a path that cannot be decoded is refused, with the headers of every other answer', async () => {
  const service = await sharedTestApp();
  const normal = await service.call('GET', '/nothing');
  for (const path of ['/auth/%', '/auth/%zz', '/auth/sessions/%c0%af', '/%e0%a4%a']) {
    const answer = await service.call('DELETE', path);
    assertProblem(answer, 400, 'bad_request');
    for (const name of [
      'x-request-id',
      'x-content-type-options',
      'cache-control',
      'content-security-policy',
    ]) {
      assert.equal(answer.headers.has(name), normal.headers.has(name), `${name} for ${path}`);
    }
  }
});

test('a path part that is far too long is refused and breaks nothing', async () => {
  const service = await sharedTestApp();
  const answer = await service.call('DELETE', `/auth/sessions/${'a'.repeat(5000)}`);
  assert.ok([400, 404, 414].includes(answer.status), answer.text);
  assertProblem(answer, answer.status, String(answer.body.code));
});

test('what is not HTTP is answered as a problem on the bare connection', async () => {
  const service = await sharedTestApp();
  for (const bytes of [
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nbad header\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001',
  ]) {
    assertProblem(await exchange(service.url, bytes), 400, 'bad_request');
  }
});

test('a request whose length is told in two ways is refused, so that nothing can be smuggled behind it', async () => {
  const service = await sharedTestApp();
  const head = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  for (const lengths of [
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    'Content-Length: 2\r\nContent-Length: 3\r\n',
  ]) {
    const answer = await exchange(
      service.url,
      `${head}${lengths}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`,
    );
    assertProblem(answer, 400, 'bad_request');
    assert.doesNotMatch(answer.text, /"ok"/);
  }
});

test('headers that are too large are refused as such', async () => {
  const service = await sharedTestApp();
  const answer = await exchange(
    service.url,
    `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
  );
  assertProblem(answer, 431, 'headers_too_large');
});

test('an unknown field is refused on every call that takes a body', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const calls = [
    'register',
    'login',
    'verify-otp',
    'resend-otp',
    'forgot-password',
    'reset-password',
    'refresh',
  ];
  for (const call of calls) {
    const answer = await post(service, `/auth/${call}`, { surprise: 1 });
    assertProblem(answer, 400, 'invalid_input');
    assert.match(answer.text, /"surprise"/, call);
  }
  for (const path of ['/auth/logout', '/auth/stream-ticket']) {
    const answer = await service.call('POST', path, { token: ada.token, body: { surprise: 1 } });
    assert.equal(answer.status, 400, `${path} takes a field that it does not know`);
  }
});

test('an unknown query parameter is refused on every call', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  assertInvalid(await service.call('GET', '/auth/sessions?limit=5&sort=asc', { token }), 'sort');
  for (const path of ['/auth/me?verbose=1', '/auth/me?access_token=x', '/auth/sessions/me?x=1']) {
    const method = path.includes('sessions') ? 'DELETE' : 'GET';
    const answer = await service.call(method, path, { token });
    assert.equal(answer.status, 400, `${path}: ${answer.text}`);
  }
  const answer = await post(service, '/auth/login?debug=true', login);
  assert.equal(answer.status, 400, answer.text);
});

test('odd limits and cursors are refused by name', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  for (const limit of [
    '0',
    '-1',
    '101',
    '1.5',
    'abc',
    '',
    'Infinity',
    'null',
    '5;drop',
    '1&limit=2',
    '99999999999999999999',
  ]) {
    assertInvalid(await service.call('GET', `/auth/sessions?limit=${limit}`, { token }), 'limit');
  }
  const made = Buffer.from("01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b' or 1=1 --").toString('base64url');
  for (const cursor of [
    '',
    'x',
    '%00',
    'null',
    made,
    'x'.repeat(201),
    Buffer.alloc(36).toString('base64url'),
    'a&cursor=b',
  ]) {
    assertInvalid(await service.call('GET', `/auth/sessions?cursor=${cursor}`, { token }), 'cursor');
  }
});

test('a failure of ours says nothing of the inside, and the log finds it by the request id', async (t) => {
  const service = await sharedTestApp();
  const secret = 'relation "secrets" does not exist';
  const url = await startBareServer(t, service, (server) => {
    server.get('/breaks', { config: { access: { kind: 'public' } } }, async () => {
      throw new Error(secret);
    });
  });
  const answer = await fetch(`${url}/breaks`);
  const text = await answer.text();
  assertProblem({ status: answer.status, headers: answer.headers, text }, 500, 'internal_error');
  assert.equal(text.includes('relation'), false);
  assert.equal(/\bat .*\.ts/.test(text), false);
});

test('every code is a sentence for a person, and none is there twice under another spelling', () => {
  for (const [code, sentence] of Object.entries(apiFaultCodes)) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert.match(sentence, /^[A-Z].*\.$/s);
  }
});
