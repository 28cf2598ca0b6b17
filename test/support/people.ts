/** People who use the service in tests. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { hashPassword, passwordTag } from '../../src/areas/accounts/passwords.ts';
import { saveRegistration } from '../../src/areas/accounts/queries.ts';
import { lifetimes, newOtpSeed, otpOf } from '../../src/areas/accounts/tokens.ts';
import { after } from '../../src/clock.ts';
import { once } from '../../src/once.ts';
import { sql } from '../../src/store/sql.ts';
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

// One for everybody in this process: hashing a password takes longer than most tests do.
const password = `pass ${randomBytes(6).toString('hex')}`;
const passwordHash = once(() => hashPassword(password));

/** Somebody who has registered, and confirms it now. How people register is tried by the tests of accounts. */
export async function newPerson(service: TestApp, email = newEmail()): Promise<Person> {
  const { db, masterKeys } = service.app.store;
  const now = service.clock.now();
  const seed = newOtpSeed();
  await saveRegistration(db, {
    email,
    name: undefined,
    passwordHash: await passwordHash(),
    passwordTag: passwordTag(masterKeys, email, password),
    invitationId: undefined,
    otpExpiresAt: after(now, lifetimes.otpMs),
    now,
  });
  await db.run(sql`update registrations set otp_seed = ${seed}, otp_made_at = ${now} where email = ${email}`);
  const code = otpOf(masterKeys, email, seed);
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
