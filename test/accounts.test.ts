import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newEmail, newPerson, text } from './support/people.ts';
import { sharedTestApp } from './support/shared-app.ts';

test('a person registers, confirms, signs in, forgets, resets, and the old token is refused', async () => {
  const service = await sharedTestApp();
  const email = newEmail();
  const password = 'correct horse battery';
  const registered = await service.call('POST', '/auth/register', { body: { email, password, name: 'Ada' } });
  assert.equal(registered.status, 201, registered.text);
  assert.deepEqual(Object.keys(registered.body), ['email', 'otpRequired', 'otpExpiresAt']);

  const early = await service.call('POST', '/auth/login', { body: { email, password } });
  assert.equal(early.status, 403);
  assert.equal(early.body.code, 'email_not_verified');
  await service.mailbox.next(email);
  const code = await service.mailbox.code(email);

  const verified = await service.call('POST', '/auth/verify-otp', { body: { email, code } });
  assert.equal(verified.status, 200, verified.text);
  const signedIn = await service.call('POST', '/auth/login', { body: { email, password } });
  assert.equal(signedIn.status, 200, signedIn.text);
  assert.equal(signedIn.body.tokenType, 'Bearer');
  assert.equal(signedIn.body.expiresIn, 900);
  const token = text(signedIn.body.accessToken);

  const me = await service.call('GET', '/auth/me', { token });
  assert.equal(me.status, 200, me.text);
  assert.equal(me.body.email, email);
  assert.deepEqual(me.body, signedIn.body.user);

  assert.equal((await service.call('POST', '/auth/forgot-password', { body: { email } })).status, 202);
  const resetToken = await service.mailbox.resetToken(email);
  const reset = { token: resetToken, password: 'another horse entirely' };
  assert.equal((await service.call('POST', '/auth/reset-password', { body: reset })).status, 204);
  assert.equal((await service.call('GET', '/auth/me', { token })).status, 401);
  assert.equal((await service.call('POST', '/auth/login', { body: { email, password } })).status, 401);
  const again = await service.call('POST', '/auth/login', { body: { email, password: reset.password } });
  assert.equal(again.status, 200);
});

test('sessions are listed in pages and ended one by one', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const grace = await newPerson(service);
  for (let count = 0; count < 3; count += 1) {
    await service.call('POST', '/auth/login', { body: { email: ada.email, password: ada.password } });
  }
  const first = await service.call('GET', '/auth/sessions?limit=3', { token: ada.token });
  assert.equal(first.status, 200, first.text);
  assert.equal(Object(first.body.items).length, 3);
  const rest = await service.call('GET', `/auth/sessions?cursor=${text(first.body.nextCursor)}`, {
    token: ada.token,
  });
  assert.equal(Object(rest.body.items).length, 1);
  assert.equal(rest.body.nextCursor, null);
  const own = Object(rest.body.items)[0];
  assert.equal(own.current, true);

  assert.equal(
    (await service.call('DELETE', `/auth/sessions/${own.id}`, { token: grace.token })).status,
    404,
  );
  assert.equal((await service.call('GET', '/auth/me', { token: ada.token })).status, 200);
  assert.equal((await service.call('DELETE', `/auth/sessions/${own.id}`, { token: ada.token })).status, 204);
  assert.equal((await service.call('GET', '/auth/me', { token: ada.token })).status, 401);
});
