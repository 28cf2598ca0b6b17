import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeAllFactors } from '../src/areas/accounts/second-factors/change-factors.ts';
import { pruneAccounts } from '../src/areas/accounts/sessions.ts';
import { sql } from '../src/store/sql.ts';
import { faultOf } from './support/faults.ts';
import { newEmail, newPerson, text } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import {
  actionsOf,
  challengeFor,
  complete,
  factorsOf,
  newGuarded,
  totp,
  totpCode,
  turnTotpOn,
} from './support/second-factors.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { days, login, me, minutes, statusCounts, tokensOf } from './support/steps.ts';

test('an authenticator app is begun, turned on with its first code, and off; each is told by mail and audited', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  assert.deepEqual(await factorsOf(service, ada.token), { totp: null, passkeys: [], recoveryCodes: null });
  const begun = await service.call('POST', '/auth/totp', { token: ada.token });
  const secret = text(begun.body.secret);
  assert.equal(new URL(text(begun.body.url)).searchParams.get('secret'), secret);
  // Nothing has changed yet.
  assert.equal((await login(service, ada)).status, 200);
  const confirm = (code: string) =>
    service.call('POST', '/auth/totp/confirm', { token: ada.token, body: { code } });
  assertProblem(await confirm(totpCode(service, secret, 5)), 401, 'invalid_second_factor');
  for (const code of ['', '12345', '1234567', 'abcdef']) assertInvalid(await confirm(code), 'code');
  const on = await confirm(totpCode(service, secret));
  assert.equal(on.status, 200, on.text);
  const codes: string[] = Object(on.body.recoveryCodes);
  assert.equal(new Set(codes).size, 10);
  for (const code of codes) assert.match(code, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  assert.match((await service.mailbox.next(ada.email)).subject, /authenticator app was added/);
  const now = service.clock.now().toISOString();
  assert.deepEqual(await factorsOf(service, ada.token), {
    totp: { since: now },
    passkeys: [],
    recoveryCodes: { left: 10, madeAt: now },
  });
  assertProblem(await confirm(totpCode(service, secret)), 404, 'not_found');
  assert.equal((await service.call('DELETE', '/auth/totp', { token: ada.token })).status, 204);
  assert.match((await service.mailbox.next(ada.email)).subject, /authenticator app was removed/);
  assertProblem(await service.call('DELETE', '/auth/totp', { token: ada.token }), 404, 'not_found');
  assert.deepEqual(await factorsOf(service, ada.token), { totp: null, passkeys: [], recoveryCodes: null });
  assert.equal((await login(service, ada)).status, 200);
  const actions = (await actionsOf(service, ada.accountId)).filter((each) => each.endsWith('Totp'));
  assert.deepEqual(actions, ['startTotp', 'verifyTotp', 'deleteTotp']);
});

test('with the first factor every other session ends, and with a later one none', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { token: other } = tokensOf(await login(service, ada));
  const guarded = await turnTotpOn(service, ada);
  assert.deepEqual([await me(service, other), await me(service, ada.token)], [401, 200]);
  const signedIn = tokensOf(
    await complete(service, await challengeFor(service, ada), totp(service, guarded)),
  );
  // A new phone takes the place of the old one, and the codes stay as they are.
  const again = await turnTotpOn(service, ada);
  assert.equal(again.recoveryCodes, undefined);
  assert.deepEqual([await me(service, signedIn.token), await me(service, ada.token)], [200, 200]);
  const challenge = await challengeFor(service, ada);
  assertProblem(await complete(service, challenge, totp(service, guarded)), 401, 'invalid_second_factor');
  assert.equal((await complete(service, challenge, totp(service, again))).status, 200);
});

test('a secret that was shown waits for an hour, and is sealed', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { body } = await service.call('POST', '/auth/totp', { token: ada.token });
  const secret = text(body.secret);
  const stored = await service.app.store.db.one<{ sealed: Buffer; id: string }>(sql`
    select id, secret_sealed as sealed from totp_factors where account_id = ${ada.accountId}`);
  assert.ok(stored && !stored.sealed.toString('latin1').includes(secret));
  service.clock.advance(60 * minutes);
  const { token } = tokensOf(await login(service, ada));
  const confirmed = await service.call('POST', '/auth/totp/confirm', {
    token,
    body: { code: totpCode(service, secret) },
  });
  assertProblem(confirmed, 404, 'not_found');
  service.clock.advance(days);
  await pruneAccounts({ db: service.app.store.db, clock: service.clock });
  const left = await service.app.store.db.rows(sql`
    select 1 from totp_factors where account_id = ${ada.accountId}`);
  assert.equal(left.length, 0);
});

test('recovery codes are for who has a second factor', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  assertProblem(await service.call('POST', '/auth/recovery-codes', { token }), 409, 'no_second_factor');
});

test('a fresh proof is of the second factor where there is one, and what changes factors asks for it', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const confirm = (token: string, body: object) => service.call('POST', '/auth/confirm', { token, body });
  service.clock.advance(10 * minutes);
  assertProblem(await service.call('POST', '/auth/totp', { token: ada.token }), 403, 'fresh_proof_required');
  assert.equal((await confirm(ada.token, { password: ada.password })).status, 204);
  const guarded = await turnTotpOn(service, ada);
  const { token } = tokensOf(
    await complete(service, await challengeFor(service, ada), totp(service, guarded)),
  );
  service.clock.advance(10 * minutes);
  for (const [method, path] of [
    ['POST', '/auth/totp'],
    ['DELETE', '/auth/totp'],
    ['POST', '/auth/recovery-codes'],
    ['POST', '/auth/passkeys/options'],
  ] as const) {
    const answer = await service.call(method, path, { token });
    assertProblem(answer, 403, 'fresh_proof_required');
    assert.match(answer.text, /second factor again/);
  }
  assertProblem(await confirm(token, { password: ada.password }), 403, 'second_factor_required');
  assertProblem(await confirm(token, { password: 'wrong' }), 401, 'invalid_credentials');
  assertProblem(
    await confirm(token, { method: 'totp', code: totpCode(service, guarded.secret, 9) }),
    401,
    'invalid_second_factor',
  );
  // What was refused is not in the log; what was proven is, once.
  const proof = totp(service, guarded);
  const both = await Promise.all([confirm(token, proof), confirm(token, proof)]);
  assert.deepEqual(statusCounts(both), { 204: 1, 401: 1 });
  const proven = (await actionsOf(service, ada.accountId)).filter((each) => each === 'verifyPassword');
  assert.equal(proven.length, 2);
  assert.equal((await service.call('DELETE', '/auth/totp', { token })).status, 204);
});

test('whoever runs the machine removes all factors of an account: told by mail, in the log, and once', async () => {
  const service = await sharedTestApp();
  const { db } = service.app.store;
  const ada = await newGuarded(service);
  await service.mailbox.next(ada.email);
  const open = await challengeFor(service, ada);
  await removeAllFactors(db, ada.email.toUpperCase(), service.clock.now());
  assert.equal((await login(service, ada)).status, 200);
  assertProblem(await complete(service, open, totp(service, ada)), 401, 'invalid_challenge');
  assert.match((await service.mailbox.next(ada.email)).subject, /were removed/);
  assert.deepEqual(await factorsOf(service, ada.token), { totp: null, passkeys: [], recoveryCodes: null });
  assert.ok((await actionsOf(service, ada.accountId)).includes('removeSecondFactors'));
  const twice = await faultOf(() => removeAllFactors(db, ada.email, service.clock.now()));
  assert.match(twice.message, /has no second factor/);
  const nobody = await faultOf(() => removeAllFactors(db, newEmail(), service.clock.now()));
  assert.equal(nobody.code, 'state_refused');
});

test('an API token does nothing with second factors', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const made = await service.call('POST', '/api-tokens', {
    token: ada.token,
    body: { name: 'all', abilities: ['manage', 'read_secrets'] },
  });
  for (const [method, path] of [
    ['GET', '/auth/second-factors'],
    ['POST', '/auth/totp'],
    ['DELETE', '/auth/totp'],
    ['POST', '/auth/recovery-codes'],
  ] as const)
    assertProblem(await service.call(method, path, { token: text(made.body.token) }), 403, 'forbidden');
});
