import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/store/sql.ts';
import { newEmail, newPerson, text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import {
  cookieOf,
  cookiesOf,
  days,
  login,
  me,
  minutes,
  newPassword,
  post,
  register,
  seconds,
  tokensOf,
} from './support/steps.ts';

test('a wrong password is refused as invalid credentials', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  assertProblem(await login(service, { ...ada, password: newPassword() }), 401, 'invalid_credentials');
});

test('an unconfirmed address learns so with the right password only, and gets a fresh code', async () => {
  const service = await sharedTestApp();
  const [email, password] = [newEmail(), newPassword()];
  await register(service, email, password);
  await service.mailbox.code(email);
  assertProblem(await login(service, { email, password: newPassword() }), 401, 'invalid_credentials');
  assertProblem(await login(service, { email, password }), 403, 'email_not_verified');
  const code = await service.mailbox.code(email);
  assert.equal((await post(service, '/auth/verify-otp', { email, code })).status, 200);
  assert.equal(await service.mailbox.unreadCount(email), 0);
});

test('a refresh token in a body is traded for a new pair, once', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const answer = await post(service, '/auth/refresh', { refreshToken: ada.refreshToken });
  const next = tokensOf(answer);
  assert.notEqual(next.refreshToken, ada.refreshToken);
  assert.deepEqual(answer.headers.getSetCookie(), []);
  assert.equal(await me(service, next.token), 200);
  tokensOf(await post(service, '/auth/refresh', { refreshToken: next.refreshToken }));
});

test('a spent refresh token that comes back ends its session, access tokens and newer refresh tokens included', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const other = tokensOf(await login(service, ada));
  const next = tokensOf(await post(service, '/auth/refresh', { refreshToken: ada.refreshToken }));
  const replayed = await post(service, '/auth/refresh', { refreshToken: ada.refreshToken });
  assertProblem(replayed, 401, 'invalid_refresh_token');
  assert.equal(await me(service, ada.token), 401);
  assert.equal(await me(service, next.token), 401);
  const late = await post(service, '/auth/refresh', { refreshToken: next.refreshToken });
  assertProblem(late, 401, 'invalid_refresh_token');
  assert.equal(await me(service, other.token), 200, 'another session of the account goes on');
});

test('the refresh cookie is out of reach for scripts and other sites, and works for the calls of accounts only', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const answer = await post(service, '/auth/login', { email: ada.email, password: ada.password });
  assert.equal('refreshToken' in answer.body, false);
  const { attributes } = cookieOf(answer);
  assert.ok(attributes.has('httponly'));
  assert.equal(attributes.get('samesite'), 'Strict');
  assert.equal(attributes.get('path'), '/api/v1/auth');
  assert.equal(attributes.get('max-age'), String((30 * days) / seconds));
  assert.equal(attributes.has('secure'), false);
  assert.equal(attributes.has('domain'), false);
});

const overTls = { SLIPWAY_PUBLIC_URL: 'https://deploy.example.com' };

test('where people reach the service over TLS, cookies are sent over TLS only, and no other host of the domain can set one', async () => {
  const service = await sharedTestApp(overTls);
  const ada = await newPerson(service);
  const answer = await post(service, '/auth/login', { email: ada.email, password: ada.password });
  const names = ['__Host-slipway_refresh', '__Host-slipway_device'];
  assert.deepEqual([...cookiesOf(answer).keys()], names);
  for (const name of names) {
    const { attributes } = cookieOf(answer, name);
    assert.ok(attributes.has('secure') && attributes.has('httponly'), name);
    assert.equal(attributes.get('samesite'), 'Strict');
    // What browsers ask of the prefix.
    assert.equal(attributes.get('path'), '/');
    assert.equal(attributes.has('domain'), false);
  }
  const cookie = `__Host-slipway_refresh=${cookieOf(answer, names[0]).value}`;
  assert.equal((await service.call('POST', '/auth/refresh', { headers: { cookie } })).status, 200);
});

test('who sets a cookie from another host of the domain signs nobody in to an account of theirs', async () => {
  const service = await sharedTestApp(overTls);
  const mallory = await newPerson(service);
  const cookie = `slipway_refresh=${mallory.refreshToken}`;
  const answer = await service.call('POST', '/auth/refresh', { headers: { cookie } });
  assertProblem(answer, 401, 'invalid_refresh_token');
  assert.equal(await me(service, mallory.token), 200, 'nor does it end anything');
});

test('a cookie of the name that was used before an upgrade works once, and is replaced', async () => {
  const service = await sharedTestApp(overTls);
  const ada = await newPerson(service);
  // As the migration leaves what was given out before it.
  await service.app.store.db.run(sql`
    update refresh_tokens set before_prefix = true
    where session_id in (select id from sessions where account_id = ${ada.accountId})`);
  const headers = { cookie: `slipway_refresh=${ada.refreshToken}` };
  const answer = await service.call('POST', '/auth/refresh', { headers });
  assert.equal(answer.status, 200, answer.text);
  const old = cookieOf(answer, 'slipway_refresh');
  assert.deepEqual([old.value, old.attributes.get('max-age')], ['', '0']);
  assert.equal(old.attributes.get('path'), '/api/v1/auth');
  const next = cookieOf(answer, '__Host-slipway_refresh').value;
  const plainly = await service.call('POST', '/auth/refresh', {
    headers: { cookie: `slipway_refresh=${next}` },
  });
  assertProblem(plainly, 401, 'invalid_refresh_token');
  const rightly = { cookie: `__Host-slipway_refresh=${next}` };
  assert.equal((await service.call('POST', '/auth/refresh', { headers: rightly })).status, 200);
});

test('a refresh token in a cookie is traded for a new cookie, once', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const signedIn = await post(service, '/auth/login', { email: ada.email, password: ada.password });
  const cookie = `slipway_refresh=${cookieOf(signedIn).value}`;
  const answer = await service.call('POST', '/auth/refresh', { headers: { cookie } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal('refreshToken' in answer.body, false);
  assert.notEqual(cookieOf(answer).value, cookieOf(signedIn).value);
  assert.equal(await me(service, text(answer.body.accessToken)), 200);
  const replayed = await service.call('POST', '/auth/refresh', { headers: { cookie } });
  assertProblem(replayed, 401, 'invalid_refresh_token');
  assert.equal(await me(service, text(answer.body.accessToken)), 401);
});

test('a missing or made-up refresh token is refused', async () => {
  const service = await sharedTestApp();
  for (const body of [{}, { refreshToken: '' }, { refreshToken: 'refresh_made-up' }]) {
    assertProblem(await post(service, '/auth/refresh', body), 401, 'invalid_refresh_token');
  }
  const headers = { cookie: 'slipway_refresh=%00%ff; slipway_refresh=' };
  const answer = await service.call('POST', '/auth/refresh', { headers });
  assertProblem(answer, 401, 'invalid_refresh_token');
});

test('signing out ends the session and takes the cookie back; other sessions go on', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const other = tokensOf(await login(service, ada));
  const answer = await service.call('POST', '/auth/logout', { token: ada.token });
  assert.equal(answer.status, 204, answer.text);
  assert.equal(answer.text, '');
  const { value, attributes } = cookieOf(answer);
  assert.equal(value, '');
  assert.equal(attributes.get('path'), '/api/v1/auth');
  assert.equal(await me(service, ada.token), 401);
  const refreshed = await post(service, '/auth/refresh', { refreshToken: ada.refreshToken });
  assertProblem(refreshed, 401, 'invalid_refresh_token');
  assertProblem(await service.call('POST', '/auth/logout', { token: ada.token }), 401, 'unauthenticated');
  assert.equal(await me(service, other.token), 200);
});

test('an access token works for 15 minutes and not a second longer; the refresh token then gives another', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  service.clock.advance(15 * minutes - seconds);
  assert.equal(await me(service, ada.token), 200);
  service.clock.advance(seconds);
  const late = await service.call('GET', '/auth/me', { token: ada.token });
  assertProblem(late, 401, 'unauthenticated');
  assert.match(late.text, /expired/);
  const next = tokensOf(await post(service, '/auth/refresh', { refreshToken: ada.refreshToken }));
  assert.equal(await me(service, next.token), 200);
});

test('a session ends 30 days after it was last refreshed', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  service.clock.advance(30 * days - 1);
  const next = tokensOf(await post(service, '/auth/refresh', { refreshToken: ada.refreshToken }));
  service.clock.advance(30 * days);
  const late = await post(service, '/auth/refresh', { refreshToken: next.refreshToken });
  assertProblem(late, 401, 'invalid_refresh_token');
});

test('an access token says who, by whom, for whom and until when, and nothing else', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const [head = '', claims = ''] = ada.token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  assert.equal(read(head).alg, 'HS256');
  const found = read(claims);
  assert.deepEqual(Object.keys(found).sort(), ['aud', 'exp', 'iat', 'iss', 'sid', 'sub']);
  assert.equal(found.sub, ada.accountId);
  assert.equal(found.exp - found.iat, 15 * 60);
});
