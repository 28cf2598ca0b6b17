import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from '../src/store/sql.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { newEmail, newPerson, text } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import {
  login,
  me,
  minutes,
  newPassword,
  post,
  register,
  seconds,
  statusCounts,
  tokensOf,
} from './support/steps.ts';

const wrongCode = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

test('registering answers with the address, that a code is needed, and until when it works', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  const answer = await register(service, email.toUpperCase());
  const otpExpiresAt = new Date(service.clock.now().getTime() + 10 * minutes).toISOString();
  assert.deepEqual(answer.body, { email, otpRequired: true, otpExpiresAt });
});

test('confirming makes an account with a workspace of its own, and signs it in', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  await post(service, '/auth/register', { email, password: newPassword(), name: 'Ada' });
  const code = await service.mailbox.code(email);
  const answer = await post(service, '/auth/verify-otp', { email: email.toUpperCase(), code });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.body).sort(), ['accessToken', 'expiresIn', 'tokenType', 'user']);
  const user = Object(answer.body.user);
  assert.deepEqual(Object.keys(user).sort(), [
    'createdAt',
    'email',
    'emailVerifiedAt',
    'id',
    'name',
    'workspaces',
  ]);
  assert.equal(user.name, 'Ada');
  assert.equal(user.email, email);
  assert.equal(user.workspaces.length, 1);
  assert.equal(user.workspaces[0].role, 'owner');
  assert.match(user.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('a wrong code is refused, and the right one still works after it', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  await register(service, email);
  const code = await service.mailbox.code(email);
  assertProblem(
    await post(service, '/auth/verify-otp', { email, code: wrongCode(code) }),
    401,
    'invalid_otp',
  );
  assert.equal((await post(service, '/auth/verify-otp', { email, code })).status, 200);
});

test('a code of someone else does not confirm an address', async () => {
  const service = await sharedTestApp();
  const [mine, theirs] = [newEmail(), newEmail()];
  await register(service, mine);
  await register(service, theirs);
  const code = await service.mailbox.code(mine);
  assert.notEqual(await service.mailbox.code(theirs), code, 'one chance in a million');
  assertProblem(await post(service, '/auth/verify-otp', { email: theirs, code }), 401, 'invalid_otp');
});

test('a code works for ten minutes and not a moment longer', async () => {
  const service = await sharedTestApp();
  const [early, late] = [newEmail(), newEmail()];
  await register(service, early);
  await register(service, late);
  const codes = [await service.mailbox.code(early), await service.mailbox.code(late)];
  service.clock.advance(10 * minutes - 1);
  assert.equal((await post(service, '/auth/verify-otp', { email: early, code: codes[0] })).status, 200);
  service.clock.advance(1);
  assertProblem(await post(service, '/auth/verify-otp', { email: late, code: codes[1] }), 401, 'invalid_otp');
});

test('a fresh code replaces the one before, has its own ten minutes and its own five tries', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  await register(service, email);
  const first = await service.mailbox.code(email);
  for (let count = 0; count < 5; count += 1) {
    await post(service, '/auth/verify-otp', { email, code: wrongCode(first) });
  }
  assertProblem(await post(service, '/auth/verify-otp', { email, code: first }), 401, 'invalid_otp');
  service.clock.advance(9 * minutes);
  assert.equal((await post(service, '/auth/resend-otp', { email })).status, 202);
  const second = await service.mailbox.code(email);
  service.clock.advance(9 * minutes);
  if (first !== second) {
    assertProblem(await post(service, '/auth/verify-otp', { email, code: first }), 401, 'invalid_otp');
  }
  assert.equal((await post(service, '/auth/verify-otp', { email, code: second })).status, 200);
});

test('asking for a fresh code sends nothing to an address with an account or one that nobody registered', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const nobody = newEmail();
  const waiting = newEmail();
  await register(service, waiting);
  await service.mailbox.code(waiting);
  for (const email of [ada.email, nobody, waiting]) {
    assert.equal((await post(service, '/auth/resend-otp', { email })).status, 202);
  }
  // Mails go out in turn: when the last has come, the others would have.
  await service.mailbox.code(waiting);
  for (const email of [ada.email, nobody, waiting])
    assert.equal(await service.mailbox.unreadCount(email), 0, email);
});

test('registering an address that has an account changes nothing, and its owner is told by mail without a code', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const fresh = await register(service, newEmail());
  const stranger = newPassword();
  const again = await register(service, ada.email, stranger);
  assert.deepEqual(Object.keys(again.body), Object.keys(fresh.body));
  const mail = await service.mailbox.next(ada.email);
  assert.match(mail.subject, /already have/i);
  assert.doesNotMatch(`${mail.subject} ${mail.text}`, /\b\d{6}\b/);
  assert.equal((await login(service, ada)).status, 200);
  assert.notEqual((await login(service, { email: ada.email, password: stranger })).status, 200);
  assert.equal(await me(service, ada.token), 200);
});

test('an address for which two passwords were asked takes neither: its owner chooses one by mail', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  const [attackers, owners, chosen] = [newPassword(), newPassword(), newPassword()];
  await register(service, email, attackers);
  await service.mailbox.code(email);
  await register(service, email, owners);
  const code = await service.mailbox.code(email);
  const verified = await post(service, '/auth/verify-otp', { email, code });
  assert.equal(verified.status, 200, verified.text);
  for (const password of [attackers, owners]) {
    assertProblem(await login(service, { email, password }), 401, 'invalid_credentials');
  }
  const token = await service.mailbox.resetToken(email);
  assert.equal((await post(service, '/auth/reset-password', { token, password: chosen })).status, 204);
  tokensOf(await login(service, { email, password: chosen }));
});

test('registering twice with the same password is no contest: the password works', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  const password = newPassword();
  await register(service, email, password);
  await service.mailbox.code(email);
  service.clock.advance(30 * seconds);
  await register(service, email, password);
  const code = await service.mailbox.code(email);
  assert.equal((await post(service, '/auth/verify-otp', { email, code })).status, 200);
  tokensOf(await login(service, { email, password }));
});

test('passwords that are common, in any case or width of letters, are refused at register and reset', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  await post(service, '/auth/forgot-password', { email: ada.email });
  const token = await service.mailbox.resetToken(ada.email);
  for (const password of [
    'password123',
    'Password123',
    'QWERTYUIOP',
    '1234567890',
    'ｐａｓｓｗｏｒｄ１２３',
  ]) {
    assertInvalid(await post(service, '/auth/register', { email: newEmail(), password }), 'password');
    assertInvalid(await post(service, '/auth/reset-password', { token, password }), 'password');
  }
  assert.equal((await login(service, ada)).status, 200);
});

test('a closed instance takes no account, and goes on serving those it has', async (t) => {
  const open = await sharedTestApp();
  const ada = await newPerson(open);
  const closed = await startTestApp(t, { beside: open, env: { SLIPWAY_REGISTRATION: 'closed' } });
  const body = { email: newEmail(), password: newPassword() };
  assertProblem(await post(closed, '/auth/register', body), 403, 'registration_closed');
  assert.equal(text((await login(closed, ada)).body.tokenType), 'Bearer');
  await closed.app.stop(); // before the database goes, which is the other one's
});

/** An instance with no account yet, that takes its first. */
async function newInstance(t: TestContext): Promise<TestApp> {
  return startTestApp(t, { env: { SLIPWAY_REGISTRATION: 'first' } });
}

test('where only the first may register, the first account is taken and everyone else is told who can help', async (t) => {
  const service = await newInstance(t);
  const ada = await newPerson(service);
  for (const email of [newEmail(), ada.email]) {
    const refused = await post(service, '/auth/register', { email, password: newPassword() });
    assertProblem(refused, 403, 'registration_closed');
    assert.match(text(refused.body.hint), /whoever runs it/);
  }
  tokensOf(await login(service, ada));
});

test('whoever registers first and confirms nothing keeps the owner out of nothing', async (t) => {
  const service = await newInstance(t);
  for (let count = 0; count < 3; count += 1) await register(service, newEmail());
  await newPerson(service);
});

test('of several who would be the first at once, one is', async (t) => {
  const service = await newInstance(t);
  const people = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const email = newEmail();
      await register(service, email);
      return { email, code: await service.mailbox.code(email) };
    }),
  );
  const answers = await Promise.all(people.map((body) => post(service, '/auth/verify-otp', body)));
  assert.deepEqual(statusCounts(answers), { 200: 1, 403: 7 });
  const refused = answers.find(({ status }) => status === 403);
  assert.ok(refused);
  assertProblem(refused, 403, 'registration_closed');
  const row = await service.app.store.db.one<{ count: number }>(
    sql`select count(*)::int as count from accounts`,
  );
  assert.equal(row?.count, 1);
});

test('a code that was sent before registration was closed makes no account any more', async (t) => {
  const open = await sharedTestApp();
  const email = newEmail();
  await register(open, email);
  const code = await open.mailbox.code(email);
  const closed = await startTestApp(t, { beside: open, env: { SLIPWAY_REGISTRATION: 'closed' } });
  assertProblem(await post(closed, '/auth/verify-otp', { email, code }), 403, 'registration_closed');
  await closed.app.stop(); // before the database goes, which is the other one's
});
