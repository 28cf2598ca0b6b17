import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { matching } from './schemas.ts';
import { fieldErrors, validator } from './validation.ts';

const closed = { additionalProperties: false };
const Auth = Type.Union([
  Type.Object({ type: Type.Literal('generated') }, closed),
  Type.Object({ type: Type.Literal('key'), privateKey: Type.String() }, closed),
  Type.Object({ type: Type.Literal('password'), password: Type.String() }, closed),
]);
const Wish = Type.Object({ name: Type.String(), host: Type.String(), auth: Auth }, closed);
const Either = Type.Union([Type.Object({ id: Type.String({ format: 'uuid' }) }, closed), Wish]);

function told(schema: object, value: unknown): string[] {
  const verdict: unknown = validator('body', schema)(value);
  if (verdict === true || !Object(verdict).error) return [];
  return fieldErrors(Object(verdict).error, 'body').map(({ path, message }) => `${path} ${message}`);
}

const good = { name: 'a', host: 'h', auth: { type: 'generated' } };

test('of several alternatives the one that was meant is spoken of', () => {
  const of = (auth: unknown) => told(Wish, { ...good, auth });
  assert.deepEqual(of({ type: 'generated' }), []);
  assert.deepEqual(of({ type: 'password' }), ['auth.password is required']);
  assert.deepEqual(of({ type: 'key', privateKey: 1 }), ['auth.privateKey must be a string']);
  assert.deepEqual(of({ type: 'generated', extra: 1 }), ['auth.extra is not a known field']);
});

test('where none was meant, those there are are named', () => {
  const kinds = 'auth.type must be one of generated, key, password';
  assert.deepEqual(told(Wish, { ...good, auth: { type: 'nope' } }), [kinds]);
  assert.deepEqual(told(Wish, { ...good, auth: {} }), ['auth.type is required']);
  assert.deepEqual(told(Wish, { ...good, auth: 'x' }), ['auth must be an object']);
});

test('alternatives inside of alternatives, and values that may be null, are told as plainly', () => {
  assert.deepEqual(told(Either, { ...good, auth: { type: 'password' } }), ['auth.password is required']);
  assert.deepEqual(told(Either, { name: 'a' }), ['host is required', 'auth is required']);
  assert.deepEqual(told(Either, { id: 'x' }), [
    'id must be a UUID, such as `01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b`',
  ]);
  const maybe = Type.Object({ note: Type.Union([Type.String({ minLength: 2 }), Type.Null()]) }, closed);
  assert.deepEqual(told(maybe, { note: 'x' }), ['note must have at least 2 characters']);
});

test('a constant inside of an alternative is a field of it, and not one more kind', () => {
  const Proof = Type.Union([
    Type.Object({ method: Type.Literal('totp'), code: Type.String() }, closed),
    Type.Object(
      {
        method: Type.Literal('passkey'),
        credential: Type.Object({ type: Type.Literal('public-key') }, closed),
      },
      closed,
    ),
  ]);
  assert.deepEqual(told(Proof, { method: 'passkey', credential: { type: 'key' } }), [
    'credential.type must be "public-key"',
  ]);
  assert.deepEqual(told(Proof, { method: 'x', credential: { type: 'key' } }), [
    'method must be one of totp, passkey',
  ]);
});

test('a value is told what it should be in words, and by what it should look like first', () => {
  const code = Type.String({
    maxLength: 6,
    pattern: matching('^[0-9]{6}$', 'must be six digits, such as `493027`'),
  });
  const Sent = Type.Object(
    {
      code,
      name: Type.String({ minLength: 1 }),
      force: Type.Boolean(),
      count: Type.Integer(),
      list: Type.Array(code),
    },
    closed,
  );
  assert.deepEqual(told(Sent, { code: '1234567', name: '', force: 'yes', count: 1.5, list: {} }), [
    'code must be six digits, such as `493027`',
    'name must not be empty',
    'force must be true or false',
    'count must be a whole number',
    'list must be a list',
  ]);
  assert.throws(() => matching('^[0-9]{6}$', 'must be a code'), /told in two ways/);
});
