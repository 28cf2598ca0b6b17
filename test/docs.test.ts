import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { permissions } from '../src/principal.ts';
import { ApiDocument } from './support/document.ts';
import { currentOpenApi } from './support/openapi.ts';
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

/** A schema, an answer or a parameter, or the one it refers to. */
function resolved(value: unknown): Record<string, unknown> {
  const { $ref, ...rest } = Object(value);
  if (typeof $ref !== 'string') return rest;
  const [, , kind = '', name = ''] = $ref.split('/');
  const found = document.components[kind]?.[name];
  assert.ok(found, `${$ref} leads nowhere`);
  return Object(found);
}

function parametersOf({ is }: Operation): Record<string, unknown>[] {
  return Array.from(Object(is.parameters ?? []), resolved);
}

test('the committed document is the one that the service gives', async () => {
  assert.equal(committed, await currentOpenApi(), 'run `npm run generate`');
  const service = await sharedTestApp();
  const served = await service.call('GET', '//api/docs/openapi.json');
  assert.equal(served.status, 200);
  assert.match(served.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(served.body, JSON.parse(committed));
});

test('the document keeps the recommended rules of OpenAPI 3.1, without a warning', async () => {
  assert.equal(document.openapi, '3.1.0');
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: committed, absoluteRef: 'openapi.json', config });
  const shown = problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`,
  );
  // Both paths are in the contract, and no method is in both: an id is a UUID, and never «project».
  const agreed =
    /^no-ambiguous-paths: .*connectors\/\{id\}\/test` and `\S*connectors\/project\/\{projectId\}`/;
  assert.deepEqual(
    shown.filter((each) => !agreed.test(each)),
    [],
  );
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
    assert.match(String(is.operationId), functionName, name);
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
    assert.ok(
      failures.some(([status]) => status.startsWith('4')),
      name,
    );
    for (const [status, response] of failures) {
      const problem = Object(resolved(response).content)['application/problem+json'];
      assert.equal(Object(problem?.schema).$ref, '#/components/schemas/Problem', `${name} ${status}`);
      assert.ok(Object.keys(Object(problem.examples)).length > 0, `${name} ${status} has an example`);
    }
  }
});

/** It is the name of a function in every client that is made from the document: a verb first, one for one idea. */
const functionName = new RegExp(
  `^(?:${[
    ...[
      'accept',
      'activate',
      'drain',
      'get',
      'list',
      'create',
      'update',
      'set',
      'delete',
      'follow',
      'cancel',
      'start',
      'stop',
      'test',
      'search',
    ],
    ...[
      'register',
      'verify',
      'resend',
      'login',
      'logout',
      'refresh',
      'forgot',
      'reset',
      'end',
      'provision',
      'reboot',
      'harden',
    ],
    ...['undo', 'save', 'connect', 'disconnect', 'analyze', 'retry', 'finalize', 'install', 'link', 'deploy'],
    ...['rollBack', 'trigger', 'restore', 'download', 'import', 'answer', 'receive'],
  ].join('|')})(?:[A-Z][A-Za-z]*)?$`,
);

const probes = ['GET /healthz'];

test('what is open to everyone is on this list and nothing else is', () => {
  const open = operations().filter(({ isPublic }) => isPublic);
  assert.deepEqual(open.map(({ name }) => name).sort(), [
    'GET /api/v1/auth/login/second-factor',
    'GET /api/v1/auth/oidc',
    ...probes,
    'POST /api/v1/auth/device-codes',
    'POST /api/v1/auth/forgot-password',
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/login/device-code',
    'POST /api/v1/auth/login/second-factor',
    'POST /api/v1/auth/oidc/begin',
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
    // A file has no fields.
    if ('application/gzip' in contents) continue;
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

test('what operations share stands in it once', () => {
  assert.ok(JSON.stringify(document).length < 500_000, `${JSON.stringify(document).length} characters`);
  const seen = new Map<string, string[]>();
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties, required } = Object(value);
    // Of answers: what is asked for is closed, and a closed schema cannot be a part of another.
    const isAnswer = properties && required && !('additionalProperties' in value);
    const key = JSON.stringify(properties);
    if (isAnswer && Object.keys(properties).length > 2) seen.set(key, [...(seen.get(key) ?? []), at]);
    for (const [name, each] of Object.entries(value))
      if (!/^examples?$/.test(name)) walk(each, `${at}/${name}`);
  };
  walk(document, '');
  const twice = [...seen.values()].filter((places) => places.length > 1);
  assert.deepEqual(twice, []);
  const spelled = new Map<string, string>();
  for (const { name, is } of operations())
    for (const [status, response] of Object.entries(Object(is.responses))) {
      if (!['401', '403', '404', '429', '500'].includes(status) || /auth|webhooks|recipients/.test(name))
        continue;
      const text = JSON.stringify(response);
      if (!('$ref' in Object(response)))
        assert.ok(!spelled.has(text), `${name} ${status}: ${spelled.get(text)}`);
      spelled.set(text, name);
    }
});

test('nobody is told of a default response, and tags are in the order in which they are met', () => {
  assert.doesNotMatch(committed, /Default Response/);
  const tags: string[] = document.tags.map(({ name }: { name: string }) => name);
  const used = new Set(operations().flatMap(({ is }) => Array.from(Object(is.tags), String)));
  assert.deepEqual([...used].sort(), tags.toSorted());
  const journey = [
    'Accounts',
    'Servers',
    'Git providers',
    'Projects',
    'Environments',
    'Deployments',
    'Domains',
    'Backups',
  ];
  assert.deepEqual(
    tags.filter((tag) => journey.includes(tag)),
    journey,
  );
});

test('what is in headers is declared: limits, places, keys', () => {
  const headersOf = (response: unknown) => Object.keys(Object(resolved(response).headers));
  for (const operation of operations()) {
    const { name, is } = operation;
    const permission = String(is['x-permission']);
    const isCounted = !['probe', 'monitor'].includes(permission);
    const responses = Object.entries(Object(is.responses));
    for (const [status, response] of responses) {
      const headers = headersOf(response);
      if (status === '429' || status === '503')
        assert.ok(headers.includes('Retry-After'), `${name} ${status}`);
      if (isCounted && status.startsWith('2'))
        assert.ok(headers.includes('RateLimit') && headers.includes('RateLimit-Policy'), `${name} ${status}`);
    }
    const taken = parametersOf(operation).map((each) => each.name);
    const isRepeatable = responses.some(
      ([, each]) =>
        'idempotency_mismatch' in
        Object(Object(Object(resolved(each).content)['application/problem+json']).examples),
    );
    assert.equal(taken.includes('Idempotency-Key'), isRepeatable, name);
    const isInWorkspace = permissions.some((each) => each === permission);
    const isNamedByPath = name.includes('/workspaces/{id}');
    assert.equal(taken.includes('Slipway-Workspace'), isInWorkspace && !isNamedByPath, name);
  }
  assert.deepEqual(headersOf(document.paths['/api/v1/servers'].post.responses['201']), [
    'Location',
    'RateLimit',
    'RateLimit-Policy',
  ]);
});

test('the events of each stream are described, one schema for each kind', () => {
  const kinds = new Map<string, string[]>();
  for (const { is } of operations()) {
    const media = Object(Object(resolved(Object(is.responses)['200']).content)['text/event-stream']);
    if (media.schema === undefined) continue;
    const alternatives = Array.from(Object(resolved(media.schema).anyOf), resolved);
    const named = alternatives.map((each) => {
      assert.deepEqual(Array.from(Object(each.required)).slice(0, 2), ['kind', 'at'], String(is.operationId));
      return String(Object(each.properties).kind.const);
    });
    kinds.set(String(is.operationId), named);
  }
  assert.deepEqual(Object.fromEntries(kinds), {
    followOperation: ['status', 'progress', 'log', 'end', 'reset'],
    followEvents: [
      ...[
        'project_updated',
        'operation_updated',
        'server_updated',
        'cluster_updated',
        'git_provider_updated',
      ],
      ...['domain_updated', 'backup_updated', 'connector_updated', 'reset'],
    ],
    testConnection: ['step', 'result', 'end'],
    followAnalysis: ['status', 'finding', 'end', 'reset'],
    followDeployment: ['status', 'progress', 'log', 'end', 'reset'],
    followLogs: ['line', 'state', 'problem', 'end'],
  });
});

test('an answer that is not as described is noticed: another status, code, header, field or event', () => {
  const checked = new ApiDocument(committed);
  const operation = checked.find('GET', '/api/v1/auth/me');
  assert.equal(operation?.operationId, 'getMe');
  assert.equal(checked.find('GET', '/api/v1/projects/analyze-repo?url=x')?.operationId, 'analyzeRepository');
  const limits = { ratelimit: '"requests";r=1;t=1', 'ratelimit-policy': '"requests";q=1;w=1' };
  const answer = (status: number, body: unknown, headers = {}) => ({
    status,
    headers: new Headers({ 'content-type': 'application/json', ...limits, ...headers }),
    text: JSON.stringify(body),
  });
  const user = { id: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b', email: 'ada@example.com', name: 'Ada' };
  const times = { emailVerifiedAt: '2026-11-15T09:30:00.000Z', createdAt: '2026-11-15T09:30:00.000Z' };
  const whole = { ...user, ...times, workspaces: [] };
  const problem = { 'content-type': 'application/problem+json', 'www-authenticate': 'Bearer' };
  const refused = Object(document.components.examples.unauthenticated).value;
  checked.checkAnswer(operation, answer(200, whole));
  checked.checkAnswer(operation, answer(401, refused, problem));
  const wrong = [
    answer(202, whole),
    answer(200, { ...whole, id: 7 }),
    answer(200, user),
    answer(401, { ...refused, code: 'in_use' }, problem),
    answer(401, refused, { 'content-type': 'application/problem+json' }),
    { ...answer(200, whole), headers: new Headers({ 'content-type': 'application/json' }) },
  ];
  for (const each of wrong) assert.throws(() => checked.checkAnswer(operation, each), /getMe/);
  const stream = checked.find('GET', '/api/v1/events');
  assert.ok(stream);
  const event = { kind: 'server_updated', at: times.createdAt, serverId: user.id, reason: 'provisioned' };
  checked.checkEvent(stream, event);
  assert.throws(() => checked.checkEvent(stream, { ...event, kind: 'tick' }), /not as described/);
  assert.throws(() => checked.checkEvent(stream, { ...event, serverId: undefined }), /not as described/);
});
