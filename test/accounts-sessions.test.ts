import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Authenticator } from '../src/areas/accounts/authenticate.ts';
import { pruneAccounts } from '../src/areas/accounts/sessions.ts';
import { sql } from '../src/store/sql.ts';
import type { TestApp } from './support/app.ts';
import { newEmail, newPerson, text } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { days, login, minutes, post, register, resetTokenFor, seconds, tokensOf } from './support/steps.ts';

function authenticatorOf({ app, clock }: TestApp): Authenticator {
  return new Authenticator(app.store.db, clock, app.store.masterKeys);
}

async function ticketFor(service: TestApp, token: string): Promise<string> {
  const answer = await service.call('POST', '/auth/stream-ticket', { token });
  assert.equal(answer.status, 201, answer.text);
  const expiresAt = new Date(service.clock.now().getTime() + 30 * seconds).toISOString();
  assert.equal(answer.body.expiresAt, expiresAt);
  return text(answer.body.ticket);
}

const refused = { code: 'unauthenticated' };

test('a session says where it came from, and which one asks', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const body = { email: ada.email, password: ada.password };
  const headers = { 'user-agent': `browser ${'x'.repeat(500)}` };
  await service.call('POST', '/auth/login', { body, headers });
  const answer = await service.call('GET', '/auth/sessions', { token: ada.token });
  assert.equal(answer.status, 200, answer.text);
  const [newest, own] = Object(answer.body.items);
  assert.equal(newest.userAgent, headers['user-agent'].slice(0, 256));
  assert.equal(newest.ip, '127.0.0.1');
  assert.deepEqual([newest.current, own.current], [false, true]);
});

test('ended and expired sessions are not listed', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  service.clock.advance(29 * days);
  const ended = tokensOf(await login(service, ada));
  await service.call('POST', '/auth/logout', { token: ended.token });
  service.clock.advance(days);
  const { token } = tokensOf(await login(service, ada));
  const answer = await service.call('GET', '/auth/sessions', { token });
  assert.equal(Object(answer.body.items).length, 1, answer.text);
});

test('ending a session that is gone, unknown or malformed is refused', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { token } = tokensOf(await login(service, ada));
  const list = await service.call('GET', '/auth/sessions', { token });
  const old = Object(list.body.items)[1];
  assert.equal((await service.call('DELETE', `/auth/sessions/${old.id}`, { token })).status, 204);
  for (const id of [old.id, '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b']) {
    assertProblem(await service.call('DELETE', `/auth/sessions/${id}`, { token }), 404, 'not_found');
  }
  for (const id of ['me', '1', '%00', "'%20or%201=1"]) {
    assertInvalid(await service.call('DELETE', `/auth/sessions/${id}`, { token }), 'id');
  }
});

test('a stream ticket opens one stream, for the account that asked', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const authenticator = authenticatorOf(service);
  const ticket = await ticketFor(service, ada.token);
  assert.equal((await authenticator.byStreamTicket(ticket)).accountId, ada.accountId);
  await assert.rejects(authenticator.byStreamTicket(ticket), refused);
});

test('of twenty streams that are opened with one ticket at once, one opens', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const authenticator = authenticatorOf(service);
  const ticket = await ticketFor(service, ada.token);
  const all = Array.from({ length: 20 }, () => authenticator.byStreamTicket(ticket));
  const opened = (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled');
  assert.equal(opened.length, 1);
});

test('a stream ticket works for 30 seconds, and only while its session lives', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const authenticator = authenticatorOf(service);
  const [inTime, late] = [await ticketFor(service, ada.token), await ticketFor(service, ada.token)];
  service.clock.advance(30 * seconds - 1);
  await authenticator.byStreamTicket(inTime);
  service.clock.advance(1);
  await assert.rejects(authenticator.byStreamTicket(late), refused);
  const orphan = await ticketFor(service, ada.token);
  await service.call('POST', '/auth/logout', { token: ada.token });
  await assert.rejects(authenticator.byStreamTicket(orphan), refused);
});

test('a stream ticket is no access token, and counts nowhere but on a stream', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const ticket = await ticketFor(service, ada.token);
  assertProblem(await service.call('GET', '/auth/me', { token: ticket }), 401, 'unauthenticated');
  const inQuery = await service.call('GET', `/auth/me?ticket=${ticket}`);
  assertProblem(inQuery, 401, 'unauthenticated');
});

/** Of one account, and of one address that waits to be confirmed. */
async function rowsOf({ app }: TestApp, accountId: string, email: string): Promise<Record<string, number>> {
  const row = await app.store.db.one<Record<string, number>>(sql`
    with own as (select id from sessions where account_id = ${accountId})
    select (select count(*)::int from own) as sessions,
      (select count(*)::int from refresh_tokens where session_id in (select id from own)) as "refreshTokens",
      (select count(*)::int from registrations where registrations.email = ${email}) as registrations,
      (select count(*)::int from password_resets where account_id = ${accountId}) as resets,
      (select count(*)::int from stream_tickets where session_id in (select id from own)) as tickets,
      (select count(*)::int from accounts where id = ${accountId}) as accounts`);
  return { ...row };
}

test('tidying removes what has expired, and nothing that is still good', async () => {
  const service = await sharedTestApp();
  const context = { db: service.app.store.db, clock: service.clock };
  const ada = await newPerson(service);
  const { token } = tokensOf(await login(service, ada));
  const waiting = newEmail();
  const rows = () => rowsOf(service, ada.accountId, waiting);
  await register(service, waiting);
  await resetTokenFor(service, ada.email);
  await ticketFor(service, token);
  await service.call('POST', '/auth/logout', { token: ada.token });
  const all = { sessions: 2, refreshTokens: 2, registrations: 1, resets: 1, tickets: 1, accounts: 1 };
  await pruneAccounts(context);
  assert.deepEqual(await rows(), all);

  service.clock.advance(30 * minutes);
  await pruneAccounts(context);
  assert.deepEqual(await rows(), { ...all, resets: 0, tickets: 0 });

  service.clock.advance(days - 30 * minutes);
  await pruneAccounts(context);
  const live = { sessions: 1, refreshTokens: 1, registrations: 0, resets: 0, tickets: 0, accounts: 1 };
  assert.deepEqual(await rows(), live);

  service.clock.advance(31 * days);
  await pruneAccounts(context);
  assert.deepEqual(await rows(), { ...live, sessions: 0, refreshTokens: 0 });
  assert.equal(
    (await post(service, '/auth/login', { email: ada.email, password: ada.password })).status,
    200,
  );
});
