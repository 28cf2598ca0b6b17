import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Answer, TestApp } from '../support/app.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes, newPassword, post, seconds, statusCounts } from '../support/steps.ts';

const password = newPassword();
const behindProxy = { SLIPWAY_TRUSTED_PROXIES: '127.0.0.1', SLIPWAY_LIMIT_SIGN_IN: '10' };

let addresses = 0;
const from = (address: string) => ({ 'x-forwarded-for': address });
/** Each in a network of its own. */
const fromAnywhere = () => {
  addresses += 1;
  return from(`198.${18 + Math.floor(addresses / 200)}.${addresses % 200}.7`);
};

/** Puts the clock at the start of a minute, where a window opens. */
function toWindowStart({ clock }: TestApp): void {
  clock.advance(minutes - (clock.now().getTime() % minutes));
}

/** At the start of a minute, and after two in which nobody called: nothing is left of what was counted before. */
async function unused(env: Record<string, string>): Promise<TestApp> {
  const service = await sharedTestApp(env);
  service.clock.advance(2 * minutes);
  toWindowStart(service);
  return service;
}

function signIn(service: TestApp, email: string, headers: Record<string, string> = {}): Promise<Answer> {
  return post(service, '/auth/login', { email, password }, headers);
}

async function inTurn(count: number, call: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index += 1) answers.push(await call(index));
  return answers;
}

/** Reads `"name";q=10;w=60` and its like. */
function fieldOf(answer: Answer, header: string): Record<string, string> {
  const [name = '', ...rest] = (answer.headers.get(header) ?? '').split(';');
  return { name, ...Object.fromEntries(rest.map((each) => each.split('='))) };
}

test('the limits are those of the contract unless set', () => {
  const { limitRequests, limitSignIn } = readConfig({});
  assert.deepEqual({ limitRequests, limitSignIn }, { limitRequests: 300, limitSignIn: 10 });
});

test('every answer says what the limit is and how much of it is left', async () => {
  const service = await unused({ SLIPWAY_LIMIT_REQUESTS: '300' });
  const [first, second] = await inTurn(2, () => service.call('GET', '//api/docs'));
  assert.ok(first && second);
  assert.deepEqual(fieldOf(first, 'ratelimit-policy'), { name: '"requests"', q: '300', w: '60' });
  assert.deepEqual(fieldOf(first, 'ratelimit'), { name: '"requests"', r: '299', t: '60' });
  assert.equal(fieldOf(second, 'ratelimit').r, '298');
});

test('who asks too fast is told when to go on, and then may', async () => {
  const service = await unused({ SLIPWAY_LIMIT_REQUESTS: '20' });
  const answers = await inTurn(25, () => service.call('GET', '//api/docs'));
  assert.deepEqual(statusCounts(answers), { 200: 20, 429: 5 });
  const refused = answers.at(-1);
  assert.ok(refused);
  assertProblem(refused, 429, 'rate_limited');
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait >= 1 && wait <= 120, `${wait}`);
  assert.deepEqual(fieldOf(refused, 'ratelimit'), { name: '"requests"', r: '0', t: String(wait) });
  service.clock.advance(wait * seconds);
  assert.equal((await service.call('GET', '//api/docs')).status, 200);
});

test('an account has a limit of its own, apart from its address and from other accounts', async () => {
  const service = await unused({ SLIPWAY_LIMIT_REQUESTS: '20' });
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const mine = await inTurn(25, () => service.call('GET', '/auth/me', { token: ada.token }));
  assert.deepEqual(statusCounts(mine), { 200: 20, 429: 5 });
  assert.equal((await service.call('GET', '/auth/me', { token: grace.token })).status, 200);
  assert.equal((await service.call('GET', '//api/docs')).status, 200);
});

test('requests with a token that is none count for the address they come from', async () => {
  const service = await unused({ SLIPWAY_LIMIT_REQUESTS: '20' });
  const answers = await inTurn(25, (index) => service.call('GET', '/auth/me', { token: `made.up.${index}` }));
  assert.deepEqual(statusCounts(answers), { 401: 20, 429: 5 });
});

test('paths that do not exist count like any other', async () => {
  const service = await unused({ SLIPWAY_LIMIT_REQUESTS: '20' });
  const answers = await inTurn(25, (index) => service.call('GET', `/probe-${index}`));
  assert.deepEqual(statusCounts(answers), { 404: 20, 429: 5 });
});

const guessable: Record<string, (email: string) => object> = {
  register: (email) => ({ email, password }),
  login: (email) => ({ email, password }),
  'verify-otp': (email) => ({ email, code: '000000' }),
  'resend-otp': (email) => ({ email }),
  'forgot-password': (email) => ({ email }),
  'reset-password': () => ({ token: 'reset_made-up', password }),
};

test('each call that could be guessed on takes ten a minute from one address, whatever it names', async () => {
  const service = await unused({ SLIPWAY_LIMIT_SIGN_IN: '10' });
  for (const [call, body] of Object.entries(guessable)) {
    const answers = await inTurn(12, () => post(service, `/auth/${call}`, body(newEmail())));
    assert.equal(statusCounts(answers)[429], 2, call);
    const refused = answers.at(-1);
    assert.ok(refused);
    assertProblem(refused, 429, 'rate_limited');
    assert.deepEqual(fieldOf(refused, 'ratelimit-policy'), { name: `"${call}"`, q: '10', w: '60' });
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  }
});

/** What one e-mail takes from all networks together. */
const perEmail: Record<string, number> = {
  register: 20,
  login: 50,
  'verify-otp': 50,
  'resend-otp': 20,
  'forgot-password': 20,
};

test('each call that could be guessed on takes a number a minute for one e-mail, from wherever and however spelt', async () => {
  const service = await unused(behindProxy);
  for (const [call, most] of Object.entries(perEmail)) {
    const body = guessable[call];
    assert.ok(body);
    const email = newEmail();
    const answers = await inTurn(most + 2, (index) =>
      post(service, `/auth/${call}`, body(index % 2 ? email.toUpperCase() : email), fromAnywhere()),
    );
    assert.equal(statusCounts(answers)[429], 2, call);
    const other = await post(service, `/auth/${call}`, body(newEmail()), fromAnywhere());
    assert.notEqual(other.status, 429, `${call} for another e-mail`);
  }
});

test('whoever is refused by address does not use up the calls of an e-mail', async () => {
  const service = await unused(behindProxy);
  const email = newEmail();
  const attacker = from('203.0.113.66');
  await inTurn(10, () => signIn(service, newEmail(), attacker));
  assert.deepEqual(statusCounts(await inTurn(80, () => signIn(service, email, attacker))), { 429: 80 });
  const owner = await inTurn(50, () => signIn(service, email, fromAnywhere()));
  assert.deepEqual(statusCounts(owner), { 401: 50 });
});

test('a hundred sign-ins at once are ten', async () => {
  const service = await unused({ SLIPWAY_LIMIT_SIGN_IN: '10' });
  const answers = await Promise.all(Array.from({ length: 100 }, () => signIn(service, newEmail())));
  assert.deepEqual(statusCounts(answers), { 401: 10, 429: 90 });
});

test('two minutes after the last call nothing is left of the count', async () => {
  const service = await unused({ SLIPWAY_LIMIT_SIGN_IN: '10' });
  await inTurn(12, () => signIn(service, newEmail()));
  service.clock.advance(2 * minutes);
  assert.deepEqual(statusCounts(await inTurn(12, () => signIn(service, newEmail()))), { 401: 10, 429: 2 });
});

test('no stretch of a minute holds twice the limit, wherever it begins', async () => {
  const service = await unused({ SLIPWAY_LIMIT_SIGN_IN: '10' });
  service.clock.advance(50 * seconds);
  const before = statusCounts(await inTurn(12, () => signIn(service, newEmail())));
  service.clock.advance(20 * seconds);
  const after = statusCounts(await inTurn(12, () => signIn(service, newEmail())));
  assert.equal(before[401], 10);
  assert.ok((after[401] ?? 0) <= 2, `${after[401]} more within 20 seconds`);
});

for (const limit of [1, 3, 10]) {
  test(`Retry-After is true: whoever waits that long is let in, with a limit of ${limit}`, async () => {
    const service = await unused({ SLIPWAY_LIMIT_SIGN_IN: String(limit) });
    for (const offset of [0, 7.3, 31, 59]) {
      service.clock.advance(3 * minutes);
      toWindowStart(service);
      service.clock.advance(offset * seconds);
      const refused = (await inTurn(limit + 1, () => signIn(service, newEmail()))).at(-1);
      assert.equal(refused?.status, 429);
      service.clock.advance(Number(refused?.headers.get('retry-after')) * seconds);
      const next = await signIn(service, newEmail());
      assert.equal(next.status, 401, `met ${offset} s into a minute: ${next.text}`);
    }
  });
}

test('whoever keeps trying while refused is let in again as the count fades', async () => {
  const service = await unused({ SLIPWAY_LIMIT_SIGN_IN: '10' });
  await inTurn(10, () => signIn(service, newEmail()));
  service.clock.advance(minutes);
  const patient = await inTurn(60, () => {
    service.clock.advance(seconds);
    return signIn(service, newEmail());
  });
  const allowed = statusCounts(patient)[401] ?? 0;
  assert.ok(allowed >= 5, `in a minute of tries, ${allowed} got through`);
});

test('probes are never refused, however busy the address they come from is', async () => {
  const service = await unused({ SLIPWAY_LIMIT_REQUESTS: '5' });
  const others = await inTurn(10, () => service.call('GET', '//api/docs'));
  assert.equal(others.at(-1)?.status, 429);
  for (const path of ['//healthz', '//readyz', '//metrics']) {
    const answers = await inTurn(10, () => service.call('GET', path));
    assert.deepEqual(statusCounts(answers), { 200: 10 }, path);
  }
});
