import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, TestApp } from '../support/app.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { newPassword, post, register } from '../support/steps.ts';

/** An answer with what must differ (ids, times, what was sent) taken out. */
function shapeOf(answer: Answer, email: string): object {
  const clean = (text: string) =>
    text
      .replaceAll(email, 'EMAIL')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  const headers = [...answer.headers]
    .filter(([name]) => !['date', 'ratelimit'].includes(name))
    .map(([name, value]) => `${name}: ${clean(value)}`)
    .sort();
  return { status: answer.status, headers, body: clean(answer.text) };
}

const guess = '000000';
/** Every public call that names an address: what an attacker sends. */
const questions: Record<string, (email: string) => [path: string, body: object]> = {
  register: (email) => ['/auth/register', { email, password: newPassword() }],
  login: (email) => ['/auth/login', { email, password: newPassword() }],
  'forgot-password': (email) => ['/auth/forgot-password', { email }],
  'resend-otp': (email) => ['/auth/resend-otp', { email }],
  'verify-otp': (email) => ['/auth/verify-otp', { email, code: guess }],
};

function ask(service: TestApp, what: string, email: string): Promise<Answer> {
  const question = questions[what];
  assert.ok(question);
  return post(service, ...question(email));
}

test('no call answers differently for an address that has an account, one that waits for its code, and one nobody knows', async () => {
  const service = await sharedTestApp();
  for (const what of Object.keys(questions)) {
    const known = (await newPerson(service)).email;
    const waiting = newEmail();
    await register(service, waiting);
    const shapes: object[] = [];
    for (const email of [known, waiting, newEmail()]) {
      shapes.push(shapeOf(await ask(service, what, email), email));
    }
    assert.deepEqual(shapes[0], shapes[2], `${what} tells an account`);
    assert.deepEqual(shapes[1], shapes[2], `${what} tells a registration`);
  }
});

test('asking the same again and again tells no more than asking once', async () => {
  const service = await sharedTestApp();
  const [known, unknown] = [(await newPerson(service)).email, newEmail()];
  for (let round = 0; round < 3; round += 1) {
    for (const what of Object.keys(questions)) {
      const answers = [await ask(service, what, known), await ask(service, what, unknown)];
      assert.deepEqual(
        shapeOf(answers[0] ?? assert.fail(), known),
        shapeOf(answers[1] ?? assert.fail(), unknown),
        what,
      );
    }
  }
});

test('registering an address and then signing in with that very password does not tell whether it had an account', async () => {
  const service = await sharedTestApp();
  const shapes: object[] = [];
  for (const email of [(await newPerson(service)).email, newEmail()]) {
    const password = newPassword();
    await register(service, email, password);
    shapes.push(shapeOf(await post(service, '/auth/login', { email, password }), email));
  }
  assert.deepEqual(shapes[0], shapes[1]);
});

const median = (numbers: number[]) =>
  numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** How much longer the known address takes than an unknown one; the two are asked in turn, first either way. */
async function timeRatio(service: TestApp, what: string, known: string, rounds: number): Promise<number> {
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
    for (const which of order) {
      const started = performance.now();
      await ask(service, what, which === 'known' ? known : newEmail());
      times[which].push(performance.now() - started);
    }
  }
  return median(times.known) / median(times.unknown);
}

for (const what of ['login', 'forgot-password', 'register']) {
  test(`the time that ${what} takes does not tell whether an address has an account`, async (t) => {
    const service = await sharedTestApp();
    const { email } = await newPerson(service);
    await timeRatio(service, what, email, 3);
    const ratios: number[] = [];
    for (let measurement = 0; measurement < 6; measurement += 1) {
      const ratio = await timeRatio(service, what, email, 15);
      t.diagnostic(`known takes ${ratio.toFixed(2)} times as long as unknown`);
      if (ratio > 0.7 && ratio < 1.4) return;
      ratios.push(ratio);
    }
    assert.fail(`known addresses take ${ratios.map((each) => each.toFixed(2)).join(', ')} times as long`);
  });
}
