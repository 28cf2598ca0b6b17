import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp, type TestApp } from './support/app.ts';
import { newPerson } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';

const origin = 'https://app.example.com';

test('a request keeps the id its caller gave, where it is one', async () => {
  const service = await sharedTestApp();
  for (const id of ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b', 'trace_12', 'A'.repeat(64)]) {
    const answer = await service.call('GET', '/nothing', { headers: { 'x-request-id': id } });
    assert.equal(answer.headers.get('x-request-id'), id);
    assert.equal(answer.body.requestId, id);
  }
});

test('what is not an id is replaced by one of ours', async () => {
  const service = await sharedTestApp();
  for (const id of [
    'short',
    'A'.repeat(65),
    'with space in',
    '<script>alert(1)</script>',
    '"quoted-id"',
    'emoji-é-12345',
    '',
  ]) {
    const answer = await service.call('GET', '/nothing', { headers: { 'x-request-id': id } });
    assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    assert.equal(answer.body.requestId, answer.headers.get('x-request-id'));
  }
});

test('the id of a request finds its line in the log', async () => {
  const service = await sharedTestApp();
  const answer = await service.call('GET', '/auth/me');
  const line = service.logLines.find((each) => each.requestId === answer.headers.get('x-request-id'));
  assert.equal(line?.msg, 'request');
  assert.equal(line?.status, 401);
});

test('every answer, good or bad, forbids to guess its type, to frame it, to keep it and to tell where one came from', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const answers = [
    await service.call('GET', '/auth/me', { token }),
    await service.call('GET', '/auth/me'),
    await service.call('GET', '/nothing'),
    await service.call('PUT', '/auth/me'),
    await service.call('POST', '/auth/login', { body: '{' }),
    await service.call('GET', '//healthz'),
    await service.call('POST', '/auth/logout', { token }),
  ];
  for (const { headers } of answers) {
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
    assert.equal(headers.get('x-powered-by'), null);
    assert.equal(headers.get('server'), null);
    assert.equal(headers.get('strict-transport-security'), null);
  }
});

test('where people come over TLS, browsers are told to stay with it', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_PUBLIC_URL: 'https://deploy.example.com' } });
  const answer = await service.call('GET', '/auth/me');
  assert.match(answer.headers.get('strict-transport-security') ?? '', /^max-age=\d{7,}/);
});

function preflight(service: TestApp, from: string) {
  const headers = {
    origin: from,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  return service.call('OPTIONS', '/auth/login', { headers });
}

test('no page of another origin may read an answer unless a setting allows it', async () => {
  const service = await sharedTestApp();
  const answer = await service.call('GET', '/nothing', { headers: { origin } });
  assert.equal(answer.headers.get('access-control-allow-origin'), null);
  assertProblem(await preflight(service, origin), 405, 'method_not_allowed');
});

const withOrigins = { SLIPWAY_CORS_ORIGINS: `${origin},http://localhost:5173` };

test('the origins of the setting may call and read, errors included, and no other', async () => {
  const service = await sharedTestApp(withOrigins);
  const asked = await preflight(service, origin);
  assert.equal(asked.status, 204, asked.text);
  assert.equal(asked.headers.get('access-control-allow-origin'), origin);
  assert.equal(asked.headers.get('access-control-allow-credentials'), 'true');
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.match(asked.headers.get('access-control-allow-methods') ?? '', new RegExp(`\\b${method}\\b`));
  }
  assert.match(asked.headers.get('access-control-allow-headers') ?? '', /authorization/i);
  const refused = await service.call('GET', '/auth/me', { headers: { origin } });
  assert.equal(refused.status, 401);
  assert.equal(
    refused.headers.get('access-control-allow-origin'),
    origin,
    'a page cannot read why it was refused',
  );
  assert.match(refused.headers.get('access-control-expose-headers') ?? '', /RateLimit/);
  for (const other of ['https://evil.example', `${origin}.evil.example`, 'null', 'http://app.example.com']) {
    assert.equal((await preflight(service, other)).headers.get('access-control-allow-origin'), null, other);
  }
});

test('with CORS on, unknown paths and wrong methods are still told apart', async () => {
  const service = await sharedTestApp(withOrigins);
  assertProblem(await service.call('GET', '/nothing'), 404, 'not_found');
  const wrong = await service.call('GET', '/auth/login');
  assertProblem(wrong, 405, 'method_not_allowed');
  assert.match(wrong.headers.get('allow') ?? '', /POST/);
});
