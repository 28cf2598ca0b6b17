import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { sql } from '../../src/store/sql.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import {
  login,
  me,
  newPassword,
  post,
  register,
  resetTokenFor,
  statusCounts,
  tokensOf,
} from '../support/steps.ts';
import { until, waitingForLocks } from '../support/until.ts';

const times = <T>(count: number, each: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => each(index)));

/** Codes that are all wrong. */
function wrongCodes(right: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    String((Number(right) + 1 + index) % 1_000_000).padStart(6, '0'),
  );
}

async function registered(service: TestApp): Promise<{ email: string; password: string; code: string }> {
  const [email, password] = [newEmail(), newPassword()];
  await register(service, email, password);
  return { email, password, code: await service.mailbox.code(email) };
}

test('of a hundred guesses at once, at most five are looked at', async () => {
  const service = await sharedTestApp();
  const { email, code } = await registered(service);
  const guesses = wrongCodes(code, 100);
  const answers = await times(100, (index) =>
    post(service, '/auth/verify-otp', { email, code: guesses[index] }),
  );
  assert.deepEqual(statusCounts(answers), { 401: 100 });
  const row = await service.app.store.db.one<{ tries: number }>(
    sql`select otp_tries as tries from registrations where email = ${email}`,
  );
  assert.equal(row?.tries, 5);
  assertProblem(await post(service, '/auth/verify-otp', { email, code }), 401, 'invalid_otp');
});

test('the right code fails after five wrong ones, whether they came in turn or at once', async () => {
  const service = await sharedTestApp();
  const inTurn = await registered(service);
  for (const code of wrongCodes(inTurn.code, 5)) {
    await post(service, '/auth/verify-otp', { email: inTurn.email, code });
  }
  const last = await post(service, '/auth/verify-otp', { email: inTurn.email, code: inTurn.code });
  assertProblem(last, 401, 'invalid_otp');

  const atOnce = await registered(service);
  const guesses = wrongCodes(atOnce.code, 99);
  await times(5, (index) => post(service, '/auth/verify-otp', { email: atOnce.email, code: guesses[index] }));
  const rest = [...guesses.slice(5), atOnce.code];
  const answers = await times(rest.length, (index) =>
    post(service, '/auth/verify-otp', { email: atOnce.email, code: rest[index] }),
  );
  assert.deepEqual(statusCounts(answers), { 401: rest.length });
});

test('the right code sent twenty times at once makes one account and one session', async (t) => {
  const service = await startTestApp(t);
  const { email, code } = await registered(service);
  const answers = await times(20, () => post(service, '/auth/verify-otp', { email, code }));
  assert.deepEqual(statusCounts(answers), { 200: 1, 401: 19 });
  const row = await service.app.store.db.one<{ accounts: number; sessions: number; workspaces: number }>(sql`
    select (select count(*)::int from accounts) as accounts, (select count(*)::int from sessions) as sessions,
      (select count(*)::int from workspaces) as workspaces`);
  assert.deepEqual({ ...row }, { accounts: 1, sessions: 1, workspaces: 1 });
});

test('a code that was used is worth nothing, even after the address is registered again', async () => {
  const service = await sharedTestApp();
  const { email, code } = await registered(service);
  assert.equal((await post(service, '/auth/verify-otp', { email, code })).status, 200);
  assertProblem(await post(service, '/auth/verify-otp', { email, code }), 401, 'invalid_otp');
  await register(service, email);
  assert.match((await service.mailbox.next(email)).subject, /already have/);
  assertProblem(await post(service, '/auth/verify-otp', { email, code }), 401, 'invalid_otp');
});

test('codes lie in the database only as hashes that the database alone cannot open', async () => {
  const service = await sharedTestApp();
  const { email, code } = await registered(service);
  const row = await service.app.store.db.one<{ text: string }>(
    sql`select row_to_json(r)::text as text from registrations r where email = ${email}`,
  );
  assert.ok(row);
  assert.doesNotMatch(row.text, new RegExp(`"${code}"|\\b${code}\\b`));
  const digest = createHash('sha256').update(code).digest('hex');
  assert.equal(row.text.includes(digest), false);
});

test('a reset link sets a password once, in turn and when used twenty times at once', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const token = await resetTokenFor(service, ada.email);
  const passwords = Array.from({ length: 20 }, newPassword);
  const answers = await times(20, (index) =>
    post(service, '/auth/reset-password', { token, password: passwords[index] }),
  );
  assert.deepEqual(statusCounts(answers), { 204: 1, 401: 19 });
  const winner = passwords[answers.findIndex(({ status }) => status === 204)] ?? '';
  tokensOf(await login(service, { email: ada.email, password: winner }));
  const replayed = await post(service, '/auth/reset-password', { token, password: newPassword() });
  assertProblem(replayed, 401, 'invalid_reset_token');
});

test('of several reset links of one account used at once, one sets the password and none breaks', async () => {
  const service = await sharedTestApp();
  const { db } = service.app.store;
  const ada = await newPerson(service);
  const links: string[] = [];
  for (let count = 0; count < 4; count += 1) links.push(await resetTokenFor(service, ada.email));
  // Held at the door until all of them stand before it, so that they go on at the same moment.
  const answers = await db.transaction(async (tx) => {
    await tx.rows(sql`select 1 from password_resets for update`);
    const all = links.map((token) =>
      post(service, '/auth/reset-password', { token, password: newPassword() }),
    );
    await until(async () => (await waitingForLocks(db)) === links.length);
    return all;
  });
  assert.deepEqual(statusCounts(await Promise.all(answers)), { 204: 1, 401: 3 });
});

test('a sign-in with the old password that is under way during a reset does not outlive it', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const token = await resetTokenFor(service, ada.email);
  // The reset goes first, so its hashing is done while most sign-ins still wait for theirs.
  const reset = post(service, '/auth/reset-password', { token, password: newPassword() });
  const signIns = await times(30, () => login(service, ada));
  assert.equal((await reset).status, 204);
  for (const answer of signIns) {
    if (answer.status === 401) continue;
    assert.equal(await me(service, tokensOf(answer).token), 401, 'the thief is still signed in');
  }
});

test('a refresh token used twenty times at once gives one pair, and the session ends', async () => {
  const service = await sharedTestApp();
  const { refreshToken } = await newPerson(service);
  const answers = await times(20, () => post(service, '/auth/refresh', { refreshToken }));
  assert.deepEqual(statusCounts(answers), { 200: 1, 401: 19 });
  for (const answer of answers) {
    if (answer.status === 200) assert.equal(await me(service, tokensOf(answer).token), 401);
  }
});

test('a session is not brought back by a refresh that races with its end', async () => {
  const service = await sharedTestApp();
  for (let round = 0; round < 10; round += 1) {
    const ada = await newPerson(service);
    const [refreshed, ended] = await Promise.all([
      post(service, '/auth/refresh', { refreshToken: ada.refreshToken }),
      service.call('POST', '/auth/logout', { token: ada.token }),
    ]);
    assert.equal(ended.status, 204, ended.text);
    assert.equal(await me(service, ada.token), 401);
    if (refreshed.status === 200) assert.equal(await me(service, tokensOf(refreshed).token), 401);
  }
});
