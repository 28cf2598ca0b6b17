import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCatcher } from '../lab/services/catcher/catcher.ts';
import { day, hour, minute, second } from '../src/clock.ts';
import type { NoticeKind } from '../src/events/notices.ts';
import { sql } from '../src/store/sql.ts';
import { startTestApp } from './support/app.ts';
import { startNotificationScene } from './support/notifications.ts';
import { until } from './support/until.ts';

const retryAfter = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds }, times: 1 });

test('a notice raised twice with one key is told once, to each connector that listens, and to no other', async (t) => {
  const scene = await startNotificationScene(t);
  const { catcher, connector, raise, settled, deliveries } = scene;
  const one = await connector('webhook', { url: `${catcher.url}/one` });
  const deaf = await connector('webhook', { url: `${catcher.url}/deaf` }, { events: ['server_back'] });
  const off = await connector('webhook', { url: `${catcher.url}/off` }, { enabled: false });
  await raise({ key: 'the same' });
  await raise({ key: 'the same' });
  await settled(one, 'delivered');
  assert.deepEqual([await deliveries(deaf), await deliveries(off)], [[], []]);
  assert.deepEqual(
    catcher.requests().map(({ path }) => path),
    ['/one'],
  );
});

test('a notice is lost with the change that it tells, where that is undone', async (t) => {
  const { service, workspaceId, connector, catcher, raise, settled } = await startNotificationScene(t);
  const id = await connector('webhook', { url: `${catcher.url}/x` });
  const { raiseNotice } = await import('../src/events/notices.ts');
  const { db } = service.app.store;
  const undone = db.transaction(async (tx) => {
    const subject = { type: 'server', id: workspaceId };
    await raiseNotice(tx, { workspaceId, kind: 'server_back', key: 'undone', subject, data: {} });
    throw new Error('undone');
  });
  await assert.rejects(undone, /undone/);
  await raise();
  const [only] = await settled(id, 'delivered');
  assert.equal(only?.event, 'server_unreachable');
});

test('what the receiver puts off is sent again with the same id, not before Retry-After, and then in order', async (t) => {
  const { catcher, connector, raise, settled, later, service, workspaceId } = await startNotificationScene(t);
  const id = await connector('webhook', { url: `${catcher.url}/hook` });
  catcher.answer('/hook', retryAfter('600'));
  await raise({ key: 'first' });
  await until(() => catcher.requests().length === 1);
  await settled(id, 'pending');
  await raise({ key: 'second' });
  later(9 * minute);
  await settled(id, 'pending', 'pending');
  const rows = await service.app.store.db.rows(
    sql`select 1 from notices where workspace_id = ${workspaceId} and dispatched_at is null`,
  );
  assert.equal(rows.length, 0, 'the second one was looked at, and waits behind the first');
  assert.equal(catcher.requests().length, 1);
  later(2 * minute);
  await settled(id, 'delivered', 'delivered');
  const sent = catcher
    .requests()
    .map(({ headers }) => headers.find(({ name }) => name === 'x-slipway-delivery')?.value);
  assert.equal(sent.length, 3);
  assert.equal(sent[0], sent[1], 'a repeat can be told');
  assert.notEqual(sent[1], sent[2]);
});

test('errors of the receiver are tried again with growing pauses, and ten minutes of them lose nothing', async (t) => {
  const { catcher, connector, raise, settled, later, service } = await startNotificationScene(t);
  const id = await connector('webhook', { url: `${catcher.url}/hook` });
  /** Whoever sends by it has done what is due, and has let go of it. */
  const rests = () =>
    service.app.store.db.one(sql`
      select 1 from notification_connectors
      where id = ${id} and wake_at > ${service.clock.now()} and lease_owner is null`);
  catcher.answer('/hook', { status: 500, body: 'ouch' });
  for (const key of ['a', 'b', 'c']) await raise({ key });
  await settled(id, 'pending', 'pending', 'pending');
  await until(() => catcher.requests().length >= 1);
  const tries: number[] = [];
  for (let passed = 0; passed < 10 * minute; passed += 10 * second) {
    const before = catcher.requests().length;
    later(10 * second);
    await until(rests, 'the tries that are due');
    if (catcher.requests().length > before) tries.push(passed);
  }
  assert.ok(tries.length >= 4 && tries.length <= 20, `${tries.length} tries in ten minutes`);
  assert.ok(catcher.requests().length <= 20, 'a receiver in trouble is not hammered');
  catcher.answer('/hook', undefined);
  later(hour);
  const [first] = await settled(id, 'delivered', 'delivered', 'delivered');
  assert.ok(first && first.attempts > 3);
  const ids = catcher
    .requests()
    .map(({ headers }) => headers.find(({ name }) => name === 'x-slipway-delivery')?.value);
  assert.equal(new Set(ids).size, 3, 'three messages, whatever the tries');
});

test('a refusal for good is not repeated, and does not hold up what comes after', async (t) => {
  const { catcher, connector, raise, settled, later } = await startNotificationScene(t);
  const id = await connector('webhook', { url: `${catcher.url}/hook` });
  catcher.answer('/hook', { status: 404, body: 'no such hook', times: 1 });
  await raise({ key: 'a' });
  const [lost] = await settled(id, 'failed');
  assert.deepEqual([lost?.answerStatus, lost?.detail], [404, 'It answered 404: no such hook']);
  await raise({ key: 'b' });
  later(minute);
  await settled(id, 'failed', 'delivered');
  assert.equal(catcher.requests().length, 2);
});

test('a connector that fails for a day is switched off, its owner gets a mail, and it can be switched on again', async (t) => {
  const scene = await startNotificationScene(t);
  const { catcher, connector, raise, settled, later, ask, service, person } = scene;
  const id = await connector('webhook', { url: `${catcher.url}/hook` });
  catcher.answer('/hook', { status: 503, body: 'closed' });
  await raise({ key: 'a' });
  await until(() => catcher.requests().length === 1);
  await settled(id, 'pending');
  for (let tries = 1, passed = 0; passed < 23; passed += 1, tries = catcher.requests().length) {
    later(hour);
    await until(() => catcher.requests().length > tries);
    await settled(id, 'pending');
  }
  assert.equal((await ask('GET', `/notification-connectors/${id}`)).body.enabled, true);
  await raise({ key: 'b' });
  later(2 * hour);
  await settled(id, 'failed', 'failed');
  const { body } = await ask('GET', `/notification-connectors/${id}`);
  assert.equal(body.enabled, false);
  assert.match(
    String(body.disabledReason),
    /^Nothing could be delivered for a day. It answered 503: closed$/,
  );
  const mail = await service.mailbox.next(person.email);
  assert.equal(mail.subject, 'A notification connector was switched off');
  assert.match(mail.text, /«My webhook»[\s\S]*It answered 503: closed/);
  catcher.answer('/hook', undefined);
  assert.equal(
    (await ask('PATCH', `/notification-connectors/${id}`, { enabled: true })).body.disabledReason,
    null,
  );
  await raise({ key: 'c' });
  await settled(id, 'failed', 'failed', 'delivered');
});

test('many at once become one message that lists them, and each is delivered once', async (t) => {
  const { catcher, receivers, connector, raise, settled, later } = await startNotificationScene(t);
  const hook = await connector('webhook', { url: `${catcher.url}/hook` });
  const chat = await connector('discord', receivers.addresses.discord);
  catcher.answer('/hook', { status: 503, times: 1 });
  await raise({ key: 'first' });
  await settled(hook, 'pending');
  const kinds: NoticeKind[] = ['server_unreachable', 'server_back', 'token_revoked'];
  for (let index = 0; index < 30; index += 1)
    await raise({ key: `k${index}`, kind: kinds[index % 3] ?? 'server_back' });
  later(minute);
  const all = Array(31).fill('delivered');
  const sent = await settled(hook, ...all);
  assert.ok(new Set(sent.map(({ messageId }) => messageId)).size <= 3, 'few messages');
  const bodies = catcher.requests().map(({ bodyText }) => JSON.parse(bodyText ?? ''));
  const several = bodies.filter(({ type }) => type === 'several');
  assert.equal(several.length, 1);
  assert.equal(several[0].notices.length, 30);
  for (let more = 0; more < 4; more += 1) later(15 * second);
  await settled(chat, ...all);
  const messages = receivers.messages('discord').length;
  assert.ok(messages >= 2 && messages <= 12, `${messages} messages for 31 notices`);
});

test('a try of which nobody knows the end is repeated to a webhook, and never to a chat', async (t) => {
  const { catcher, receivers, connector, raise, settled, later } = await startNotificationScene(t);
  const hook = await connector('webhook', { url: `${catcher.url}/hook` });
  const chat = await connector('discord', receivers.addresses.discord);
  catcher.answer('/hook', { hangUp: true, times: 1 });
  const path = new URL(receivers.addresses.discord.webhookUrl).pathname;
  receivers.answer(path, { hangUp: true, times: 1 });
  await raise({ key: 'a' });
  await settled(chat, 'unknown');
  later(minute);
  await settled(hook, 'delivered');
  await raise({ key: 'b' });
  later(minute);
  await settled(chat, 'unknown', 'delivered');
  assert.equal(receivers.messages('discord').length, 1);
});

test('what is certainly not sent is tried again: refused connections, certificates, names', async (t) => {
  const { receivers, connector, raise, settled } = await startNotificationScene(t);
  const closed = await startCatcher({ address: '127.0.0.1', port: 0 });
  await closed.close();
  const ids = [
    await connector('discord', { webhookUrl: `${closed.url}/api` }),
    await connector('slack', { webhookUrl: receivers.addresses.wrongCertificate }),
    await connector('teams', { webhookUrl: 'https://nowhere.invalid/x' }),
  ];
  await raise();
  const details: (string | null)[] = [];
  for (const id of ids) {
    await until(async () => ((await settled(id, 'pending'))[0]?.attempts ?? 0) > 0);
    details.push((await settled(id, 'pending'))[0]?.detail ?? '');
  }
  const [refused, certificate, name] = details;
  assert.match(String(refused), /refuses the connection/);
  assert.match(String(certificate), /certificate of 127\.0\.0\.1:\d+ is not trusted/);
  assert.match(String(name), /does not resolve/);
});

test('two instances share the work, and nothing is sent twice', async (t) => {
  const scene = await startNotificationScene(t, true);
  const { catcher, connector, raise, settled, service } = scene;
  await startTestApp(t, { beside: service, env: { SLIPWAY_ALLOW_PRIVATE_EGRESS: 'true' } });
  const ids: string[] = [];
  for (let index = 0; index < 6; index += 1)
    ids.push(await connector('webhook', { url: `${catcher.url}/h${index}` }));
  await Promise.all(['a', 'b', 'c'].map((key) => raise({ key })));
  for (const id of ids) await settled(id, 'delivered', 'delivered', 'delivered');
  const keys = catcher.requests().map(({ path, bodyText }) => `${path} ${JSON.parse(bodyText ?? '').id}`);
  assert.equal(new Set(keys).size, keys.length);
});

test('a connector that is deleted or switched off sends nothing more', async (t) => {
  const { catcher, connector, raise, settled, later, ask } = await startNotificationScene(t);
  const [gone, off] = [
    await connector('webhook', { url: `${catcher.url}/gone` }),
    await connector('webhook', { url: `${catcher.url}/off` }),
  ];
  for (const path of ['/gone', '/off']) catcher.answer(path, { status: 503, times: 1 });
  await raise();
  for (const id of [gone, off]) await until(async () => (await settled(id, 'pending'))[0]?.attempts === 1);
  assert.equal((await ask('DELETE', `/notification-connectors/${gone}`)).status, 204);
  assert.equal((await ask('PATCH', `/notification-connectors/${off}`, { enabled: false })).status, 200);
  await settled(off, 'failed');
  later(day / 2);
  const other = await connector('webhook', { url: `${catcher.url}/other` });
  await raise({ key: 'later' });
  await settled(other, 'delivered');
  assert.deepEqual(
    catcher
      .requests()
      .map(({ path }) => path)
      .sort(),
    ['/gone', '/off', '/other'],
  );
});
