import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp } from './support/app.ts';
import { newEmail, newPerson } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { login, me, minutes, newPassword, post, register, resetTokenFor, tokensOf } from './support/steps.ts';

test('a reset sets the password, ends every session, and tells the owner by mail', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const other = tokensOf(await login(service, ada));
  const grace = await newPerson(service);
  const password = newPassword();
  const token = await resetTokenFor(service, ada.email);
  const answer = await post(service, '/auth/reset-password', { token, password });
  assert.equal(answer.status, 204, answer.text);
  for (const each of [ada, other]) {
    assert.equal(await me(service, each.token), 401);
    const refreshed = await post(service, '/auth/refresh', { refreshToken: each.refreshToken });
    assertProblem(refreshed, 401, 'invalid_refresh_token');
  }
  assert.equal(await me(service, grace.token), 200, 'nobody else is signed out');
  assert.match((await service.mailbox.next(ada.email)).subject, /was changed/);
  assertProblem(await login(service, ada), 401, 'invalid_credentials');
  tokensOf(await login(service, { email: ada.email, password }));
});

test('a reset link works for 30 minutes and not a moment longer', async () => {
  const service = await sharedTestApp();
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const inTime = await resetTokenFor(service, ada.email);
  const late = await resetTokenFor(service, grace.email);
  service.clock.advance(30 * minutes - 1);
  const password = newPassword();
  assert.equal((await post(service, '/auth/reset-password', { token: inTime, password })).status, 204);
  service.clock.advance(1);
  const answer = await post(service, '/auth/reset-password', { token: late, password });
  assertProblem(answer, 401, 'invalid_reset_token');
  tokensOf(await login(service, grace));
});

test('using one reset link takes the others of the account away', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const first = await resetTokenFor(service, ada.email);
  const second = await resetTokenFor(service, ada.email);
  const password = newPassword();
  assert.equal((await post(service, '/auth/reset-password', { token: second, password })).status, 204);
  const answer = await post(service, '/auth/reset-password', { token: first, password: newPassword() });
  assertProblem(answer, 401, 'invalid_reset_token');
});

test('other kinds of token reset nothing', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  for (const token of [ada.refreshToken, ada.token.slice(0, 256), 'reset_', 'reset_made-up']) {
    const answer = await post(service, '/auth/reset-password', { token, password: newPassword() });
    assertProblem(answer, 401, 'invalid_reset_token');
  }
  tokensOf(await login(service, ada));
});

test('forgetting sends nothing to an address without an account, confirmed or never seen', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const [unconfirmed, unknown] = [newEmail(), newEmail()];
  await register(service, unconfirmed);
  await service.mailbox.code(unconfirmed);
  for (const email of [unconfirmed, unknown, ada.email]) {
    const answer = await post(service, '/auth/forgot-password', { email });
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.text, '');
  }
  // Mails go out in turn: when the last has come, the others would have.
  await service.mailbox.resetToken(ada.email);
  for (const email of [unconfirmed, unknown, ada.email])
    assert.equal(await service.mailbox.unreadCount(email), 0, email);
});

test('the link in the mail opens a page that is ours, that keeps the token out of every request', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_PUBLIC_URL: 'https://deploy.example.com' } });
  const ada = await newPerson(service);
  await post(service, '/auth/forgot-password', { email: ada.email });
  const mail = await service.mailbox.next(ada.email);
  const link = new URL(/https?:\S+/.exec(mail.text)?.[0] ?? '');
  assert.equal(link.origin, 'https://deploy.example.com');
  assert.equal(link.search, '');
  assert.match(link.hash, /^#token=reset_/);
  const page = await service.call('GET', `/${link.pathname}`, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  for (const [, asset = ''] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    assert.match(asset, /^\/[^/]/);
    assert.equal((await service.call('GET', `/${asset}`)).status, 200, asset);
  }
});
