import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
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
