import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApp, type TestApp } from './support/app.ts';
import { Authenticator } from './support/authenticator.ts';
import { newPerson, type Person, text } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { complete, turnTotpOn } from './support/second-factors.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { login, minutes, statusCounts, tokensOf } from './support/steps.ts';

const origin = 'https://slipway.example.com';
const rpId = 'slipway.example.com';

async function begin(app: TestApp, token: string): Promise<{ challenge: string; signed: string }> {
  const begun = await app.call('POST', '/auth/passkeys/options', { token });
  assert.equal(begun.status, 201, begun.text);
  const { challenge, options } = Object(begun.body);
  assert.equal(options.rp.id, rpId);
  return { challenge, signed: options.challenge };
}

async function registered(app: TestApp, person: Person, name = 'Laptop') {
  const authenticator = new Authenticator();
  const { challenge, signed } = await begin(app, person.token);
  const credential = authenticator.create({ origin, rpId, challenge: signed });
  const made = await app.call('POST', '/auth/passkeys', {
    token: person.token,
    body: { name, challenge, credential },
  });
  assert.equal(made.status, 201, made.text);
  return { authenticator, id: text(made.body.id), recoveryCodes: Object(made.body).recoveryCodes };
}

/** The first step of a sign-in: what is to be signed. */
async function firstStep(app: TestApp, person: Person) {
  const answer = await login(app, person);
  assert.equal(answer.status, 202, answer.text);
  const { challenge, methods, passkey } = Object(answer.body.secondFactor);
  return { challenge: text(challenge), methods, signed: text(passkey.challenge), passkey };
}

test('passkeys', async (t) => {
  const app = await startTestApp(t, { env: { SLIPWAY_PUBLIC_URL: origin } });

  await t.test('one is registered with recovery codes, signs in, is renamed and removed', async () => {
    const ada = await newPerson(app);
    const { token: other } = tokensOf(await login(app, ada));
    const { authenticator, id, recoveryCodes } = await registered(app, ada);
    assert.equal(recoveryCodes.length, 10);
    assert.equal((await app.call('GET', '/auth/me', { token: other })).status, 401);
    assert.match((await app.mailbox.next(ada.email)).subject, /passkey was added/);
    const { challenge, methods, signed, passkey } = await firstStep(app, ada);
    assert.deepEqual(methods, ['passkey', 'recovery_code']);
    const known = {
      id: authenticator.id.toString('base64url'),
      type: 'public-key',
      transports: ['internal'],
    };
    assert.deepEqual(passkey.allowCredentials, [known]);
    const credential = authenticator.get({ origin, rpId, challenge: signed });
    const { token } = tokensOf(await complete(app, challenge, { method: 'passkey', credential }));
    const renamed = await app.call('PATCH', `/auth/passkeys/${id}`, { token, body: { name: 'Old laptop' } });
    assert.equal(renamed.status, 200, renamed.text);
    assert.equal(renamed.body.lastUsedAt, app.clock.now().toISOString());
    const listed = await app.call('GET', '/auth/second-factors', { token });
    assert.deepEqual(Object(listed.body.passkeys)[0], renamed.body);
    for (const name of ['', ' ', 'x'.repeat(101)])
      assertInvalid(await app.call('PATCH', `/auth/passkeys/${id}`, { token, body: { name } }), 'name');
    const eve = await newPerson(app);
    for (const [method, body] of [['PATCH', { name: 'x' }], ['DELETE']] as const)
      assertProblem(
        await app.call(method, `/auth/passkeys/${id}`, { token: eve.token, ...(body && { body }) }),
        404,
        'not_found',
      );
    assert.equal((await app.call('DELETE', `/auth/passkeys/${id}`, { token })).status, 204);
    assert.match((await app.mailbox.next(ada.email)).subject, /passkey was removed/);
    assert.equal((await login(app, ada)).status, 200);
  });

  await t.test('it is the second of two factors, and both work', async () => {
    const ada = await turnTotpOn(app, await newPerson(app));
    const { authenticator, recoveryCodes } = await registered(app, ada);
    assert.equal(recoveryCodes, undefined);
    const { challenge, methods, signed } = await firstStep(app, ada);
    assert.deepEqual(methods, ['totp', 'passkey', 'recovery_code']);
    const credential = authenticator.get({ origin, rpId, challenge: signed });
    assert.equal((await complete(app, challenge, { method: 'passkey', credential })).status, 200);
  });

  await t.test('what was made for elsewhere, or for another challenge, is not registered', async () => {
    const ada = await newPerson(app);
    const tries: readonly (readonly [what: string, change: object])[] = [
      ['origin', { origin: 'https://evil.example.com' }],
      ['RP ID', { rpId: 'evil.example.com' }],
      ['challenge', { challenge: Buffer.from('challenge_other').toString('base64url') }],
    ];
    for (const [what, change] of tries) {
      const { challenge, signed } = await begin(app, ada.token);
      const credential = new Authenticator().create({ origin, rpId, challenge: signed, ...change });
      const body = { name: 'x', challenge, credential };
      const answer = await app.call('POST', '/auth/passkeys', { token: ada.token, body });
      assertProblem(answer, 401, 'invalid_second_factor');
      assert.match(text(answer.body.detail), new RegExp(what), answer.text);
    }
    // Nor with a challenge of somebody else, of a sign-in, or with the answer of another ceremony.
    const eve = await newPerson(app);
    const theirs = await begin(app, eve.token);
    const credential = new Authenticator().create({ origin, rpId, challenge: theirs.signed });
    const body = { name: 'x', challenge: theirs.challenge, credential };
    assertProblem(
      await app.call('POST', '/auth/passkeys', { token: ada.token, body }),
      401,
      'invalid_challenge',
    );
    assert.equal((await app.call('POST', '/auth/passkeys', { token: eve.token, body })).status, 201);
    assertProblem(
      await app.call('POST', '/auth/passkeys', { token: eve.token, body }),
      401,
      'invalid_challenge',
    );
  });

  await t.test('the same authenticator is not registered twice', async () => {
    const [ada, eve] = [await newPerson(app), await newPerson(app)];
    const { authenticator } = await registered(app, ada);
    for (const { token } of [ada, eve]) {
      const { challenge, signed } = await begin(app, token);
      const credential = authenticator.create({ origin, rpId, challenge: signed });
      const body = { name: 'again', challenge, credential };
      assertProblem(await app.call('POST', '/auth/passkeys', { token, body }), 409, 'passkey_known');
    }
  });

  await t.test('a sign-in is refused for a wrong origin, challenge, key, and for a replay', async () => {
    const [ada, eve] = [await newPerson(app), await newPerson(app)];
    const { authenticator } = await registered(app, ada);
    const stranger = await registered(app, eve);
    const { challenge, signed } = await firstStep(app, ada);
    const other = Buffer.from('challenge_other').toString('base64url');
    const wrong = [
      authenticator.get({ origin: 'https://evil.example.com', rpId, challenge: signed }),
      authenticator.get({ origin, rpId: 'evil.example.com', challenge: signed }),
      authenticator.get({ origin, rpId, challenge: other }),
      stranger.authenticator.get({ origin, rpId, challenge: signed }),
      {
        ...stranger.authenticator.get({ origin, rpId, challenge: signed }),
        id: idOf(authenticator),
        rawId: idOf(authenticator),
      },
    ];
    for (const credential of wrong)
      assertProblem(
        await complete(app, challenge, { method: 'passkey', credential }),
        401,
        'invalid_second_factor',
      );
    const again = await firstStep(app, ada);
    const credential = authenticator.get({ origin, rpId, challenge: again.signed });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => complete(app, again.challenge, { method: 'passkey', credential })),
    );
    assert.deepEqual(statusCounts(answers), { 200: 1, 401: 3 });
    const replayed = await firstStep(app, ada);
    assertProblem(
      await complete(app, replayed.challenge, { method: 'passkey', credential }),
      401,
      'invalid_second_factor',
    );
  });

  await t.test('a copy of an authenticator is noticed by its counter', async () => {
    const ada = await newPerson(app);
    const { authenticator } = await registered(app, ada);
    for (const counter of [5, 6]) {
      authenticator.counter = counter;
      const { challenge, signed } = await firstStep(app, ada);
      const credential = authenticator.get({ origin, rpId, challenge: signed });
      assert.equal((await complete(app, challenge, { method: 'passkey', credential })).status, 200);
    }
    // The copy is behind.
    authenticator.counter = 3;
    const { challenge, signed } = await firstStep(app, ada);
    const credential = authenticator.get({ origin, rpId, challenge: signed });
    const refused = await complete(app, challenge, { method: 'passkey', credential });
    assertProblem(refused, 401, 'invalid_second_factor');
    assert.match(text(refused.body.detail), /counter/);
  });

  await t.test('it is a fresh proof, with a challenge of its own', async () => {
    const ada = await newPerson(app);
    const { authenticator, id } = await registered(app, ada);
    app.clock.advance(10 * minutes);
    const { token } = ada;
    const remove = () => app.call('DELETE', `/auth/passkeys/${id}`, { token });
    assertProblem(await remove(), 403, 'fresh_proof_required');
    const begun = await app.call('POST', '/auth/confirm/challenge', { token });
    assert.equal(begun.status, 201, begun.text);
    const { challenge, passkey } = Object(begun.body);
    const credential = authenticator.get({ origin, rpId, challenge: passkey.challenge });
    // It completes no sign-in.
    assertProblem(
      await complete(app, challenge, { method: 'passkey', credential }),
      401,
      'invalid_challenge',
    );
    const body = { method: 'passkey', challenge, credential };
    assert.equal((await app.call('POST', '/auth/confirm', { token, body })).status, 204);
    assertProblem(await app.call('POST', '/auth/confirm', { token, body }), 401, 'invalid_challenge');
    assert.equal((await remove()).status, 204);
  });

  await t.test('bad input names its field', async () => {
    const ada = await newPerson(app);
    const { challenge, signed } = await begin(app, ada.token);
    const credential = new Authenticator().create({ origin, rpId, challenge: signed });
    const ask = (body: object) => app.call('POST', '/auth/passkeys', { token: ada.token, body });
    assertInvalid(await ask({ name: '', challenge, credential }), 'name');
    assertInvalid(await ask({ name: 'x', credential }), 'challenge');
    assertInvalid(
      await ask({ name: 'x', challenge, credential: { ...credential, id: '=' } }),
      'credential.id',
    );
    const damaged = { ...credential, response: { ...credential.response, attestationObject: 'AQID' } };
    assertProblem(await ask({ name: 'x', challenge, credential: damaged }), 401, 'invalid_second_factor');
  });
});

const idOf = (authenticator: Authenticator) => authenticator.id.toString('base64url');

test('where the service has no name, passkeys are refused with what to set', async () => {
  const app = await sharedTestApp();
  const ada = await newPerson(app);
  const answer = await app.call('POST', '/auth/passkeys/options', { token: ada.token });
  assertProblem(answer, 422, 'passkeys_unavailable');
  assert.match(answer.text, /SLIPWAY_PUBLIC_URL/);
});
