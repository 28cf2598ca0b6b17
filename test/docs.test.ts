import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readConfig } from '../src/config.ts';
import { startTestApp } from './support/app.ts';
import { currentOpenApi } from './support/openapi.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';

const committed = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');
const document = Object(JSON.parse(committed));

interface Operation {
  readonly name: string;
  readonly isPublic: boolean;
  readonly is: Record<string, unknown>;
}

function operations(): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).map(([method, operation]) => {
      const is: Record<string, unknown> = { ...Object(operation) };
      const isPublic = Array.isArray(is.security) && is.security.length === 0;
      return { name: `${method.toUpperCase()} ${path}`, isPublic, is };
    }),
  );
}

/** A schema, or the one it refers to. */
function resolved(schema: unknown): Record<string, unknown> {
  const { $ref, ...rest } = Object(schema);
  if (typeof $ref !== 'string') return rest;
  const found = document.components.schemas[$ref.split('/').at(-1) ?? ''];
  assert.ok(found, `${$ref} leads nowhere`);
  return Object(found);
}

test('the committed document is the one that the service gives', async () => {
  assert.equal(committed, await currentOpenApi(), 'run `npm run generate`');
  const service = await sharedTestApp();
  const served = await service.call('GET', '//api/docs/openapi.json');
  assert.equal(served.status, 200);
  assert.match(served.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(served.body, JSON.parse(committed));
});

test('the document keeps the recommended rules of OpenAPI 3.1', async () => {
  assert.equal(document.openapi, '3.1.0');
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: committed, absoluteRef: 'openapi.json', config });
  const errors = problems.filter(({ severity }) => severity === 'error');
  const shown = errors.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`,
  );
  assert.deepEqual(shown, []);
});

test('every call of the contract is in the document', () => {
  const names = operations().map(({ name }) => name);
  const post = [
    'register',
    'verify-otp',
    'resend-otp',
    'login',
    'refresh',
    'logout',
    'forgot-password',
    'reset-password',
    'stream-ticket',
  ];
  const wanted = [
    ...post.map((call) => `POST /api/v1/auth/${call}`),
    'GET /api/v1/auth/me',
    'GET /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions/{id}',
    'POST /api/v1/servers',
    'GET /api/v1/servers',
    'GET /api/v1/servers/{id}',
    'PATCH /api/v1/servers/{id}',
    'DELETE /api/v1/servers/{id}',
    'GET /api/v1/servers/{id}/security',
    'POST /api/v1/servers/{id}/security/harden',
    'POST /api/v1/servers/{id}/security/undo',
    'POST /api/v1/servers/test-connection',
    'POST /api/v1/git-provider/save-token',
    'GET /api/v1/git-providers',
    'GET /api/v1/git-providers/repositories',
    'GET /api/v1/git-providers/{providerId}/repos/{repo}/branches',
    'DELETE /api/v1/git-providers/{id}',
    'POST /api/v1/webhooks/git/{provider}/{hookId}',
    'POST /api/v1/projects',
    'GET /api/v1/projects',
    'GET /api/v1/projects/{id}',
    'PUT /api/v1/projects/{id}',
    'DELETE /api/v1/projects/{id}',
    'GET /api/v1/projects/analyze-repo',
    'POST /api/v1/projects/{id}/finalize',
    'POST /api/v1/projects/{id}/retry-analysis',
    'GET /api/v1/projects/{id}/analysis-status',
    'GET /api/v1/projects/{id}/webhook-deliveries',
    'POST /api/v1/environments',
    'GET /api/v1/environments',
    'GET /api/v1/environments/{id}',
    'PATCH /api/v1/environments/{id}',
    'PATCH /api/v1/environments/{id}/branch',
    'PATCH /api/v1/environments/{id}/server',
    'PATCH /api/v1/environments/{id}/auto-deploy',
    'POST /api/v1/environments/{id}/variables',
    'GET /api/v1/environments/{id}/variables',
    'GET /api/v1/environments/{id}/variables/{key}',
    'DELETE /api/v1/environments/{id}/variables/{key}',
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
  ];
  assert.deepEqual(
    wanted.filter((each) => !names.includes(each)),
    [],
  );
});

test('every operation says what it does, who may call it, and what it answers when it goes well or wrong', () => {
  const ids = new Set<unknown>();
  for (const { name, is } of operations()) {
    assert.equal(typeof is.summary, 'string', `${name} has a summary`);
    assert.match(String(is.operationId), /^[a-z][A-Za-z]+$/, name);
    assert.equal(ids.has(is.operationId), false, `${is.operationId} is there twice`);
    ids.add(is.operationId);
    assert.ok(Array.isArray(is.security), `${name} says who may call it`);
    assert.ok(Array.isArray(is.tags) && is.tags.length === 1, name);
    const responses = Object.entries(Object(is.responses));
    const successes = responses.filter(([status]) => /^2/.test(status));
    assert.ok(successes.length > 0, `${name} has a success`);
    for (const [status, response] of successes) {
      const content = Object.values(Object(Object(response).content));
      if (status === '204') assert.equal(content.length, 0, `${name} ${status} has no body`);
      else if (status !== '202') assert.ok(content.length > 0, `${name} ${status} has a body`);
      assert.ok(
        content.every((each) => Object(each).schema),
        `${name} ${status} is typed`,
      );
    }
    const failures = responses.filter(([status]) => /^[45]/.test(status));
    assert.ok(probes.includes(name) || failures.some(([status]) => status.startsWith('4')), name);
    for (const [status, response] of failures) {
      const problem = Object(Object(response).content)['application/problem+json'];
      assert.equal(Object(problem?.schema).$ref, '#/components/schemas/Problem', `${name} ${status}`);
      assert.ok(Object.keys(Object(problem.examples)).length > 0, `${name} ${status} has an example`);
    }
  }
});

/** It asks nothing of who calls, so nothing can be wrong with the call. */
const probes = ['GET /healthz'];

test('what is open to everyone is on this list and nothing else is', () => {
  const open = operations().filter(({ isPublic }) => isPublic);
  assert.deepEqual(open.map(({ name }) => name).sort(), [
    ...probes,
    'POST /api/v1/auth/forgot-password',
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/refresh',
    'POST /api/v1/auth/register',
    'POST /api/v1/auth/resend-otp',
    'POST /api/v1/auth/reset-password',
    'POST /api/v1/auth/verify-otp',
    'POST /api/v1/notification-recipients/answer',
    'POST /api/v1/webhooks/git/{provider}/{hookId}',
  ]);
});

test('every body that is asked for shows an example of each field, and takes no unknown one', () => {
  for (const { name, is } of operations()) {
    if (is.requestBody === undefined) continue;
    const contents = Object(Object(is.requestBody).content);
    const content = contents['application/json'] ?? contents['multipart/form-data'];
    const schema = resolved(content?.schema);
    for (const alternative of Object(schema).anyOf ?? [schema]) {
      const { additionalProperties, examples: whole, properties } = resolved(alternative);
      assert.equal(additionalProperties, false, name);
      if (content.example ?? content.examples ?? whole) continue;
      for (const [field, each] of Object.entries(Object(properties))) {
        const { examples, enum: values, anyOf, const: one } = resolved(each);
        assert.ok(examples ?? values ?? anyOf ?? one, `${name}: ${field} has no example`);
      }
    }
  }
});

test('the page loads only from its own origin, and may not do otherwise', async () => {
  const service = await sharedTestApp();
  const page = await service.call('GET', '//api/docs');
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
  assert.ok(assets.length >= 3);
  for (const address of assets) {
    assert.match(address, /^\/[^/]/);
    assert.equal((await service.call('GET', `/${address}`)).status, 200, address);
  }
  assert.doesNotMatch(page.text, /<script(?![^>]* src=)|\son\w+=/, 'no script inside the page');
  const policy = page.headers.get('content-security-policy') ?? '';
  const allowed = new Set(policy.split('; ').flatMap((each) => each.split(' ').slice(1)));
  assert.deepEqual([...allowed].sort(), ["'none'", "'self'", "'unsafe-inline'", 'data:']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /connect-src 'self'(;|$)/);
});

test('the page starts without asking anyone else for anything', async () => {
  const service = await sharedTestApp();
  const start = await service.call('GET', '//api/docs/start.js');
  assert.doesNotMatch(start.text, /https?:/);
  assert.match(start.text, /"url":"\/api\/docs\/openapi\.json"/);
});

test('the script of the page comes compressed to those who can, and plain to those who cannot', async () => {
  const service = await sharedTestApp();
  const plain = await service.call('GET', '//api/docs/reference.js', {
    headers: { 'accept-encoding': 'identity' },
  });
  assert.equal(plain.headers.get('content-encoding'), null);
  assert.equal(plain.headers.get('vary'), 'accept-encoding');
  assert.match(plain.headers.get('content-type') ?? '', /^text\/javascript/);
  const zipped = await fetch(`${service.url}/api/docs/reference.js`, {
    headers: { 'accept-encoding': 'gzip' },
  });
  assert.equal(zipped.headers.get('content-encoding'), 'gzip');
  assert.ok(Number(zipped.headers.get('content-length')) < plain.text.length / 2);
  assert.equal(await zipped.text(), plain.text);
});

test('switched off, nothing of the documentation is there', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_DOCS: 'off' } });
  for (const path of ['', '/', '/openapi.json', '/start.js', '/reference.js']) {
    assertProblem(await service.call('GET', `//api/docs${path}`), 404, 'not_found');
  }
});

test('the documentation is on by default, and off in production unless it is set', () => {
  assert.equal(readConfig({}).docs, true);
  assert.equal(readConfig({ NODE_ENV: 'development' }).docs, true);
  assert.equal(readConfig({ NODE_ENV: 'production' }).docs, false);
  assert.equal(readConfig({ NODE_ENV: 'production', SLIPWAY_DOCS: 'on' }).docs, true);
  assert.equal(readConfig({ SLIPWAY_DOCS: 'off' }).docs, false);
});
