/** Limits as a weapon: what a stranger can do to someone whose address they know. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, TestApp } from '../support/app.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import {
  cookieOf,
  minutes,
  newPassword,
  post,
  register,
  resetTokenFor,
  statusCounts,
} from '../support/steps.ts';

const from = (address: string) => ({ 'x-forwarded-for': address });
/** One caller in each of many networks. */
const elsewhere = (index: number) => from(`198.18.${index % 250}.7`);
const home = from('192.0.2.7');

/** With nothing left of what was counted before. The limit is low where each call costs the hash of a password. */
async function quiet(limit = 3): Promise<TestApp> {
  const service = await sharedTestApp({
    SLIPWAY_TRUSTED_PROXIES: '127.0.0.1',
    SLIPWAY_LIMIT_SIGN_IN: String(limit),
  });
  service.clock.advance(3 * minutes);
  return service;
}

interface Owner {
  readonly email: string;
  readonly password: string;
  readonly device: string;
}

function signIn(service: TestApp, email: string, password: string, headers: Record<string, string>) {
  return post(service, '/auth/login', { email, password }, headers);
}

const withDevice = (device: string, where = home) => ({ ...where, cookie: `slipway_device=${device}` });

/** Has signed in before, with a browser. */
async function newOwner(service: TestApp): Promise<Owner> {
  const { email, password } = await newPerson(service);
  const answer = await signIn(service, email, password, home);
  assert.equal(answer.status, 200, answer.text);
  assert.match((await service.mailbox.next(email)).subject, /new location/);
  return { email, password, device: cookieOf(answer, 'slipway_device').value };
}

async function inTurn(count: number, call: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index += 1) answers.push(await call(index));
  return answers;
}

test('whoever wants to keep an owner out with wrong passwords cannot: from one network they reach their own limit alone', async () => {
  const service = await quiet();
  const { email, password } = await newPerson(service);
  // Every address of a whole network.
  const guesses = await inTurn(15, (index) =>
    signIn(service, email, newPassword(), from(`203.0.113.${index}`)),
  );
  assert.deepEqual(statusCounts(guesses), { 401: 3, 429: 12 });
  assert.equal((await signIn(service, email, password, home)).status, 200);
});

test('whoever guesses from many networks is held to a number for the account, and keeps out no device that it knows', async () => {
  const service = await quiet();
  const owner = await newOwner(service);
  service.clock.advance(3 * minutes);
  const guesses = await inTurn(25, (index) => signIn(service, owner.email, newPassword(), elsewhere(index)));
  assert.deepEqual(statusCounts(guesses), { 401: 15, 429: 10 });
  assertProblem(await signIn(service, owner.email, owner.password, home), 429, 'rate_limited');
  const known = await signIn(service, owner.email, owner.password, withDevice(owner.device));
  assert.equal(known.status, 200, known.text);
});

test('a known device is let in where its whole network is refused, and for its own account alone', async () => {
  const service = await quiet();
  const [owner, other] = [await newOwner(service), await newOwner(service)];
  service.clock.advance(3 * minutes);
  await inTurn(3, () => signIn(service, newEmail(), newPassword(), home));
  assertProblem(await signIn(service, owner.email, owner.password, home), 429, 'rate_limited');
  const device = withDevice(owner.device);
  assertProblem(await signIn(service, other.email, other.password, device), 429, 'rate_limited');
  assertProblem(await signIn(service, newEmail(), newPassword(), device), 429, 'rate_limited');
  assert.equal((await signIn(service, owner.email, owner.password, device)).status, 200);
});

test('whoever has stolen the token of a device has the guesses of one caller by it, and a made-up one has none', async () => {
  const service = await quiet();
  const owner = await newOwner(service);
  service.clock.advance(3 * minutes);
  const guess = (device: string) => (index: number) =>
    signIn(service, owner.email, newPassword(), withDevice(device, elsewhere(index)));
  assert.deepEqual(statusCounts(await inTurn(10, guess(owner.device))), { 401: 3, 429: 7 });
  service.clock.advance(3 * minutes);
  const madeUp = `device_${'x'.repeat(43)}`;
  assert.deepEqual(statusCounts(await inTurn(20, guess(madeUp))), { 401: 15, 429: 5 });
});

test('the token of a device is another after each sign-in, and worth nothing after a reset', async () => {
  const service = await quiet();
  const owner = await newOwner(service);
  const again = await signIn(service, owner.email, owner.password, withDevice(owner.device));
  const next = cookieOf(again, 'slipway_device').value;
  assert.notEqual(next, owner.device);
  const token = await resetTokenFor(service, owner.email);
  const password = newPassword();
  const reset = await post(service, '/auth/reset-password', { token, password }, home);
  assert.equal(reset.status, 204, reset.text);
  service.clock.advance(3 * minutes);
  await inTurn(16, (index) => signIn(service, owner.email, newPassword(), elsewhere(index)));
  for (const spent of [owner.device, next])
    assertProblem(await signIn(service, owner.email, password, withDevice(spent)), 429, 'rate_limited');
  // Who has the mailbox has the way in, however many others guess.
  const own = withDevice(cookieOf(reset, 'slipway_device').value);
  assert.equal((await signIn(service, owner.email, password, own)).status, 200);
});

test('one browser is known for each of the accounts that were signed in to with it', async () => {
  const service = await quiet();
  const owner = await newOwner(service);
  const { email, password } = await newPerson(service);
  const second = await signIn(service, email, password, withDevice(owner.device));
  const device = withDevice(cookieOf(second, 'slipway_device').value);
  service.clock.advance(3 * minutes);
  await inTurn(3, () => signIn(service, newEmail(), newPassword(), home));
  assert.equal((await signIn(service, email, password, device)).status, 200);
});

test('whoever wants to keep someone from confirming an address cannot use up their tries, nor make their code worthless', async () => {
  const service = await quiet(10);
  const email = newEmail();
  const password = newPassword();
  await post(service, '/auth/register', { email, password }, home);
  const code = await service.mailbox.code(email);
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  const stranger = from('203.0.113.9');
  const guesses = await inTurn(20, () => post(service, '/auth/verify-otp', { email, code: wrong }, stranger));
  assert.deepEqual(statusCounts(guesses), { 401: 10, 429: 10 });
  for (const call of ['resend-otp', 'register'] as const) {
    const body = call === 'register' ? { email, password: newPassword() } : { email };
    assert.ok([201, 202].includes((await post(service, `/auth/${call}`, body, stranger)).status));
    assert.equal(await service.mailbox.code(email), code, `${call} sends what was sent before`);
  }
  const verified = await post(service, '/auth/verify-otp', { email, code }, home);
  assert.equal(verified.status, 200, verified.text);
});

test('whoever guesses a code from many networks is held to twenty tries of it', async () => {
  const service = await quiet(10);
  const email = newEmail();
  await register(service, email);
  const code = await service.mailbox.code(email);
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  await inTurn(20, (index) => post(service, '/auth/verify-otp', { email, code: wrong }, elsewhere(index)));
  assertProblem(await post(service, '/auth/verify-otp', { email, code }, home), 401, 'invalid_otp');
  service.clock.advance(3 * minutes);
  await post(service, '/auth/resend-otp', { email }, home);
  const fresh = await service.mailbox.code(email);
  assert.equal((await post(service, '/auth/verify-otp', { email, code: fresh }, home)).status, 200);
});

test('whoever asks for mails to someone else’s address keeps them from no mail, and floods nobody', async () => {
  const service = await quiet();
  const { email } = await newPerson(service);
  const stranger = await inTurn(20, (index) =>
    post(service, '/auth/forgot-password', { email }, from(`203.0.113.${index}`)),
  );
  assert.deepEqual(statusCounts(stranger), { 202: 3, 429: 17 });
  const token = await service.mailbox.resetToken(email);
  assert.equal((await post(service, '/auth/forgot-password', { email }, home)).status, 202);
  const many = await inTurn(20, (index) =>
    post(service, '/auth/forgot-password', { email }, elsewhere(index)),
  );
  assert.deepEqual(statusCounts(many), { 202: 2, 429: 18 });
  // What the stranger asked for has reached the owner, and works.
  const reset = await post(service, '/auth/reset-password', { token, password: newPassword() }, home);
  assert.equal(reset.status, 204, reset.text);
});

test('a customer of IPv6 with thousands of networks has ten times the limit of one caller, and no more', async () => {
  const service = await quiet();
  const answers = await inTurn(40, (index) =>
    signIn(service, newEmail(), newPassword(), from(`2001:db8:5:${index.toString(16)}::1`)),
  );
  assert.deepEqual(statusCounts(answers), { 401: 30, 429: 10 });
});
