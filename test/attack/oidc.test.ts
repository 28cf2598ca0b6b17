/** Sign-in by OpenID Connect, attacked: by a provider that lies, by other browsers, by what comes back twice. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JWTPayload } from 'jose';
import { sql } from '../../src/store/sql.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { Browser, client, LyingProvider, settingsFor } from '../support/oidc.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { assertInvalid, assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';

let liar: LyingProvider;
let service: TestApp;
before(async () => {
  liar = await LyingProvider.start();
  service = await sharedTestApp(settingsFor(liar.issuer));
});
after(() => liar.stop());

interface Begun {
  readonly browser: Browser;
  readonly state: string;
}

/** Sent to the provider, with a nonce that it will know. */
async function begin(browser = new Browser(), at = service): Promise<Begun> {
  const page = await browser.get(`${at.url}/api/v1/auth/oidc/begin`);
  assert.equal(page.status, 303, page.text);
  const { searchParams } = new URL(page.headers.get('location') ?? '');
  liar.nonce = searchParams.get('nonce') ?? '';
  return { browser, state: searchParams.get('state') ?? '' };
}

function comeBack({ browser, state }: Begun, query: Record<string, string> = {}, at = service) {
  const given = new URLSearchParams({ code: 'code', state, iss: liar.issuer, ...query });
  return browser.get(`${at.url}/api/v1/auth/oidc/callback?${given}`, 'application/json');
}

/** Somebody new, unless said otherwise: who is let in has an account afterwards. */
async function attempt(idToken: (right: JWTPayload) => Promise<string> | string, query = {}) {
  liar.subject = `subject-${Math.random()}`;
  liar.email = newEmail();
  liar.idToken = idToken;
  const begun = await begin();
  const page = await comeBack(begun, query);
  const hasSession = begun.browser.cookies.get(service.url)?.has('slipway_refresh') ?? false;
  const made = await service.app.store.db.rows(sql`
    select 1 from accounts where email = ${liar.email}
    union all select 1 from oidc_identities where subject = ${liar.subject}`);
  return { page, begun, hasSession, isKnown: made.length > 0 };
}

const unsigned = (payload: JWTPayload, alg: string, signature = '') => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg, kid: liar.key.kid })}.${part(payload)}.${signature}`;
};
const without = (payload: JWTPayload, claim: string) =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => name !== claim));

test('what is right is let in, and the request carries what makes it safe', async () => {
  const { page, hasSession, isKnown } = await attempt((right) => liar.sign(right));
  assert.deepEqual([page.status, hasSession, isKnown], [303, true, true], page.text);
  assert.equal(page.headers.get('location'), `${service.url}/`);
  const begun = await new Browser().get(`${service.url}/api/v1/auth/oidc/begin`);
  const { searchParams: asked } = new URL(begun.headers.get('location') ?? '');
  assert.deepEqual(
    ['response_type', 'code_challenge_method', 'client_id', 'redirect_uri'].map((name) => asked.get(name)),
    ['code', 'S256', client.id, `${service.url}/api/v1/auth/oidc/callback`],
  );
  for (const name of ['state', 'nonce', 'code_challenge'])
    assert.match(asked.get(name) ?? '', /^[\w-]{43}$/, name);
  assert.equal(new Set(['state', 'nonce', 'code_challenge'].map((name) => asked.get(name))).size, 3);
  assert.match(begun.headers.getSetCookie().join(), /slipway_oidc=oidc_[\w-]{43}; .*HttpOnly.*SameSite=Lax/i);
  assert.doesNotMatch(begun.headers.get('location') ?? '', /secret/);
});

test('an ID token with anything wrong in it signs nobody in', async () => {
  const now = Math.floor(Date.now() / 1000);
  const stranger = await LyingProvider.newKey('one');
  const lies: Record<string, (right: JWTPayload) => Promise<string> | string> = {
    'another nonce': (right) => liar.sign({ ...right, nonce: 'of another sign-in' }),
    'no nonce': (right) => liar.sign(without(right, 'nonce')),
    'another issuer': (right) => liar.sign({ ...right, iss: 'https://id.example.com' }),
    'another audience': (right) => liar.sign({ ...right, aud: 'another-client' }),
    'several audiences, for another party': (right) =>
      liar.sign({ ...right, aud: [client.id, 'another'], azp: 'another' }),
    'a signature of somebody else’s key': (right) => liar.sign(right, { by: stranger, kid: liar.key.kid }),
    'a key that the provider does not have': (right) => liar.sign(right, { kid: 'unknown' }),
    'a changed payload': async (right) => {
      const [head, , signature] = (await liar.sign(right)).split('.');
      const changed = Buffer.from(JSON.stringify({ ...right, sub: 'someone else' })).toString('base64url');
      return `${head}.${changed}.${signature}`;
    },
    'no signature (alg none)': (right) => unsigned(right, 'none'),
    'alg none with a signature': (right) => unsigned(right, 'none', 'AAAA'),
    'the client’s secret as a key (HS256)': (right) => unsigned(right, 'HS256', 'AAAA'),
    'a past expiry': (right) => liar.sign({ ...right, iat: now - 900, exp: now - 600 }),
    'no expiry': (right) => liar.sign(without(right, 'exp')),
    'a future beginning': (right) => liar.sign({ ...right, nbf: now + 600 }),
    'no subject': (right) => liar.sign(without(right, 'sub')),
    'an empty subject': (right) => liar.sign({ ...right, sub: '' }),
    'a subject that cannot be stored': (right) => liar.sign({ ...right, sub: 'a\0b' }),
    'an endless subject': (right) => liar.sign({ ...right, sub: 'a'.repeat(256) }),
    'no token at all': () => '',
  };
  for (const [what, lie] of Object.entries(lies)) {
    const { page, hasSession, isKnown } = await attempt(lie);
    assert.deepEqual([page.status, hasSession, isKnown], [401, false, false], `${what}: ${page.text}`);
    assertProblem(page, 401, 'oidc_untrusted');
  }
});

test('a clock of the provider that is off by less than half a minute is taken, one that is off by more is not', async () => {
  const now = Math.floor(Date.now() / 1000);
  const at = (seconds: number) => ({ iat: now + seconds - 300, exp: now + seconds });
  for (const [off, status] of [
    [{ ...at(-10) }, 303],
    [{ ...at(300), nbf: now + 10 }, 303],
    [{ ...at(-60) }, 401],
    [{ ...at(300), nbf: now + 120 }, 401],
  ] as const) {
    const { page, hasSession } = await attempt((right) => liar.sign({ ...right, ...off }));
    assert.deepEqual([page.status, hasSession], [status, status === 303], JSON.stringify(off));
  }
});

test('an answer that is no token at all is told as such', async () => {
  const { page, hasSession, isKnown } = await attempt(() => 'x.y.z');
  assertProblem(page, 502, 'oidc_failed');
  assert.deepEqual([hasSession, isKnown], [false, false]);
});

test('texts of the provider that cannot be stored or shown are left out', async () => {
  const { page } = await attempt((right) => liar.sign({ ...right, name: 'Ada\0\u202eLovelace' }));
  assert.equal(page.status, 303, page.text);
  const odd = await attempt((right) => liar.sign({ ...right, email: 'a\0@example.com' }));
  assertProblem(odd.page, 403, 'oidc_email_refused');
});

test('a code and a state work once', async () => {
  const { page, begun } = await attempt((right) => liar.sign(right));
  assert.equal(page.status, 303);
  const { trades } = liar;
  const other = new Browser();
  for (const browser of [begun.browser, other])
    assertProblem(await comeBack({ ...begun, browser }), 401, 'oidc_state_invalid');
  assert.equal(liar.trades, trades, 'the provider was not asked');
});

test('of two that come back with the same at once, one is let in', async () => {
  liar.subject = 'twice';
  liar.email = newEmail();
  liar.idToken = (right) => liar.sign(right);
  const begun = await begin();
  const copies = [1, 2, 3, 4].map(() => {
    const browser = new Browser();
    browser.cookies.set(service.url, new Map(begun.browser.cookies.get(service.url)));
    return browser;
  });
  const pages = await Promise.all(copies.map((browser) => comeBack({ ...begun, browser })));
  assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 401, 401, 401]);
});

test('a sign-in that another browser began is not finished in this one', async () => {
  liar.idToken = (right) => liar.sign(right);
  const attacker = await begin();
  const victim = await begin();
  // The attacker's address, opened by the victim: without a sign-in of their own, and with one.
  assertProblem(await comeBack({ ...attacker, browser: new Browser() }), 401, 'oidc_state_invalid');
  assertProblem(
    await comeBack({ browser: victim.browser, state: attacker.state }),
    401,
    'oidc_state_invalid',
  );
  for (const state of ['', 'é'.repeat(43), `${victim.state}=`, victim.state.toLowerCase()])
    assertProblem(await comeBack({ ...victim, state }), 401, 'oidc_state_invalid');
  const bare = await victim.browser.get(
    `${service.url}/api/v1/auth/oidc/callback?code=x`,
    'application/json',
  );
  assertProblem(bare, 401, 'oidc_state_invalid');
  // That has ended nothing of the victim's own.
  liar.subject = 'victim';
  liar.email = newEmail();
  assert.equal((await comeBack(victim)).status, 303);
});

test('over https, a cookie that another host of the domain has set counts for nothing', async (t) => {
  const secure = await startTestApp(t, {
    env: settingsFor(liar.issuer, { SLIPWAY_PUBLIC_URL: 'https://slipway.example.com' }),
  });
  const begun = await begin(new Browser(), secure);
  const jar = begun.browser.cookies.get(secure.url);
  const token = jar?.get('__Host-slipway_oidc') ?? '';
  assert.match(token, /^oidc_/);
  const planted = new Browser();
  planted.cookies.set(secure.url, new Map([['slipway_oidc', token]]));
  assertProblem(await comeBack({ ...begun, browser: planted }, {}, secure), 401, 'oidc_state_invalid');
  liar.idToken = (right) => liar.sign(right);
  liar.subject = 'secure';
  const page = await comeBack(begun, {}, secure);
  assert.equal(page.headers.get('location'), 'https://slipway.example.com/', page.text);
});

test('an answer in the name of another provider is refused before its code is traded in', async () => {
  for (const iss of ['https://id.example.com', '']) {
    const { trades } = liar;
    const { page, hasSession } = await attempt((right) => liar.sign(right), { iss });
    assertProblem(page, 401, 'oidc_untrusted');
    assert.ok(!hasSession);
    assert.equal(liar.trades, trades);
  }
});

test('a sign-in is over after ten minutes, and ends with the session that a link was begun in', async () => {
  liar.idToken = (right) => liar.sign(right);
  const late = await begin();
  service.clock.advance(11 * minutes);
  assertProblem(await comeBack(late), 401, 'oidc_state_invalid');

  const owner = await newPerson(service);
  const { token } = owner;
  const asked = await service.call('POST', '/auth/oidc/link', { token, body: {} });
  const url = new URL(String(asked.body.url));
  liar.nonce = url.searchParams.get('nonce') ?? '';
  const [, cookie = ''] = /slipway_oidc=([^;]+)/.exec(asked.headers.getSetCookie().join()) ?? [];
  const browser = new Browser();
  browser.cookies.set(service.url, new Map([['slipway_oidc', cookie]]));
  assert.equal((await service.call('POST', '/auth/logout', { token })).status, 204);
  liar.subject = 'signed-out';
  const page = await comeBack({ browser, state: url.searchParams.get('state') ?? '' });
  assertProblem(page, 401, 'oidc_state_invalid');
  const linked = await service.app.store.db.rows(sql`
    select 1 from oidc_identities where account_id = ${owner.accountId}`);
  assert.equal(linked.length, 0);
});

test('nobody is sent to another host afterwards', async () => {
  const hostile = [
    ...['https://evil.example', '//evil.example', '/\\evil.example', '\\\\evil.example', 'evil.example'],
    ...['/\t/evil.example', '/\n/evil.example', 'javascript:alert(1)', '', ' /', '/a b', '/"', '/<'],
  ];
  for (const returnTo of hostile) {
    const query = `?returnTo=${encodeURIComponent(returnTo)}`;
    assertInvalid(await service.call('GET', `/auth/oidc/begin${query}`), 'returnTo');
    assertInvalid(await service.call('POST', '/auth/oidc/begin', { body: { returnTo } }), 'returnTo');
  }
  liar.idToken = (right) => liar.sign(right);
  const kept = ['/projects?tab=1#top', '/a//b', '/%2f%2fevil.example', '/@evil.example'];
  for (const [index, returnTo] of kept.entries()) {
    liar.subject = `returns-${index}`;
    liar.email = newEmail();
    const browser = new Browser();
    const query = `?returnTo=${encodeURIComponent(returnTo)}`;
    const page = await browser.get(`${service.url}/api/v1/auth/oidc/begin${query}`);
    const { searchParams } = new URL(page.headers.get('location') ?? '');
    liar.nonce = searchParams.get('nonce') ?? '';
    const back = await comeBack({ browser, state: searchParams.get('state') ?? '' });
    assert.equal(back.headers.get('location'), `${service.url}${returnTo}`, back.text);
    assert.equal(new URL(back.headers.get('location') ?? '').origin, service.url);
  }
});

test('rotated keys are fetched anew at once', async () => {
  assert.equal((await attempt((right) => liar.sign(right))).page.status, 303);
  await liar.rotate();
  assert.equal((await attempt((right) => liar.sign(right))).page.status, 303);
});

test('a provider that is away, or is none, is told as such, and signs nobody in', async (t) => {
  const gone = await LyingProvider.start();
  await gone.stop();
  const away = await startTestApp(t, { env: settingsFor(gone.issuer) });
  assertProblem(await away.call('GET', '/auth/oidc/begin'), 502, 'oidc_failed');
  const page = await new Browser().get(`${away.url}/api/v1/auth/oidc/begin`);
  assert.equal(page.status, 502);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(page.text, /refuses the connection/);

  const other = await LyingProvider.start();
  t.after(() => other.stop());
  const odd: Record<string, unknown>[] = [
    { issuer: 'https://id.example.com' },
    { authorization_endpoint: undefined },
    { authorization_endpoint: 'javascript:alert(1)' },
  ];
  for (const metadata of odd) {
    other.metadata = metadata;
    const none = await startTestApp(t, { env: settingsFor(other.issuer) });
    const answer = await none.call('GET', '/auth/oidc/begin');
    assertProblem(answer, 502, 'oidc_failed');
  }
});
