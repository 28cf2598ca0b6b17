import assert from 'node:assert/strict';
import { rmdirSync, symlinkSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { enqueueMail } from '../src/areas/accounts/mail-outbox.ts';
import { Throttle } from '../src/http/throttle.ts';
import { createLog } from '../src/log.ts';
import { sql } from '../src/store/sql.ts';
import { openTestApp, type TestApp } from './support/app.ts';
import { newEmail, newPerson } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { login, me, minutes, newPassword, post, register, statusCounts, tokensOf } from './support/steps.ts';
import { until, waitingForLocks } from './support/until.ts';

const seconds = new Map<TestApp, Promise<TestApp>>();

/** Whichever of the two sends a mail, it lies in the first one's mailbox. It is stopped with the first, and before it. */
async function startBeside(one: TestApp, env: Record<string, string>): Promise<TestApp> {
  const two = await openTestApp({ beside: one, env });
  const [target, link] = [one, two].map(({ app }) => app.store.folder.outboxDir);
  assert.ok(target && link);
  rmdirSync(link);
  symlinkSync(target, link);
  return two;
}

/**
 * Two instances on one database, the same for all who ask for these settings; at the start of a minute, and after two
 * in which nobody called, so that nothing is left of what was counted before.
 */
function withTwo(env: Record<string, string>, work: (one: TestApp, two: TestApp) => Promise<void>) {
  return async () => {
    const one = await sharedTestApp(env);
    const starting = seconds.get(one) ?? startBeside(one, env);
    seconds.set(one, starting);
    const two = await starting;
    const { clock } = one;
    clock.advance(2 * minutes + (minutes - (clock.now().getTime() % minutes)));
    await work(one, two);
  };
}

const guess = (service: TestApp, email: string) =>
  post(service, '/auth/login', { email, password: newPassword() });

test(
  'ten sign-ins a minute are ten over two instances, in turn',
  withTwo({ SLIPWAY_LIMIT_SIGN_IN: '10' }, async (one, two) => {
    const email = newEmail();
    const statuses: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      statuses.push((await guess(index % 2 ? two : one, email)).status);
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), ...Array(10).fill(429)]);
  }),
);

test(
  'ten sign-ins a minute are ten over two instances, when they come at once',
  withTwo({ SLIPWAY_LIMIT_SIGN_IN: '10' }, async (one, two) => {
    const email = newEmail();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => guess(index % 2 ? two : one, email)),
    );
    assert.deepEqual(statusCounts(answers), { 401: 10, 429: 30 });
  }),
);

test('twenty calls at the same instant on each of two instances: ten pass in all, no more and no fewer', async () => {
  const { app, clock } = await sharedTestApp();
  const policy = { name: 'guess', limit: 10, strict: true };
  const both = [0, 1].map(() => new Throttle(app.store.db, clock, createLog('silent')));
  for (let round = 0; round < 10; round += 1) {
    const hits = both.flatMap((each) =>
      Array.from({ length: 20 }, () => each.hit(policy, `someone ${round}`)),
    );
    const allowed = (await Promise.all(hits)).filter((each) => each.allowed).length;
    assert.ok(allowed <= 10, `${allowed} passed`);
    assert.equal(allowed, 10, 'there was room for more');
  }
});

test(
  'an instance that starts anew remembers how many sign-ins there were',
  withTwo({ SLIPWAY_LIMIT_SIGN_IN: '10' }, async (one, two) => {
    const email = newEmail();
    for (let count = 0; count < 10; count += 1) await guess(one, email);
    assertProblem(await guess(two, email), 429, 'rate_limited');
  }),
);

test(
  'the limit of all requests is one over two instances, within a few seconds',
  withTwo({ SLIPWAY_LIMIT_REQUESTS: '400' }, async (one, two) => {
    const limit = 400;
    const asked = new Map([
      [one, 0],
      [two, 0],
    ]);
    const ask = async (service: TestApp) => {
      asked.set(service, (asked.get(service) ?? 0) + 1);
      return (await service.call('GET', '//api/docs')).status;
    };
    for (const service of [one, two]) {
      await Promise.all(Array.from({ length: 250 }, () => ask(service)));
    }
    // Neither has seen its own limit: what refuses must be what the other told.
    for (const service of [one, two]) {
      await until(async () => {
        await sleep(50);
        return (await ask(service)) === 429;
      });
      assert.ok((asked.get(service) ?? 0) < limit, `${asked.get(service)} requests to one instance`);
    }
  }),
);

test(
  'a session opened on one instance is good on the other, and its end counts there at once',
  withTwo({}, async (one, two) => {
    const ada = await newPerson(one);
    const other = tokensOf(await login(two, ada));
    assert.deepEqual([await me(two, ada.token), await me(one, other.token)], [200, 200]);
    assert.equal((await two.call('POST', '/auth/logout', { token: ada.token })).status, 204);
    assert.equal(await me(one, ada.token), 401);
    assert.equal(await me(one, other.token), 200);
  }),
);

test(
  'a reset on one instance ends the sessions on the other at once',
  withTwo({}, async (one, two) => {
    const ada = await newPerson(one);
    assert.equal(await me(two, ada.token), 200);
    await post(one, '/auth/forgot-password', { email: ada.email });
    const token = await one.mailbox.resetToken(ada.email);
    assert.equal((await post(one, '/auth/reset-password', { token, password: newPassword() })).status, 204);
    assert.equal(await me(two, ada.token), 401);
    assertProblem(await login(two, ada), 401, 'invalid_credentials');
  }),
);

test(
  'a refresh token spent on both instances at once gives one pair and ends the session',
  withTwo({}, async (one, two) => {
    const { refreshToken } = await newPerson(one);
    const answers = await Promise.all(
      [one, two].map((each) => post(each, '/auth/refresh', { refreshToken })),
    );
    assert.deepEqual(statusCounts(answers), { 200: 1, 401: 1 });
    for (const answer of answers) {
      if (answer.status === 200) assert.equal(await me(two, tokensOf(answer).token), 401);
    }
  }),
);

test(
  'guesses at a code on two instances share its five tries',
  withTwo({}, async (one, two) => {
    const email = newEmail();
    await register(one, email);
    const code = await one.mailbox.code(email);
    const wrong = code === '000000' ? '000001' : '000000';
    const tries = Array.from({ length: 10 }, (_, index) =>
      post(index % 2 ? two : one, '/auth/verify-otp', { email, code: wrong }),
    );
    assert.deepEqual(statusCounts(await Promise.all(tries)), { 401: 10 });
    assertProblem(await post(two, '/auth/verify-otp', { email, code }), 401, 'invalid_otp');
  }),
);

test(
  'each mail that is owed is sent once, though two instances reach for it at the same moment',
  withTwo({}, async (one, two) => {
    const emails = Array.from({ length: 12 }, newEmail);
    const { db } = one.app.store;
    // Both look for mails now and then; held until both stand before the table, they start at the same moment.
    await db.transaction(async (tx) => {
      await tx.run(sql`lock table mail_outbox in exclusive mode`);
      for (const email of emails) await enqueueMail(tx, 'password_changed', email, two.clock.now());
      await until(async () => {
        await tx.one(sql`select 1`); // a transaction in which nothing happens would be ended
        return (await waitingForLocks(db)) === 2;
      });
    });
    await until(async () => !(await db.one(sql`select 1 from mail_outbox limit 1`)));
    for (const email of emails) assert.equal(await one.mailbox.unreadCount(email), 1, `mails to ${email}`);
  }),
);
