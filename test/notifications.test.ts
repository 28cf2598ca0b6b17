import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCatcher } from '../lab/services/catcher/catcher.ts';
import { newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { startEnvironmentScene } from './support/environments.ts';
import { newPerson } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';

const slackUrl = 'https://hooks.slack.com/services/T000/B000/secretsecretsecret';
const slack = { type: 'slack', name: 'Team', config: { webhookUrl: slackUrl } };
const base = '/notification-connectors';

async function startScene(env: Record<string, string> = {}) {
  const service = await sharedTestApp(env);
  const person = await newPerson(service);
  const ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    service.call(method, path, {
      token: person.token,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    });
  return { service, person, ask };
}

test('a connector is made, listed, read, changed and deleted, and what it was set up with is never shown', async () => {
  const { service, ask } = await startScene();
  const made = await ask('POST', base, slack);
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers.get('location'), `/api/v1${base}/${made.body.id}`);
  const { id, secret, ...shown } = made.body;
  const { type, name, events, enabled, allProjects, target, lastDelivery, disabledReason } = shown;
  assert.deepEqual([type, name, enabled, allProjects, secret], ['slack', 'Team', true, false, null]);
  assert.deepEqual([target, lastDelivery, disabledReason], ['https://hooks.slack.com/…', null, null]);
  assert.ok(Object(events).includes('deployment_failed') && !Object(events).includes('deployment_started'));
  assert.deepEqual((await ask('GET', `${base}/${id}`)).body, { id, ...shown });
  assert.deepEqual((await ask('GET', base)).body, { items: [{ id, ...shown }], nextCursor: null });
  const change = { name: 'Ops', events: ['server_back'], enabled: false, allProjects: true };
  const changed = await ask('PATCH', `${base}/${id}`, change);
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(
    [changed.body.name, changed.body.events, changed.body.enabled, changed.body.allProjects],
    ['Ops', ['server_back'], false, true],
  );
  const moved = await ask('PATCH', `${base}/${id}`, {
    config: { webhookUrl: 'https://chat.example.com/hooks/moresecret' },
  });
  assert.equal(moved.body.target, 'https://chat.example.com/…', 'Mattermost takes the same messages');
  for (const { text } of [made, changed, moved, await ask('GET', base)])
    assert.doesNotMatch(text, /secretsecret|moresecret/);
  const kept = await service.app.store.db.one<{ sealed: Buffer }>(
    sql`select config_sealed as sealed from notification_connectors where id = ${String(id)}`,
  );
  assert.ok(kept && !kept.sealed.includes('example.com'));
  assert.equal((await ask('DELETE', `${base}/${id}`)).status, 204);
  assertProblem(await ask('GET', `${base}/${id}`), 404, 'not_found');
  assertProblem(await ask('DELETE', `${base}/${id}`), 404, 'not_found');
});

test('the secret of a webhook is made, shown once, and not kept in the clear for a repeated request', async () => {
  const { service, ask } = await startScene();
  const webhook = { type: 'webhook', name: 'Own', config: { url: 'https://example.com/hook' } };
  const headers = { 'idempotency-key': 'one' };
  const made = await ask('POST', base, webhook, headers);
  assert.match(String(made.body.secret), /^whsec_[\w-]{32}$/);
  const again = await ask('POST', base, webhook, headers);
  assert.deepEqual([again.body.id, again.body.secret], [made.body.id, null]);
  const kept = await service.app.store.db.rows<{ body: unknown }>(sql`select body from idempotency_keys`);
  assert.doesNotMatch(JSON.stringify(kept), /whsec_/);
  assert.doesNotMatch((await ask('GET', `${base}/${made.body.id}`)).text, /whsec_|\/hook/);
  const own = { ...webhook, config: { ...webhook.config, secret: 'a secret of my very own' } };
  assert.equal((await ask('POST', base, own)).body.secret, null, 'one that was given is not repeated');
  assertProblem(await ask('POST', base, slack, headers), 422, 'idempotency_mismatch');
});

test('what cannot be a connector is refused with its field', async () => {
  const { ask } = await startScene();
  const post = (body: unknown) => ask('POST', base, body);
  assertInvalid(await post({ ...slack, type: 'pigeon' }), 'type');
  assertInvalid(await post({ ...slack, name: '' }), 'name');
  assertInvalid(await post({ ...slack, name: ' ' }), 'name');
  assertInvalid(await post({ ...slack, events: ['coffee_ready'] }), 'events[0]');
  assertInvalid(await post({ ...slack, odd: 1 }), 'odd');
  assertInvalid(await post({ ...slack, config: {} }), 'config.webhookUrl');
  assertInvalid(await post({ ...slack, config: { webhookUrl: slackUrl, odd: 1 } }), 'config.odd');
  for (const webhookUrl of [
    'http://hooks.slack.com/x',
    'ftp://a.example/x',
    'nonsense',
    'https://a:b@c.example/',
  ])
    assertInvalid(await post({ ...slack, config: { webhookUrl } }), 'config.webhookUrl');
  for (const [type, webhookUrl] of [
    ['slack', 'https://discord.com/api/webhooks/1234567890/XXXX'],
    ['slack', 'https://app.slack.com/client/T000/C000'],
    ['discord', slackUrl],
    ['discord', 'https://discord.com/channels/1/2'],
    ['teams', 'https://teams.microsoft.com/l/channel/19'],
    ['teams', slackUrl],
  ] as const) {
    const answer = await post({ type, name: 'Team', config: { webhookUrl } });
    assertInvalid(answer, 'config.webhookUrl');
    assert.match(answer.text, /is not the address of an? .*, such as https:/);
  }
  const telegram = { botToken: '1234567890:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', chatId: '-100123' };
  const tell = (config: object) => post({ type: 'telegram', name: 'T', config: { ...telegram, ...config } });
  assert.equal((await tell({})).status, 201);
  assertInvalid(await tell({ botToken: 'x/../y' }), 'config.botToken');
  assertInvalid(await tell({ chatId: 'somewhere else' }), 'config.chatId');
  assertInvalid(await tell({ apiUrl: 'http://127.0.0.1' }), 'config.apiUrl');
  const mail = (to: unknown) => post({ type: 'email', name: 'M', config: { to } });
  assertInvalid(await mail([]), 'config.to');
  for (const address of [
    'nobody',
    'a@b',
    'a@example.com, b@example.com',
    'a@example.com\nBcc: b@example.com',
  ])
    assertInvalid(await mail(['ok@example.com', address]), 'config.to[1]');
  assertInvalid(
    await post({ type: 'webhook', name: 'W', config: { url: 'https://e.example', secret: 'short' } }),
    'config.secret',
  );
  const { id } = (await post(slack)).body;
  assertProblem(await ask('PATCH', `${base}/${id}`, {}), 400, 'invalid_input');
  assertInvalid(await ask('PATCH', `${base}/${id}`, { config: { url: 'https://a.example' } }), 'config');
  assertInvalid(await ask('PATCH', `${base}/${id}`, { type: 'discord' }), 'type');
  assertProblem(await ask('GET', `${base}/${newId()}`), 404, 'not_found');
});

test('connectors of another workspace cannot be seen, changed, tested, linked or deleted', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, projectId, ask } = scene;
  const stranger = await newPerson(service);
  const asStranger = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token: stranger.token, ...(body !== undefined && { body }) });
  const theirs = String((await asStranger('POST', base, slack)).body.id);
  const mine = String((await ask('POST', base, slack)).body.id);
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', ''],
    ['POST', '/test'],
    ['GET', '/deliveries'],
  ] as const)
    assertProblem(await ask(method, `${base}/${theirs}${path}`, body), 404, 'not_found');
  assert.doesNotMatch((await ask('GET', base)).text, new RegExp(theirs));
  const link = await ask('PUT', `${base}/project/${projectId}`, { connectorIds: [mine, theirs] });
  assertInvalid(link, 'connectorIds[1]');
  assert.deepEqual(
    (await ask('GET', `${base}/project/${projectId}`)).body.connectorIds,
    [],
    'nothing was linked',
  );
  assertProblem(
    await asStranger('PUT', `${base}/project/${projectId}`, { connectorIds: [theirs] }),
    404,
    'not_found',
  );
  assertProblem(await asStranger('GET', `${base}/project/${projectId}`), 404, 'not_found');
  assert.equal((await asStranger('GET', `${base}/${theirs}`)).body.name, 'Team', 'nothing of it was changed');
});

test('links of a project are replaced, and go with the connector', async (t) => {
  const { projectId, ask } = await startEnvironmentScene(t);
  const ids = [];
  for (const name of ['one', 'two']) ids.push(String((await ask('POST', base, { ...slack, name })).body.id));
  const [one = '', two = ''] = ids;
  const put = (body: object) => ask('PUT', `${base}/project/${projectId}`, body);
  const both = await put({ connectorIds: [one, two, one], events: ['deployment_failed'] });
  assert.equal(both.status, 200, both.text);
  assert.deepEqual(both.body, { projectId, connectorIds: [two, one], events: ['deployment_failed'] });
  assert.deepEqual((await put({ connectorIds: [one] })).body, {
    projectId,
    connectorIds: [one],
    events: null,
  });
  assert.equal((await ask('DELETE', `${base}/${one}`)).status, 204);
  assert.deepEqual((await ask('GET', `${base}/project/${projectId}`)).body.connectorIds, []);
  assertInvalid(await put({ connectorIds: ['x'] }), 'connectorIds[0]');
  assertInvalid(await put({ connectorIds: [], events: ['odd'] }), 'events[0]');
});

test('a test says exactly what the receiver answered, hides the secrets in it, and is listed', async (t) => {
  const catcher = await startCatcher({ address: '127.0.0.1', port: 0 });
  t.after(() => catcher.close());
  const { ask } = await startScene({ SLIPWAY_ALLOW_PRIVATE_EGRESS: 'true' });
  const url = `${catcher.url}/hooks/verysecretpath`;
  const { id } = (await ask('POST', base, { type: 'webhook', name: 'W', config: { url } })).body;
  const run = async () => (await ask('POST', `${base}/${id}/test`)).body;
  const good = await run();
  assert.deepEqual([good.delivered, good.status, good.detail], [true, 200, 'It answered 200: ok']);
  catcher.answer('/hooks/verysecretpath', { status: 410, body: 'gone: /hooks/verysecretpath', times: 1 });
  const bad = await run();
  assert.deepEqual([bad.delivered, bad.status, bad.detail], [false, 410, 'It answered 410: gone: [secret]']);
  catcher.answer('/hooks/verysecretpath', {
    status: 302,
    headers: { location: 'http://169.254.169.254/?x=1' },
    times: 1,
  });
  const redirected = await run();
  assert.match(
    String(redirected.detail),
    /redirects to http:\/\/169\.254\.169\.254, and redirects are not followed/,
  );
  const { items } = (await ask('GET', `${base}/${id}/deliveries`)).body;
  assert.deepEqual(
    Object(items).map((each: Record<string, unknown>) => [
      each.event,
      each.status,
      each.answerStatus,
      each.attempts,
    ]),
    [
      ['test', 'failed', 302, 1],
      ['test', 'failed', 410, 1],
      ['test', 'delivered', 200, 1],
    ],
  );
  assert.equal(Object((await ask('GET', `${base}/${id}`)).body.lastDelivery).status, 'failed');
  assert.equal(catcher.requests().length, 3, 'a test is sent once, whatever comes of it');
});

test('a receiver in a private network is not connected to where that is not allowed', async () => {
  const { ask } = await startScene();
  const config = { url: 'https://127.0.0.1:4433/hook' };
  const { id } = (await ask('POST', base, { type: 'webhook', name: 'W', config })).body;
  const { delivered, status, detail } = (await ask('POST', `${base}/${id}/test`)).body;
  assert.deepEqual([delivered, status], [false, null]);
  assert.match(String(detail), /127\.0\.0\.1 is an address of the machine itself, and is not connected to/);
});
