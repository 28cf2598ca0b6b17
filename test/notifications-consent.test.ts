import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { day } from '../src/clock.ts';
import { sql } from '../src/store/sql.ts';
import { type Answer, callApi, startTestApp } from './support/app.ts';
import { type NotificationScene, startNotificationScene } from './support/notifications.ts';
import { newEmail, newPerson } from './support/people.ts';
import { until } from './support/until.ts';

const statusesOf = ({ body }: Answer): Record<string, string> =>
  Object.fromEntries(
    Object(body.recipients).map((each: Record<string, string>) => [each.address, each.status]),
  );

async function statusOf(
  { ask }: NotificationScene,
  id: string,
  address: string,
): Promise<string | undefined> {
  return statusesOf(await ask('GET', `/notification-connectors/${id}`))[address];
}

const pressTest = ({ ask }: NotificationScene, id: string) =>
  ask('POST', `/notification-connectors/${id}/test`);
const answerWith = ({ service }: NotificationScene, token: string, answer: 'confirm' | 'decline') =>
  service.call('POST', '/notification-recipients/answer', { body: { token, answer } });

/** Mail to someone else that is sent after whatever was to be sent before it. */
async function untilMailIsSent({ service }: NotificationScene): Promise<void> {
  const { db } = service.app.store;
  await until(async () => !(await db.one(sql`select 1 from mail_outbox limit 1`)), 'the outbox to be empty');
}

test('whoever wants strangers to be mailed has them asked once, in words of ours, and nothing else reaches them', async (t) => {
  const scene = await startNotificationScene(t);
  const { service, person, ask } = scene;
  const stranger = newEmail();
  const id = await scene.connector(
    'email',
    { to: [stranger, person.email] },
    { name: 'You have won, go to https://evil.example', allProjects: true },
  );
  const shown = await ask('GET', `/notification-connectors/${id}`);
  assert.deepEqual(statusesOf(shown), { [stranger]: 'pending', [person.email]: 'member' });
  for (let index = 0; index < 4; index += 1) assert.equal((await pressTest(scene, id)).body.delivered, true);
  await scene.raise({ data: { serverName: 'You have won, go to https://evil.example' } });
  await ask('PATCH', `/notification-connectors/${id}`, {
    config: { to: [person.email, stranger.toUpperCase()] },
  });
  await scene.settled(id, ...Array.from({ length: 5 }, () => 'delivered'));
  await untilMailIsSent(scene);
  const asking = await service.mailbox.next(stranger);
  assert.match(asking.text, /#token=consent_/);
  assert.doesNotMatch(`${asking.subject}${asking.text}${asking.html}`, /evil|won/);
  assert.equal(await service.mailbox.unreadCount(stranger), 0);
  assert.equal(await service.mailbox.unreadCount(person.email), 5);

  const alone = await scene.connector('email', { to: [stranger] });
  const { body } = await pressTest(scene, alone);
  assert.equal(body.delivered, false);
  assert.match(String(body.detail), /agreed/);
  // That nobody has agreed is no failure of the connector.
  assert.equal((await ask('GET', `/notification-connectors/${alone}`)).body.failingSince, null);
  await untilMailIsSent(scene);
  assert.equal(await service.mailbox.unreadCount(stranger), 0);
});

test('whoever agrees is sent what comes then, and a scanner that follows the link agrees to nothing', async (t) => {
  const scene = await startNotificationScene(t);
  const { service } = scene;
  const guest = newEmail();
  const id = await scene.connector('email', { to: [guest] });
  const asking = await service.mailbox.next(guest);
  const link = /https?:\/\/\S+#token=(consent_[\w-]+)/.exec(asking.text);
  const [url = '', token = ''] = link ?? [];
  const page = await fetch(url);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /data-answer="confirm"/);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  for (const path of ['page.css', 'page.js'])
    assert.equal((await callApi(service.url, 'GET', `//notifications/${path}`)).status, 200);
  assert.equal(await statusOf(scene, id, guest), 'pending');

  assert.equal((await answerWith(scene, `${token}x`, 'confirm')).body.code, 'invalid_consent_token');
  assert.equal((await answerWith(scene, token, 'confirm')).status, 204);
  assert.equal(await statusOf(scene, id, guest), 'confirmed');
  assert.equal((await answerWith(scene, token, 'decline')).status, 401, 'it works once');
  assert.equal((await pressTest(scene, id)).body.delivered, true);
  const mail = await service.mailbox.next(guest);
  assert.match(mail.subject, /test/);
  assert.match(
    mail.headers['list-unsubscribe'] ?? '',
    /^<https?:\/\/.*\/notifications\/unsubscribe\?token=stop_.*>$/,
  );
  assert.equal(mail.headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click');
  assert.match(mail.text, /notifications\/unsubscribe\?token=/);
  assert.match(mail.html, /notifications\/unsubscribe\?token=/);

  const late = newEmail();
  const slow = await scene.connector('email', { to: [late] });
  const expired = await service.mailbox.consentToken(late);
  service.clock.advance(8 * day);
  assert.equal((await answerWith(scene, expired, 'confirm')).status, 401);
  assert.equal((await pressTest(scene, slow)).body.delivered, false);
  await untilMailIsSent(scene);
  assert.equal(
    await service.mailbox.unreadCount(late),
    0,
    'who does not answer is not asked by every message',
  );
  for (let weeks = 0; weeks < 4; weeks += 1) {
    await scene.ask('PATCH', `/notification-connectors/${slow}`, { config: { to: [late] } });
    service.clock.advance(8 * day);
  }
  await untilMailIsSent(scene);
  assert.equal(await service.mailbox.unreadCount(late), 2, 'and by a person three times in all');
});

test('whoever unsubscribes, by one click of a mail program, is left alone however often they are named again', async (t) => {
  const scene = await startNotificationScene(t);
  const { service, ask } = scene;
  const guest = newEmail();
  const id = await scene.connector('email', { to: [guest] });
  await answerWith(scene, await service.mailbox.consentToken(guest), 'confirm');
  await pressTest(scene, id);
  const { headers } = await service.mailbox.next(guest);
  const link = (headers['list-unsubscribe'] ?? '').slice(1, -1);
  const post = (url: string, type: string, body: string) =>
    fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
  const form = 'application/x-www-form-urlencoded';
  const other = link.replace(/stop_[^_]+/, `stop_${randomUUID()}`);
  assert.equal((await post(other, form, 'List-Unsubscribe=One-Click')).status, 401, 'not for someone else');
  assert.equal((await fetch(link)).status, 200);
  assert.equal(await statusOf(scene, id, guest), 'confirmed', 'looking is no answer');
  const multipart =
    '--x\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
  assert.equal((await post(link, form, 'List-Unsubscribe=One-Click')).status, 200);
  assert.equal(
    (await post(link, 'multipart/form-data; boundary=x', multipart)).status,
    200,
    'a second time too',
  );
  assert.equal(await statusOf(scene, id, guest), 'declined');
  const token = new URL(link).searchParams.get('token') ?? '';
  assert.equal((await answerWith(scene, token, 'confirm')).status, 401, 'it only ends mail');

  assert.equal((await pressTest(scene, id)).body.delivered, false);
  service.clock.advance(30 * day);
  await ask('PATCH', `/notification-connectors/${id}`, { config: { to: [guest] } });
  await ask('DELETE', `/notification-connectors/${id}`);
  const again = await scene.connector('email', { to: [guest] });
  assert.equal((await pressTest(scene, again)).body.delivered, false);
  await untilMailIsSent(scene);
  assert.equal(await service.mailbox.unreadCount(guest), 0);

  const unwilling = newEmail();
  const third = await scene.connector('email', { to: [unwilling] });
  assert.equal(
    (await answerWith(scene, await service.mailbox.consentToken(unwilling), 'decline')).status,
    204,
  );
  assert.equal(await statusOf(scene, third, unwilling), 'declined');
});

test('the mail that asks is no weapon: few a day to one address, and few by one workspace', async (t) => {
  const scene = await startNotificationScene(t, true);
  const { service, ask } = scene;
  const crowd = Array.from({ length: 25 }, newEmail);
  const first = await scene.connector('email', { to: crowd.slice(0, 20) });
  const rest = await scene.connector('email', { to: crowd.slice(20) });
  for (let index = 0; index < 3; index += 1) await pressTest(scene, rest);
  await untilMailIsSent(scene);
  const asked = async () => {
    const counts = await Promise.all(crowd.map((each) => service.mailbox.unreadCount(each)));
    return counts.reduce((sum, each) => sum + each, 0);
  };
  assert.equal(await asked(), 20);
  assert.equal(Object.values(statusesOf(await ask('GET', `/notification-connectors/${rest}`))).length, 5);
  service.clock.advance(day + 1);
  for (const id of [first, rest]) await pressTest(scene, id);
  await untilMailIsSent(scene);
  assert.equal(await asked(), 25, 'those who were too many are asked later, and nobody twice');

  const victim = newEmail();
  for (let index = 0; index < 5; index += 1) {
    const { token } = await newPerson(service);
    const body = { type: 'email', name: 'M', config: { to: [victim] } };
    const made = await service.call('POST', '/notification-connectors', { token, body });
    assert.deepEqual([made.status, statusesOf(made)], [201, { [victim]: 'pending' }]);
  }
  await untilMailIsSent(scene);
  assert.equal(await service.mailbox.unreadCount(victim), 3);
});

test('recipients from before anyone was asked are asked at their next message, which goes to nobody else', async (t) => {
  const scene = await startNotificationScene(t);
  const { service, workspaceId } = scene;
  const old = newEmail();
  const id = await scene.connector('email', { to: [old] });
  await service.mailbox.next(old);
  await service.app.store.db.run(
    sql`delete from notification_recipients where workspace_id = ${workspaceId}`,
  );
  await scene.raise();
  const [delivery] = await scene.settled(id, 'failed');
  assert.match(delivery?.detail ?? '', /agreed/);
  await answerWith(scene, await service.mailbox.consentToken(old), 'confirm');
  await scene.raise();
  await scene.settled(id, 'failed', 'delivered');
  assert.match((await service.mailbox.next(old)).text, /web-1/);
});

test('whoever presses the test button like mad is stopped by a limit of its own', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_LIMIT_TESTS: '2' } });
  const { token, email } = await newPerson(service);
  const body = { type: 'email', name: 'M', config: { to: [email] } };
  const { body: made } = await service.call('POST', '/notification-connectors', { token, body });
  const press = () => service.call('POST', `/notification-connectors/${made.id}/test`, { token });
  assert.deepEqual([(await press()).status, (await press()).status], [200, 200]);
  const stopped = await press();
  assert.deepEqual([stopped.status, stopped.body.code], [429, 'rate_limited']);
  assert.match(stopped.headers.get('ratelimit') ?? '', /"connector-test"/);
  const server = { name: 'web', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const made1 = await service.call('POST', '/servers', { token, body: server });
  assert.equal(made1.status, 201);
  assert.equal((await service.call('POST', '/servers/test-connection', { token, body: server })).status, 200);
  for (const [method, path, sent] of [
    ['POST', '/servers/test-connection', server],
    ['POST', '/servers', { ...server, name: 'web-2' }],
    ['PATCH', `/servers/${made1.body.id}`, { port: 2 }],
  ] as const)
    assert.equal((await service.call(method, path, { token, body: sent })).status, 429, `${method} ${path}`);
});
