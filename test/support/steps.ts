/** Steps that many account tests take, each one call of the API. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Answer, TestApp } from './app.ts';
import { text } from './people.ts';

export const seconds = 1000;
export const minutes = 60 * seconds;
export const days = 24 * 60 * minutes;

export function newPassword(): string {
  return `pass ${randomBytes(6).toString('hex')}`;
}

export function post(service: TestApp, path: string, body: unknown, headers: Record<string, string> = {}) {
  return service.call('POST', path, { body, headers });
}

export async function register(service: TestApp, email: string, password = newPassword()): Promise<Answer> {
  const answer = await post(service, '/auth/register', { email, password });
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

export function login(service: TestApp, person: { email: string; password: string }): Promise<Answer> {
  const { email, password } = person;
  return post(service, '/auth/login', { email, password, refreshTokenIn: 'body' });
}

export async function me(service: TestApp, token: string): Promise<number> {
  return (await service.call('GET', '/auth/me', { token })).status;
}

/** Asks for a reset link and reads it from the mail. */
export async function resetTokenFor(service: TestApp, email: string): Promise<string> {
  const asked = await post(service, '/auth/forgot-password', { email });
  assert.equal(asked.status, 202, asked.text);
  return service.mailbox.resetToken(email);
}

export function tokensOf(answer: Answer): { token: string; refreshToken: string } {
  assert.equal(answer.status, 200, answer.text);
  return { token: text(answer.body.accessToken), refreshToken: text(answer.body.refreshToken) };
}

export interface SetCookie {
  readonly value: string;
  /** By lower-case name. */
  readonly attributes: Map<string, string>;
}

/** The cookies that an answer sets, by name. */
export function cookiesOf(answer: Answer): Map<string, SetCookie> {
  const cookies = answer.headers.getSetCookie().map((line): [string, SetCookie] => {
    const [pair = '', ...rest] = line.split('; ');
    const attributes = rest.map((each): [string, string] => {
      const [name = '', value = ''] = each.split('=');
      return [name.toLowerCase(), value];
    });
    const end = pair.indexOf('=');
    return [pair.slice(0, end), { value: pair.slice(end + 1), attributes: new Map(attributes) }];
  });
  assert.equal(new Map(cookies).size, cookies.length, 'each cookie once');
  return new Map(cookies);
}

export function cookieOf(answer: Answer, name = 'slipway_refresh'): SetCookie {
  const cookie = cookiesOf(answer).get(name);
  assert.ok(cookie, `${name} is not among ${answer.headers.getSetCookie().join('; ')}`);
  return cookie;
}

export function statusCounts(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
