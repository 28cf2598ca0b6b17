import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/store/sql.ts';
import { text } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import {
  challengeFor,
  complete,
  factorsOf,
  newGuarded,
  nextStep,
  totp,
  totpCode,
  turnTotpOn,
} from './support/second-factors.ts';
import { sharedTestApp } from './support/shared-app.ts';
import {
  login,
  me,
  minutes,
  newPassword,
  post,
  resetTokenFor,
  seconds,
  statusCounts,
  tokensOf,
} from './support/steps.ts';

test('a sign-in with a second factor takes two steps, and the log says which', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const first = await login(service, ada);
  assert.equal(first.status, 202, first.text);
  const { methods, challenge, expiresAt } = Object(first.body.secondFactor);
  assert.deepEqual(methods, ['totp', 'recovery_code']);
  assert.equal(new Date(expiresAt).getTime(), service.clock.now().getTime() + 5 * minutes);
  assert.equal(first.headers.getSetCookie().length, 0);
  const answer = await complete(service, challenge, totp(service, ada));
  const { token, refreshToken } = tokensOf(answer);
  assert.equal(await me(service, token), 200);
  const refreshed = await post(service, '/auth/refresh', { refreshToken });
  assert.equal(refreshed.status, 200, refreshed.text);
  const entry = await service.app.store.db.one<{ changes: object }>(sql`
    select changes from audit_entries where account_id = ${ada.accountId} and action = 'signIn' order by id desc limit 1`);
  assert.deepEqual(entry?.changes, { secondFactor: 'totp' });
  assertProblem(await login(service, { ...ada, password: 'wrong password' }), 401, 'invalid_credentials');
});

test('one step of clock skew either way is taken, two are not, and an earlier code not after a later one', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const signIn = async (steps: number) =>
    (await complete(service, await challengeFor(service, ada), totp(service, ada, steps))).status;
  nextStep(service);
  assert.deepEqual([await signIn(-2), await signIn(2)], [401, 401]);
  assert.equal(await signIn(-1), 200);
  assert.equal(await signIn(1), 200);
  assert.equal(await signIn(0), 401, 'a later one was taken');
  nextStep(service);
  assert.equal(await signIn(0), 401, 'the same one again');
  nextStep(service);
  assert.equal(await signIn(0), 200);
});

test('a code is taken once: not again within its window, and of twenty at once by one', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const proof = totp(service, ada);
  const challenges: string[] = [];
  for (let count = 0; count < 10; count += 1) challenges.push(await challengeFor(service, ada));
  const answers = await Promise.all(challenges.map((each) => complete(service, each, proof)));
  assert.deepEqual(statusCounts(answers), { 200: 1, 401: 9 });
  assertProblem(
    await complete(service, await challengeFor(service, ada), proof),
    401,
    'invalid_second_factor',
  );
});

test('a recovery code works once, in place of the app, and its use is told by mail', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  await service.mailbox.next(ada.email);
  const code = text(ada.recoveryCodes[0]).toUpperCase().replaceAll('-', ' ');
  const proof = { method: 'recovery_code', code };
  const challenges: string[] = [];
  for (let count = 0; count < 10; count += 1) challenges.push(await challengeFor(service, ada));
  const answers = await Promise.all(challenges.map((each) => complete(service, each, proof)));
  assert.deepEqual(statusCounts(answers), { 200: 1, 401: 9 });
  const mail = await service.mailbox.next(ada.email);
  assert.match(mail.subject, /recovery code .* was used/);
  assert.match(mail.text, /You have 9 left/);
  const { token } = tokensOf(answers.find(({ status }) => status === 200) ?? Object());
  assert.equal(Object((await factorsOf(service, token)).recoveryCodes).left, 9);
  const stored = await service.app.store.db.rows<{ hash: Buffer }>(sql`
    select code_hash as hash from recovery_codes where account_id = ${ada.accountId}`);
  assert.ok(stored.every(({ hash }) => hash.length === 32));
  // New ones end the old ones.
  const renewed = await service.call('POST', '/auth/recovery-codes', { token });
  assert.equal(renewed.status, 201, renewed.text);
  const old = { method: 'recovery_code', code: ada.recoveryCodes[1] };
  const challenge = await challengeFor(service, ada);
  assertProblem(await complete(service, challenge, old), 401, 'invalid_second_factor');
  const fresh = { method: 'recovery_code', code: Object(renewed.body.recoveryCodes)[0] };
  assert.equal((await complete(service, challenge, fresh)).status, 200);
});

test('a challenge is for one sign-in, five tries, five minutes, and for whoever began it', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const wrong = { method: 'totp', code: totpCode(service, ada.secret, 7) };
  const used = await challengeFor(service, ada);
  // Two at once with two right proofs: one session.
  const proofs = [totp(service, ada), { method: 'recovery_code', code: ada.recoveryCodes[0] }];
  const both = await Promise.all(proofs.map((proof) => complete(service, used, proof)));
  assert.deepEqual(statusCounts(both), { 200: 1, 401: 1 });
  const code = { method: 'recovery_code', code: ada.recoveryCodes[5] };
  assertProblem(await complete(service, used, code), 401, 'invalid_challenge');

  const tried = await challengeFor(service, ada);
  for (let count = 0; count < 5; count += 1)
    assertProblem(await complete(service, tried, wrong), 401, 'invalid_second_factor');
  assertProblem(await complete(service, tried, code), 401, 'invalid_challenge');

  const elsewhere = await challengeFor(service, ada);
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/130.0' };
  assertProblem(await complete(service, elsewhere, code, headers), 401, 'invalid_challenge');
  service.clock.advance(5 * minutes - 1);
  const late = await challengeFor(service, ada);
  assert.equal((await complete(service, elsewhere, code)).status, 200);
  service.clock.advance(5 * minutes);
  assertProblem(await complete(service, late, totp(service, ada)), 401, 'invalid_challenge');
  for (const challenge of ['challenge_made-up', 'refresh_x', 'x'])
    assertProblem(await complete(service, challenge, totp(service, ada)), 401, 'invalid_challenge');
});

test('a challenge is of its own account: the factor of somebody else does not complete it', async () => {
  const service = await sharedTestApp();
  const [ada, eve] = [await newGuarded(service), await newGuarded(service)];
  const challenge = await challengeFor(service, ada);
  for (const proof of [totp(service, eve), { method: 'recovery_code', code: eve.recoveryCodes[0] }])
    assertProblem(await complete(service, challenge, proof), 401, 'invalid_second_factor');
});

test('bad input of the second step names its field', async () => {
  const service = await sharedTestApp();
  const ask = (body: object) => post(service, '/auth/login/second-factor', body);
  assertInvalid(await ask({ challenge: 'x', method: 'sms', code: '123456' }), 'method');
  assertInvalid(await ask({ challenge: 'x', method: 'totp', code: '12345' }), 'code');
  assertInvalid(await ask({ challenge: 'x', method: 'totp' }), 'code');
  assertInvalid(await ask({ method: 'totp', code: '123456' }), 'challenge');
  assertInvalid(await ask({ challenge: 'x', method: 'passkey' }), 'credential');
});

test('a change of factors ends the challenges that are open, and so does a new password, which is no way around', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const before = await challengeFor(service, ada);
  assert.equal((await service.call('DELETE', '/auth/totp', { token: ada.token })).status, 204);
  assertProblem(await complete(service, before, totp(service, ada)), 401, 'invalid_challenge');
  const again = await turnTotpOn(service, ada);
  for (let mails = 0; mails < 3; mails += 1) await service.mailbox.next(ada.email);
  const open = await challengeFor(service, ada);
  const password = newPassword();
  const token = await resetTokenFor(service, ada.email);
  const reset = await post(service, '/auth/reset-password', { token, password });
  assert.equal(reset.status, 204, reset.text);
  assertProblem(await complete(service, open, totp(service, again)), 401, 'invalid_challenge');
  const challenge = await challengeFor(service, { ...ada, password });
  assert.equal((await complete(service, challenge, totp(service, again))).status, 200);
});

test('a factor that is removed while it is proven leaves a session or a refusal, and never an error', async () => {
  const service = await sharedTestApp();
  for (let round = 0; round < 5; round += 1) {
    const ada = await newGuarded(service);
    const challenge = await challengeFor(service, ada);
    const [signedIn, removed] = await Promise.all([
      complete(service, challenge, totp(service, ada)),
      service.call('DELETE', '/auth/totp', { token: ada.token }),
    ]);
    assert.equal(removed.status, 204, removed.text);
    if (signedIn.status !== 200) assertProblem(signedIn, 401, String(signedIn.body.code));
    assertProblem(await complete(service, challenge, totp(service, ada)), 401, 'invalid_challenge');
  }
});

test('twenty wrong ones within an hour stop all tries of the account, tell its owner, and end with a new password', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  await service.mailbox.next(ada.email);
  const wrong = { method: 'totp', code: totpCode(service, ada.secret, 7) };
  for (let count = 0; count < 4; count += 1) {
    const challenge = await challengeFor(service, ada);
    // At once: they cannot share a count.
    const answers = await Promise.all(Array.from({ length: 5 }, () => complete(service, challenge, wrong)));
    assert.deepEqual(statusCounts(answers), { 401: 5 });
  }
  assert.match((await service.mailbox.next(ada.email)).subject, /tries to get past/);
  const refused = await complete(service, await challengeFor(service, ada), totp(service, ada));
  assertProblem(refused, 429, 'rate_limited');
  assert.equal(refused.headers.get('retry-after'), '3600');
  const confirmed = await service.call('POST', '/auth/confirm', {
    token: ada.token,
    body: totp(service, ada),
  });
  assertProblem(confirmed, 429, 'rate_limited');
  const password = newPassword();
  const token = await resetTokenFor(service, ada.email);
  assert.equal((await post(service, '/auth/reset-password', { token, password })).status, 204);
  const challenge = await challengeFor(service, { ...ada, password });
  assert.equal((await complete(service, challenge, totp(service, ada))).status, 200);
});

test('wrong ones are forgotten after an hour', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const wrong = { method: 'totp', code: totpCode(service, ada.secret, 7) };
  for (let count = 0; count < 20; count += 5) {
    const challenge = await challengeFor(service, ada);
    await Promise.all(Array.from({ length: 5 }, () => complete(service, challenge, wrong)));
  }
  service.clock.advance(60 * minutes - seconds);
  assert.equal((await complete(service, await challengeFor(service, ada), totp(service, ada))).status, 429);
  service.clock.advance(seconds);
  assert.equal((await complete(service, await challengeFor(service, ada), totp(service, ada))).status, 200);
});
