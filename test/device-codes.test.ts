/** A program signed in by a browser: two codes, one answer, one session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pruneAccounts } from '../src/areas/accounts/sessions.ts';
import { sql } from '../src/store/sql.ts';
import type { Answer, TestApp } from './support/app.ts';
import { newPerson, type Person, text } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { actionsOf, newGuarded } from './support/second-factors.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { me, minutes, post, seconds, tokensOf } from './support/steps.ts';

const cli = { 'user-agent': 'slipway-cli/1.0.0 node/24.1.0' };

async function begin(service: TestApp, deviceName = 'adas-laptop') {
  const answer = await post(service, '/auth/device-codes', { deviceName }, cli);
  assert.equal(answer.status, 201, answer.text);
  return { deviceCode: text(answer.body.deviceCode), userCode: text(answer.body.userCode), answer };
}

const look = (service: TestApp, deviceCode: string, headers: Record<string, string> = cli) =>
  post(service, '/auth/login/device-code', { deviceCode }, headers);

const verify = (service: TestApp, { token }: Pick<Person, 'token'>, userCode: string) =>
  service.call('POST', '/auth/device-codes/verify', { token, body: { userCode } });

const decide = (service: TestApp, { token }: Pick<Person, 'token'>, userCode: string, allow = true) =>
  service.call('POST', '/auth/device-codes/answer', { token, body: { userCode, allow } });

function pending(answer: Answer, interval = 2): void {
  assert.deepEqual([answer.status, answer.body], [202, { interval }], answer.text);
}

test('a program waits, the person sees what asks and allows it, and it is signed in once', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { deviceCode, userCode, answer } = await begin(service);
  assert.match(userCode, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.deepEqual(
    [answer.body.verificationUri, answer.body.expiresIn, answer.body.interval],
    [`${service.url}/device`, 600, 2],
  );
  pending(await look(service, deviceCode));
  const seen = await verify(service, ada, ` ${userCode.toLowerCase().replace('-', ' ')} `);
  assert.equal(seen.status, 200, seen.text);
  assert.deepEqual(
    { ...seen.body, ip: undefined },
    {
      deviceName: 'adas-laptop',
      userAgent: cli['user-agent'],
      ip: undefined,
      sameNetwork: true,
      requestedAt: service.clock.now().toISOString(),
      expiresAt: new Date(service.clock.now().getTime() + 10 * minutes).toISOString(),
    },
  );
  assert.equal((await decide(service, ada, userCode)).status, 204);
  const { token, refreshToken } = tokensOf(await look(service, deviceCode));
  assert.match(refreshToken, /^refresh_/);
  assert.equal(await me(service, token), 200);
  assertProblem(await look(service, deviceCode), 401, 'expired_token');
  assertProblem(await decide(service, ada, userCode), 404, 'not_found');
  const { body } = await service.call('GET', '/auth/sessions', { token });
  const own = Object(body.items).find(({ current }: { current: boolean }) => current);
  assert.equal(own.device, 'the Slipway command line');
  const actions = await actionsOf(service, ada.accountId);
  assert.deepEqual(actions.slice(-2), ['answerDeviceCode', 'signIn']);
  const [entry] = await service.app.store.db.rows<{ changes: unknown }>(sql`
    select changes from audit_entries where account_id = ${ada.accountId} and action = 'signIn' order by id desc limit 1`);
  assert.deepEqual(entry?.changes, { deviceName: 'adas-laptop' });
});

test('of many who look at once, one is signed in', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { deviceCode, userCode } = await begin(service);
  await decide(service, ada, userCode);
  const answers = await Promise.all(Array.from({ length: 8 }, () => look(service, deviceCode)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array.from({ length: 7 }, () => 401)]);
});

test('who refuses is not asked again, and the program is told', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { deviceCode, userCode } = await begin(service);
  assert.equal((await decide(service, ada, userCode, false)).status, 204);
  assertProblem(await decide(service, ada, userCode, true), 404, 'not_found');
  assertProblem(await verify(service, ada, userCode), 404, 'not_found');
  for (let count = 0; count < 2; count += 1)
    assertProblem(await look(service, deviceCode), 403, 'access_denied');
});

test('who looks too soon waits longer, from then on', async () => {
  const service = await sharedTestApp();
  const { deviceCode } = await begin(service);
  pending(await look(service, deviceCode));
  service.clock.advance(2 * seconds);
  pending(await look(service, deviceCode));
  service.clock.advance(seconds);
  const early = await look(service, deviceCode);
  assertProblem(early, 429, 'slow_down');
  assert.equal(early.headers.get('retry-after'), '7');
  service.clock.advance(6 * seconds);
  assert.equal((await look(service, deviceCode)).headers.get('retry-after'), '12');
  service.clock.advance(12 * seconds);
  pending(await look(service, deviceCode), 12);
  for (let count = 0; count < 12; count += 1) await look(service, deviceCode);
  assert.equal((await look(service, deviceCode)).headers.get('retry-after'), '60');
});

test('after ten minutes both codes are nothing, allowed or not, and are deleted', async () => {
  const service = await sharedTestApp();
  const ada = await newGuarded(service);
  const [late, allowed] = [await begin(service), await begin(service)];
  assert.equal((await decide(service, ada, allowed.userCode)).status, 204);
  service.clock.advance(10 * minutes);
  for (const { deviceCode } of [late, allowed])
    assertProblem(await look(service, deviceCode), 401, 'expired_token');
  assertProblem(await verify(service, ada, late.userCode), 404, 'not_found');
  const { db } = service.app.store;
  await pruneAccounts({ db, clock: service.clock });
  const old = sql`select 1 from device_codes where expires_at <= ${service.clock.now()}`;
  assert.equal(await db.exists(old), false);
});

test('what is stored tells neither code', async () => {
  const service = await sharedTestApp();
  const { deviceCode, userCode } = await begin(service, 'stored');
  const rows = await service.app.store.db.rows<{ row: string }>(
    sql`select d::text as row from device_codes d where device_name = 'stored'`,
  );
  assert.equal(rows.length, 1);
  for (const form of [deviceCode, userCode, userCode.replace('-', '')])
    for (const shown of [form, Buffer.from(form).toString('hex')])
      assert.ok(!rows[0]?.row.includes(shown), shown);
});

test('another program than the one that asked gets nothing, and uses nothing up', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { deviceCode, userCode } = await begin(service);
  await decide(service, ada, userCode);
  assertProblem(await look(service, deviceCode, { 'user-agent': 'curl/8' }), 401, 'expired_token');
  assert.equal((await look(service, deviceCode)).status, 200);
});

test('allowing asks for a fresh proof, refusing does not; the new session is as fresh as that proof', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const [one, other] = [await begin(service), await begin(service)];
  service.clock.advance(9 * minutes);
  assert.equal((await decide(service, ada, one.userCode)).status, 204);
  const { token } = tokensOf(await look(service, one.deviceCode));
  const strong = { name: 'x', abilities: ['manage'] };
  const make = (bearer: string) => service.call('POST', '/api-tokens', { token: bearer, body: strong });
  assert.equal((await make(token)).status, 201);
  service.clock.advance(minutes - 1);
  const third = await begin(service);
  service.clock.advance(1);
  assertProblem(await make(token), 403, 'fresh_proof_required');
  assertProblem(await decide(service, ada, third.userCode), 403, 'fresh_proof_required');
  assert.equal((await decide(service, ada, third.userCode, false)).status, 204);
  assertProblem(await look(service, other.deviceCode), 401, 'expired_token');
});

test('an API token and a session that has ended allow nothing', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const made = await service.call('POST', '/api-tokens', {
    token: ada.token,
    body: { name: 'x', abilities: ['manage'] },
  });
  const { deviceCode, userCode } = await begin(service);
  const program = { token: text(made.body.token) };
  assertProblem(await verify(service, program, userCode), 403, 'forbidden');
  assertProblem(await decide(service, program, userCode), 403, 'forbidden');
  assert.equal((await decide(service, ada, userCode)).status, 204);
  // As after a new password: what that session allowed ends with it.
  assert.equal((await service.call('POST', '/auth/logout', { token: ada.token })).status, 204);
  assertProblem(await look(service, deviceCode), 401, 'expired_token');
});

test('codes that are none are told so, and a name is one line', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  for (const userCode of ['AAAA-AAAA', '%', '😀'.repeat(10), 'BCDF GHJK'])
    assertProblem(await verify(service, ada, userCode), 404, 'not_found');
  assertInvalid(await verify(service, ada, ''), 'userCode');
  assertInvalid(await verify(service, ada, 'B'.repeat(41)), 'userCode');
  for (const deviceCode of ['device_code_x', 'x', '%'])
    assertProblem(await look(service, deviceCode), 401, 'expired_token');
  for (const deviceName of ['', ' ', 'a\nb', 'a\x1b[31m', '\u202egnp.exe', 'a'.repeat(101)])
    assertInvalid(await post(service, '/auth/device-codes', { deviceName }, cli), 'deviceName');
});

test('guessing codes is limited, and so is asking for them', async () => {
  const service = await sharedTestApp({ SLIPWAY_LIMIT_SIGN_IN: '10' });
  const ada = await newPerson(service);
  const statuses = async (send: () => Promise<Answer>) => {
    const answers = [];
    for (let count = 0; count < 11; count += 1) answers.push((await send()).status);
    return answers;
  };
  const guesses = await statuses(() => verify(service, ada, 'BBBB-BBBB'));
  assert.deepEqual([guesses[9], guesses[10]], [404, 429]);
  const answers = await statuses(() => decide(service, ada, 'BBBB-BBBB'));
  assert.deepEqual([answers[9], answers[10]], [404, 429]);
  const begun = await statuses(() => post(service, '/auth/device-codes', { deviceName: 'x' }, cli));
  assert.deepEqual([begun[9], begun[10]], [201, 429]);
});
