/** Work before limits: what one request can make the service do before it is counted or refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { bodyLimitOf } from '../../src/http/body-size.ts';
import { fieldErrors, validator } from '../../src/http/validation.ts';
import { createBareServer } from '../support/bare-server.ts';
import { newPerson } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes, post, statusCounts } from '../support/steps.ts';
import { send } from './send.ts';
import { surfaceOf } from './surface.ts';

const closed = { additionalProperties: false };
const Body = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 10 })),
    variables: Type.Optional(
      Type.Array(Type.Object({ key: Type.String({ maxLength: 10 }) }, closed), { maxItems: 500 }),
    ),
  },
  closed,
);

/** The value, and how often something inside of it was looked at. */
function watched<T extends object>(value: T): { value: T; looks: () => number } {
  let looks = 0;
  const look =
    <A extends unknown[], R>(done: (...given: A) => R) =>
    (...given: A): R => {
      looks += 1;
      return done(...given);
    };
  const proxy = new Proxy(value, {
    get: look((target, name) => Reflect.get(target, name)),
    has: look((target, name) => Reflect.has(target, name)),
    getOwnPropertyDescriptor: look((target, name) => Reflect.getOwnPropertyDescriptor(target, name)),
  });
  return { value: proxy, looks: () => looks };
}

function errorsOf(schema: object, value: unknown): { path: string; message: string }[] {
  const verdict: unknown = validator('body', schema)(value);
  return fieldErrors(Object(verdict).error ?? [], 'body');
}

test('whoever sends a list of 340,000 wrong values makes us count them, not look at them', () => {
  const list = watched(Array.from({ length: 340_000 }, () => ({})));
  const errors = errorsOf(Body, { variables: list.value });
  assert.deepEqual(errors, [{ path: 'variables', message: 'must list at most 500' }]);
  assert.ok(list.looks() < 5_000, `looked ${list.looks()} times`);
});

test('whoever sends 95,000 unknown fields makes us look at the first of them', () => {
  const fields = Object.fromEntries(Array.from({ length: 95_000 }, (_, index) => [`a${index}`, 1]));
  const body = watched(fields);
  assert.deepEqual(errorsOf(Body, body.value), [{ path: 'a0', message: 'is not a known field' }]);
  assert.ok(body.looks() < 5_000, `looked ${body.looks()} times`);
});

test('whoever made a few mistakes is told of all of them at once', () => {
  const body = { name: 7, variables: [{ key: 'A' }, {}, { key: 1, odd: true }], odd: 1 };
  assert.deepEqual(
    errorsOf(Body, body)
      .map(({ path }) => path)
      .sort(),
    ['name', 'odd', 'variables[1].key', 'variables[2].key', 'variables[2].odd'],
  );
});

test('a route whose body, query or path has no end does not start', async (t) => {
  const service = await sharedTestApp();
  const server = await createBareServer(service);
  t.after(() => server.close());
  const config = { access: { kind: 'public' } } as const;
  const endless: Record<string, [schema: object, says: RegExp]> = {
    text: [Type.Object({ a: Type.String() }, closed), /body\.a has no maxLength/],
    pattern: [Type.Object({ a: Type.String({ pattern: '^a*$' }) }, closed), /body\.a has no maxLength/],
    list: [Type.Object({ a: Type.Array(Type.Null()) }, closed), /body\.a has no maxItems/],
    inner: [
      Type.Object({ a: Type.Array(Type.Object({ b: Type.String() }, closed), { maxItems: 1 }) }, closed),
      /body\.a\[\]\.b has no maxLength/,
    ],
    either: [Type.Union([Type.Null(), Type.String()]), /body has no maxLength/],
    map: [Type.Record(Type.String(), Type.Null(), closed), /body has no maxProperties/],
    open: [Type.Object({}), /body takes any field/],
    anything: [Type.Object({ a: Type.Unknown() }, closed), /body\.a has no type/],
  };
  for (const [name, [body, says]] of Object.entries(endless))
    assert.throws(() => server.post(`/${name}`, { config, schema: { body } }, () => 'ok'), says);
  const querystring = Type.Object({ q: Type.String() }, closed);
  assert.throws(() => server.get('/q', { config, schema: { querystring } }, () => 'ok'), /querystring\.q/);
  const params = Type.Object({ p: Type.String() }, closed);
  assert.throws(() => server.get('/:p', { config, schema: { params } }, () => 'ok'), /params\.p/);
});

test('the longest body that a schema takes fits, however it is written', () => {
  const schema = Type.Object(
    {
      text: Type.String({ maxLength: 300 }),
      list: Type.Array(Type.Enum(['one', 'three']), { maxItems: 200 }),
      map: Type.Record(Type.String({ pattern: '^[a-z]{1,9}$' }), Type.Boolean(), {
        ...closed,
        maxProperties: 40,
      }),
    },
    closed,
  );
  const longest = {
    text: '\u{1f680}'.repeat(300),
    list: Array(200).fill('three'),
    map: Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`abcdefg${(index + 100).toString(36)}`, false]),
    ),
  };
  const escaped = JSON.stringify(longest, null, 8).replace(
    /[\u0080-\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  assert.deepEqual(JSON.parse(escaped), longest);
  const limit = bodyLimitOf(schema);
  assert.ok(escaped.length <= limit, `${escaped.length} bytes, and ${limit} are taken`);
  assert.ok(limit < 64 * 1024, `${limit}`);
});

test('whoever has no account cannot make us read more than a few kilobytes', async () => {
  const service = await sharedTestApp();
  const body = JSON.stringify({ email: 'a@example.com', unknown: 'x'.repeat(8 * 1024) });
  const open = surfaceOf().filter((each) => each.isPublic && each.example !== undefined);
  assert.ok(open.length >= 6);
  for (const operation of open) {
    const answer = await send(service.url, operation, {}, { body });
    assert.equal(answer.status, 413, `${operation.name}: ${answer.text}`);
  }
});

test('whoever sends a body where none is taken, or to nowhere, is not read', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const body = JSON.stringify({ unknown: 'x'.repeat(2 * 1024) });
  const headers = { 'content-type': 'application/json' };
  assertProblem(
    await service.call('POST', '/auth/logout', { token, body, headers }),
    413,
    'payload_too_large',
  );
  // Not JSON either: nobody has looked.
  assertProblem(await service.call('POST', '/nowhere', { body: '{', headers }), 404, 'not_found');
});

test('whoever guesses is counted when the request arrives, whatever its body turns out to be', async () => {
  const service = await sharedTestApp({ SLIPWAY_LIMIT_SIGN_IN: '10' });
  service.clock.advance(3 * minutes);
  const answers = [];
  for (let index = 0; index < 12; index += 1) answers.push(await post(service, '/auth/login', '{'));
  assert.deepEqual(statusCounts(answers), { 400: 10, 429: 2 });
});
