/** Single sign-on of accounts that have a second factor here: the provider's word stands for it only where that is set. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestApp } from './support/app.ts';
import { Browser, LyingProvider, settingsFor } from './support/oidc.ts';
import { newEmail, type Person, text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { complete, type Guarded, totp, turnTotpOn } from './support/second-factors.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { minutes, post } from './support/steps.ts';

/** Everything it says here is true; it is the one whose ID tokens a test can word. */
let provider: LyingProvider;
before(async () => {
  provider = await LyingProvider.start();
});
after(() => provider.stop());

const trusting = { SLIPWAY_OIDC_SECOND_FACTOR: 'mfa, urn:example:two-factors' };
const scene = (more: Record<string, string> = {}) => sharedTestApp(settingsFor(provider.issuer, more));
const now = () => Math.floor(Date.now() / 1000);

/** From the page of the provider back to where Slipway sends the browser then. */
async function comeBack(service: TestApp, browser: Browser, address: string, said: object) {
  const { searchParams } = new URL(address);
  provider.nonce = searchParams.get('nonce') ?? '';
  provider.idToken = (right) => provider.sign({ ...right, ...said });
  const given = { code: 'code', state: searchParams.get('state') ?? '', iss: provider.issuer };
  return browser.get(`${service.url}/api/v1/auth/oidc/callback?${new URLSearchParams(given)}`);
}

async function signIn(service: TestApp, said: object = {}) {
  const browser = new Browser();
  const begun = await browser.get(`${service.url}/api/v1/auth/oidc/begin?returnTo=/projects`);
  const page = await comeBack(service, browser, begun.headers.get('location') ?? '', said);
  const jar = browser.cookies.get(service.url) ?? new Map<string, string>();
  return { page, cookies: jar, cookie: [...jar].map((each) => each.join('=')).join('; ') };
}

async function tokenBehind(service: TestApp, cookie: string): Promise<{ token: string; id: string }> {
  const answer = await post(service, '/auth/refresh', {}, { cookie });
  assert.equal(answer.status, 200, answer.text);
  return { token: text(answer.body.accessToken), id: text(Object(answer.body.user).id) };
}

/** Came by the provider, and has turned an authenticator app on since. */
async function newSsoGuarded(service: TestApp): Promise<Guarded> {
  provider.subject = `subject-${Math.random()}`;
  provider.email = newEmail();
  const { page, cookie } = await signIn(service);
  assert.equal(page.headers.get('location'), `${service.url}/projects`, page.text);
  const { token, id: accountId } = await tokenBehind(service, cookie);
  const person: Person = { email: provider.email, password: '', token, accountId, refreshToken: '' };
  return turnTotpOn(service, person);
}

test('the second factor of an account is asked for after single sign-on, and nobody has a session before', async () => {
  const service = await scene();
  const ada = await newSsoGuarded(service);
  // Whatever the provider says of itself: nobody has set that its word is taken.
  for (const said of [{}, { amr: ['pwd', 'mfa'] }]) {
    const { page, cookies, cookie } = await signIn(service, said);
    assert.equal(page.status, 303, page.text);
    const sent = new URL(page.headers.get('location') ?? '');
    assert.deepEqual(
      [sent.origin, sent.pathname, ...sent.searchParams.values()],
      [service.url, '/sign-in', 'needed', '/projects'],
    );
    assert.ok(!cookies.has('slipway_refresh') && !cookies.has('slipway_device'), cookie);
    assertProblem(await post(service, '/auth/refresh', {}, { cookie }), 401, 'invalid_refresh_token');

    const asked = await service.call('GET', '/auth/login/second-factor', { headers: { cookie } });
    assert.equal(asked.status, 200, asked.text);
    const { challenge, methods } = Object(asked.body.secondFactor);
    assert.deepEqual(methods, ['totp', 'recovery_code']);
    const wrong = await complete(service, challenge, { method: 'recovery_code', code: 'none' });
    assertProblem(wrong, 401, 'invalid_second_factor');
    const done = await complete(service, challenge, totp(service, ada));
    assert.equal(done.status, 200, done.text);
    assert.equal(Object(done.body.user).id, ada.accountId);
    // It was for one sign-in.
    const again = await service.call('GET', '/auth/login/second-factor', { headers: { cookie } });
    assertProblem(again, 401, 'invalid_challenge');
    service.clock.advance(minutes);
  }
});

test('the challenge is shown to the browser that came back, from where it came, for five minutes', async () => {
  const service = await scene();
  await newSsoGuarded(service);
  const { cookie } = await signIn(service);
  const ask = (headers: Record<string, string>) =>
    service.call('GET', '/auth/login/second-factor', { headers });
  assertProblem(await ask({}), 401, 'invalid_challenge');
  assertProblem(await ask({ cookie: 'slipway_challenge=challenge_made-up' }), 401, 'invalid_challenge');
  assertProblem(
    await ask({ cookie, 'user-agent': 'Mozilla/5.0 (X11) Firefox/140.0' }),
    401,
    'invalid_challenge',
  );
  assert.equal((await ask({ cookie })).status, 200);
  service.clock.advance(6 * minutes);
  assertProblem(await ask({ cookie }), 401, 'invalid_challenge');
});

test('where whoever runs the service takes the provider’s word, a sign-in with a second factor there is whole', async () => {
  const service = await scene(trusting);
  const ada = await newSsoGuarded(service);
  for (const said of [{ amr: ['pwd', 'mfa'] }, { acr: 'urn:example:two-factors' }]) {
    const { page, cookie } = await signIn(service, said);
    assert.equal(page.headers.get('location'), `${service.url}/projects`, JSON.stringify(said));
    assert.equal((await tokenBehind(service, cookie)).id, ada.accountId);
  }
  const audit = await service.call('GET', '/audit?action=signIn', { token: ada.token });
  const [entry] = Object(audit.body.items);
  assert.deepEqual(entry.changes, { secondFactor: 'provider' });
  for (const said of [{}, { amr: ['pwd'] }, { amr: ['MFA'] }, { amr: [{ mfa: true }] }, { acr: 'mfa2' }]) {
    const { page, cookies } = await signIn(service, said);
    assert.match(page.headers.get('location') ?? '', /secondFactor=needed/, JSON.stringify(said));
    assert.ok(!cookies.has('slipway_refresh'));
  }
});

test('a new sign-in there is no fresh proof for an account with a second factor, unless its word is taken', async () => {
  for (const [service, said, isProof] of [
    [await scene(), { amr: ['mfa'] }, false],
    [await scene(trusting), { amr: ['pwd'] }, false],
    [await scene(trusting), { amr: ['mfa'] }, true],
  ] as const) {
    const ada = await newSsoGuarded(service);
    service.clock.advance(11 * minutes);
    const change = () => service.call('POST', '/auth/recovery-codes', { token: ada.token });
    assertProblem(await change(), 403, 'fresh_proof_required');
    const begun = await service.call('POST', '/auth/oidc/confirm', { token: ada.token, body: {} });
    assert.equal(begun.status, 200, begun.text);
    const browser = new Browser();
    const [pair = ''] = (begun.headers.getSetCookie()[0] ?? '').split(';');
    const [name = '', value = ''] = pair.split('=');
    browser.cookies.set(service.url, new Map([[name, value]]));
    const page = await comeBack(service, browser, text(begun.body.url), { ...said, auth_time: now() });
    if (isProof) {
      assert.equal(page.status, 303, page.text);
      assert.equal((await change()).status, 201);
    } else {
      assert.match(page.text, /a sign-in at the provider alone proves nothing/);
      assertProblem(await change(), 403, 'fresh_proof_required');
    }
  }
});
