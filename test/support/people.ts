/** People who use the service in tests. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestApp } from './app.ts';

export interface Person {
  readonly email: string;
  readonly password: string;
  readonly accountId: string;
  readonly token: string;
  readonly refreshToken: string;
}

export function newEmail(): string {
  return `p${randomBytes(6).toString('hex')}@example.com`;
}

/** Registers and confirms someone, the way a person does it. */
export async function newPerson(service: TestApp, email = newEmail()): Promise<Person> {
  const password = `pass ${randomBytes(6).toString('hex')}`;
  const registered = await service.call('POST', '/auth/register', { body: { email, password } });
  assert.equal(registered.status, 201, registered.text);
  const code = await service.mailbox.code(email);
  const body = { email, code, refreshTokenIn: 'body' };
  const verified = await service.call('POST', '/auth/verify-otp', { body });
  assert.equal(verified.status, 200, verified.text);
  const { accessToken, refreshToken, user } = verified.body;
  return {
    email,
    password,
    accountId: text(Object(user).id),
    token: text(accessToken),
    refreshToken: text(refreshToken),
  };
}

export function text(value: unknown): string {
  assert.equal(typeof value, 'string', `expected a text, found ${JSON.stringify(value)}`);
  return String(value);
}
