/** Second factors in tests: an authenticator app, and the steps that people take with one. */
import assert from 'node:assert/strict';
import { counterAt, decodeBase32, hotp } from '../../src/areas/accounts/second-factors/totp.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer, TestApp } from './app.ts';
import { newPerson, type Person, text } from './people.ts';
import { login, post, seconds } from './steps.ts';

/** What the app shows, now or some steps of half a minute from now. */
export function totpCode({ clock }: TestApp, secret: string, steps = 0): string {
  return hotp(decodeBase32(secret), counterAt(clock.now()) + steps);
}

/** To the next code: what was used before is not taken again. */
export function nextStep({ clock }: TestApp): void {
  clock.advance(30 * seconds);
}

export interface Guarded extends Person {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Turns an authenticator app on, the way a person does it. */
export async function turnTotpOn(service: TestApp, person: Person): Promise<Guarded> {
  const begun = await service.call('POST', '/auth/totp', { token: person.token });
  assert.equal(begun.status, 201, begun.text);
  const secret = text(begun.body.secret);
  const body = { code: totpCode(service, secret) };
  const on = await service.call('POST', '/auth/totp/confirm', { token: person.token, body });
  assert.equal(on.status, 200, on.text);
  nextStep(service);
  return { ...person, secret, recoveryCodes: Object(on.body).recoveryCodes };
}

export async function newGuarded(service: TestApp): Promise<Guarded> {
  return turnTotpOn(service, await newPerson(service));
}

/** The challenge that a right password is answered with. */
export async function challengeFor(service: TestApp, person: Person): Promise<string> {
  const answer = await login(service, person);
  assert.equal(answer.status, 202, answer.text);
  assert.equal(answer.body.accessToken, undefined);
  return text(Object(answer.body.secondFactor).challenge);
}

export function complete(
  service: TestApp,
  challenge: string,
  proof: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return post(service, '/auth/login/second-factor', { challenge, refreshTokenIn: 'body', ...proof }, headers);
}

/** What the app of this person shows, as a proof. */
export function totp(service: TestApp, { secret }: Guarded, steps = 0) {
  return { method: 'totp', code: totpCode(service, secret, steps) };
}

export async function factorsOf(service: TestApp, token: string): Promise<Record<string, unknown>> {
  const answer = await service.call('GET', '/auth/second-factors', { token });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** What the audit log has of an account, in order. */
export async function actionsOf({ app }: TestApp, accountId: string): Promise<string[]> {
  const rows = await app.store.db.rows<{ action: string }>(sql`
    select action from audit_entries where account_id = ${accountId} or subject_id = ${accountId} order by id`);
  return rows.map(({ action }) => action);
}
