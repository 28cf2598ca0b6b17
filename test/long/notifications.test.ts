import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { CaughtRequest } from '../../lab/services/catcher/catcher.ts';
import type { ReceivedMessage } from '../../lab/services/receivers.ts';
import { raiseNotice } from '../../src/events/notices.ts';
import { newId, type ServerId, type WorkspaceId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { connectDatabase } from '../../src/store/database.ts';
import { type Answer, callApi, startTestApp } from '../support/app.ts';
import { newInstance } from '../support/instance.ts';
import { openLab } from '../support/lab.ts';
import { newEmail } from '../support/people.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const { about, client } = await openLab();
const base = '/notification-connectors';
const hostile = 'Fix <!channel> @everyone **bold** <b>x</b> `tick`';

interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

test('each type is delivered for real, in its own format, with what happened in it', async (t) => {
  const env = { SLIPWAY_SMTP_URL: about.smtp, SLIPWAY_ALLOW_PRIVATE_EGRESS: 'true' };
  const service = await startTestApp(t, { env });
  const person = await newPersonByMail(service);
  const ask = (method: string, path: string, body?: unknown) =>
    service.call(method, path, { token: person.token, ...(body !== undefined && { body }) });
  const me = await ask('GET', '/auth/me');
  const workspaceId = Object(me.body.workspaces)[0].id as WorkspaceId;
  const to = newEmail();
  const { receivers } = about;
  const hook = `${about.catcher}/notices-${process.pid}`;
  const configs = {
    slack: { webhookUrl: `${about.slack}/services/T000000001/B000000001/X000000001` },
    discord: receivers.discord,
    telegram: receivers.telegram,
    teams: receivers.teams,
    email: { to: [to] },
    webhook: { url: hook },
  };
  const ids = new Map<string, string>();
  let secret = '';
  for (const [type, config] of Object.entries(configs)) {
    const made = await ask('POST', base, {
      type,
      name: `Lab ${type}`,
      config,
      events: ['deployment_failed'],
    });
    assert.equal(made.status, 201, made.text);
    ids.set(type, String(made.body.id));
    secret = String(made.body.secret ?? secret);
    if (type === 'email') {
      const token = /#token=(consent_[\w-]+)/.exec((await nextMail(to)).text)?.[1];
      const agreed = { body: { token, answer: 'confirm' } };
      assert.equal((await service.call('POST', '/notification-recipients/answer', agreed)).status, 204);
    }
    const tested = await ask('POST', `${base}/${made.body.id}/test`);
    assert.equal(tested.body.delivered, true, `${type}: ${tested.text}`);
  }
  await client.call('DELETE', '/receivers');
  await nextMail(to);
  await client.call('GET', `/requests/next?path=${new URL(hook).pathname}&timeoutMs=10000`);

  const id = newId<ServerId>();
  const commit = { sha: '0123456789abcdef', message: `${hostile}\n\nmore`, author: 'Ada', branch: 'main' };
  const fault = {
    code: 'build_failed',
    step: 'build',
    message: 'The image could not be built.',
    hint: 'Look below.',
    evidence: 'line one\n\u001b[31mnpm error </pre> ``` exit 1\u001b[0m',
  };
  await service.app.store.db.transaction((tx) =>
    raiseNotice(tx, {
      workspaceId,
      kind: 'deployment_failed',
      key: id,
      subject: { type: 'deployment', id },
      data: { number: 12, commit, durationMs: 72_000, fault },
    }),
  );
  for (const [type, connector] of ids)
    await until(async () => {
      const { body } = await ask('GET', `${base}/${connector}/deliveries?limit=1`);
      const [last] = Object(body.items);
      assert.ok(!['failed', 'unknown'].includes(last.status), `${type}: ${JSON.stringify(last)}`);
      return last.event === 'deployment_failed' && last.status === 'delivered';
    });

  const slack = await slackHistory();
  const posted = slack.find(({ text }) => text.includes('Deployment #12 failed'));
  assert.ok(posted, JSON.stringify(slack.map(({ text }) => text)));
  assert.match(JSON.stringify(posted.blocks), /0123456789ab Fix <!channel> @everyone/, 'in a plain text');
  assert.doesNotMatch(posted.text, /<!channel>/);
  const discord = await received('discord');
  assert.deepEqual(discord.allowed_mentions, { parse: [] });
  assert.match(discord.embeds[0].title, /^Deployment \\#12 failed$/);
  const telegram = await received('telegram');
  assert.match(
    telegram.text,
    /Deployment #12 failed[\s\S]*Duration:<\/b> 1 min 12 s[\s\S]*<pre>line one\nnpm error &lt;\/pre&gt;/,
  );
  const card = (await received('teams')).attachments[0].content;
  assert.equal(card.type, 'AdaptiveCard');
  assert.match(JSON.stringify(card), /Deployment #12 failed/);
  const mail = await nextMail(to);
  assert.equal(mail.subject, 'Deployment #12 failed');
  assert.match(mail.text, /Commit: 0123456789ab Fix <!channel>[\s\S]*Duration: 1 min 12 s[\s\S]*npm error/);
  assert.match(mail.html, /&lt;b&gt;x&lt;\/b&gt;/);
  const caught = await nextRequest(new URL(hook).pathname);
  const sent = JSON.parse(caught.bodyText ?? '');
  assert.deepEqual([sent.type, sent.data.number, sent.subject.id], ['deployment_failed', 12, id]);
  verifyBySomebodyElse(caught, secret);
});

test('killed in the middle of sending, nothing is lost, and nothing is sent twice to who could not tell', async (t) => {
  const databaseUrl = await createTestDatabase();
  const instance = newInstance(t);
  const path = `/killed-${process.pid}`;
  const settings = {
    SLIPWAY_DATABASE_URL: databaseUrl,
    SLIPWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    SLIPWAY_SMTP_URL: about.smtp,
    SLIPWAY_ALLOW_PRIVATE_EGRESS: 'true',
    SLIPWAY_LIMIT_REQUESTS: '100000',
  };
  const first = instance.start(settings);
  const url = await first.url();
  const person = await register(url);
  const call = (at: string) => (method: string, where: string, body?: unknown) =>
    callApi(at, method, where, { token: person, ...(body !== undefined && { body }) });
  let ask = call(url);
  const me = await ask('GET', '/auth/me');
  const workspaceId = Object(me.body.workspaces)[0].id as WorkspaceId;
  const webhook = String((await made(ask, 'webhook', { url: `${about.catcher}${path}` })).id);
  const discord = String((await made(ask, 'discord', about.receivers.discord)).id);
  const discordPath = new URL(about.receivers.discord.webhookUrl).pathname;
  await client.call('PUT', '/requests/answers', { path, delayMs: 20_000, times: 1 });
  await client.call('PUT', '/receivers/answers', { path: discordPath, delayMs: 20_000, times: 1 });
  await client.call('DELETE', '/receivers');
  const db = connectDatabase({ connectionString: databaseUrl }, createLog('silent'));
  t.after(() => db.close());
  const raise = (key: string) =>
    db.transaction((tx) => {
      const id = newId<ServerId>();
      const subject = { type: 'server', id };
      return raiseNotice(tx, { workspaceId, kind: 'server_back', key, subject, data: { serverName: key } });
    });
  await raise('during');
  const begun = await nextRequest(path);
  await until(async () => (await statuses(ask, discord))[0] === 'sending');
  await first.kill('SIGKILL');
  await raise('while-away');
  const second = instance.start(settings);
  ask = call(await second.url());
  await until(async () => (await statuses(ask, webhook)).join() === 'delivered,delivered');
  await until(async () => (await statuses(ask, discord)).join() === 'unknown,delivered');
  const { requests } = await client.call<{ requests: CaughtRequest[] }>('GET', `/requests?path=${path}`);
  const ids = requests.map((each) => header(each, 'x-slipway-delivery'));
  assert.equal(
    ids.filter((id) => id === header(begun, 'x-slipway-delivery')).length,
    2,
    'a repeat that can be told',
  );
  assert.equal(new Set(ids).size, 2, 'two messages');
  const { messages } = await client.call<{ messages: ReceivedMessage[] }>(
    'GET',
    '/receivers?receiver=discord',
  );
  assert.equal(
    messages.filter(({ body }) => JSON.stringify(body).includes('during')).length,
    0,
    'not sent again',
  );
  assert.equal(messages.filter(({ body }) => JSON.stringify(body).includes('while\\\\-away')).length, 1);
});

type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

async function made(ask: Ask, type: string, config: object): Promise<Record<string, unknown>> {
  const answer = await ask('POST', base, { type, name: type, config });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function statuses(ask: Ask, id: string): Promise<string[]> {
  const { body } = await ask('GET', `${base}/${id}/deliveries`);
  return Object(body.items)
    .map((each: { status: string }) => each.status)
    .reverse();
}

/** OpenSSL, which shares no code with what signs. */
function verifyBySomebodyElse(caught: CaughtRequest, secret: string): void {
  const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header(caught, 'x-slipway-signature')) ?? [];
  const input = Buffer.concat([Buffer.from(`${t}.`), Buffer.from(caught.bodyBase64, 'base64')]);
  const hmac = ['-mac', 'HMAC', '-macopt', `hexkey:${Buffer.from(secret).toString('hex')}`];
  const said = execFileSync('openssl', ['dgst', '-sha256', ...hmac], { input }).toString();
  assert.equal(said.trim().split(' ').at(-1), v1);
  assert.ok(Math.abs(Number(t) - Date.now() / 1000) < 300);
}

function header({ headers }: CaughtRequest, wanted: string): string {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
}

function nextRequest(path: string): Promise<CaughtRequest> {
  return client.call('GET', `/requests/next?path=${path}&timeoutMs=15000`);
}

function nextMail(to: string): Promise<Mail> {
  return client.call('GET', `/mail/next?to=${to}&timeoutMs=15000`);
}

/** Of a deployment: other tests send to the same receivers, of other things. */
async function received(receiver: string) {
  for (;;) {
    const path = `/receivers/next?receiver=${receiver}&timeoutMs=15000`;
    const { body } = await client.call<ReceivedMessage>('GET', path);
    if (JSON.stringify(body).includes('Deployment')) return Object(body);
  }
}

async function slackHistory(): Promise<{ text: string; blocks: unknown }[]> {
  const call = async (method: string, body: object) => {
    const headers = { authorization: 'Bearer xoxb-lab', 'content-type': 'application/json' };
    const answer = await fetch(`${about.slack}/api/${method}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return Object(await answer.json());
  };
  return (await call('conversations.history', { channel: 'C000000001' })).messages;
}

async function codeFor(email: string): Promise<string> {
  const { text } = await nextMail(email);
  return /\b(\d{6})\b/.exec(text)?.[1] ?? '';
}

async function newPersonByMail(service: Awaited<ReturnType<typeof startTestApp>>) {
  return { token: await register(service.url) };
}

/** The access token of somebody new, whose code came by the lab's mail server. */
async function register(url: string): Promise<string> {
  const email = newEmail();
  const asked = await callApi(url, 'POST', '/auth/register', {
    body: { email, password: 'a long enough password' },
  });
  assert.equal(asked.status, 201, asked.text);
  const body = { email, code: await codeFor(email) };
  const verified = await callApi(url, 'POST', '/auth/verify-otp', { body });
  assert.equal(verified.status, 200, verified.text);
  return String(verified.body.accessToken);
}
