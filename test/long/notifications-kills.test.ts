import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CaughtRequest } from '../../lab/services/catcher/catcher.ts';
import type { ReceivedMessage } from '../../lab/services/receivers.ts';
import { raiseNotice } from '../../src/events/notices.ts';
import { newId, type ServerId, type WorkspaceId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { connectDatabase } from '../../src/store/database.ts';
import { sql } from '../../src/store/sql.ts';
import { callApi } from '../support/app.ts';
import { newInstance } from '../support/instance.ts';
import { openLab } from '../support/lab.ts';
import { newEmail } from '../support/people.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const { about, client } = await openLab();
const rounds = 6;

test('killed at any moment, again and again: a webhook gets everything, a chat nothing twice', async (t) => {
  const databaseUrl = await createTestDatabase();
  const instance = newInstance(t);
  const settings = {
    SLIPWAY_DATABASE_URL: databaseUrl,
    SLIPWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    SLIPWAY_SMTP_URL: about.smtp,
    SLIPWAY_ALLOW_PRIVATE_EGRESS: 'true',
    // Its port is another after each start, and links would be too.
    SLIPWAY_PUBLIC_URL: 'https://slipway.lab.test',
  };
  const path = `/kills-${process.pid}`;
  const db = connectDatabase({ connectionString: databaseUrl }, createLog('silent'));
  t.after(() => db.close());
  let service = instance.start(settings);
  const url = await service.url();
  const token = await register(url);
  const made = async (type: string, config: object) => {
    const body = { type, name: type, config };
    const answer = await callApi(url, 'POST', '/notification-connectors', { token, body });
    assert.equal(answer.status, 201, answer.text);
  };
  await made('webhook', { url: `${about.catcher}${path}` });
  await made('discord', about.receivers.discord);
  const workspace = await db.one<{ id: WorkspaceId }>(sql`select id from workspaces`);
  assert.ok(workspace);
  const names: string[] = [];
  const tries = async () => {
    const row = await db.one<{ sum: number }>(
      sql`select coalesce(sum(attempts), 0)::int as sum from notification_deliveries`,
    );
    return row?.sum ?? 0;
  };
  for (let round = 0; round < rounds; round += 1) {
    // Slow enough that a kill may hit the middle of an exchange.
    await client.call('PUT', '/requests/answers', { path, delayMs: 150, times: 1 });
    const before = await tries();
    for (let index = 0; index < 2; index += 1) {
      const serverName = `round${round}x${index}of${process.pid}`;
      names.push(serverName);
      const id = newId<ServerId>();
      const notice = { workspaceId: workspace.id, kind: 'server_back', key: id } as const;
      const subject = { type: 'server', id };
      await db.transaction((tx) => raiseNotice(tx, { ...notice, subject, data: { serverName } }));
    }
    // From the moment somebody has begun to send, a little later each time: before, in and after the exchange.
    await until(async () => (await tries()) > before);
    await sleep(round * 50);
    await service.kill('SIGKILL');
    // As if its lease had run out: nobody is there any more who could have it.
    await db.run(sql`update notification_connectors set lease_until = now() where lease_until is not null`);
    service = instance.start(settings);
    await service.url();
  }
  const open = () =>
    db.rows(sql`select 1 from notification_deliveries where status in ('pending', 'sending')`);
  const undispatched = () => db.rows(sql`select 1 from notices where dispatched_at is null`);
  await until(async () => (await undispatched()).length === 0 && (await open()).length === 0);
  const { requests } = await client.call<{ requests: CaughtRequest[] }>('GET', `/requests?path=${path}`);
  const told = requests.map(({ bodyText }) => bodyText ?? '');
  for (const name of names)
    assert.ok(
      told.some((text) => text.includes(`"${name}"`)),
      `${name} was lost`,
    );
  const byId = Map.groupBy(told, (text) => String(JSON.parse(text).id));
  for (const repeats of byId.values()) assert.equal(new Set(repeats).size, 1, 'a repeat says the same');
  const messages = await client.call<{ messages: ReceivedMessage[] }>('GET', '/receivers?receiver=discord');
  const chat = messages.messages.map(({ body }) => JSON.stringify(body));
  for (const name of names) {
    // The name stands in the title or in the list, and once more among the facts of a single one.
    const count = chat.filter((text) => text.includes(name)).length;
    assert.ok(count <= 1, `${name} was sent ${count} times`);
  }
  const rows = await db.rows<{ status: string; count: number }>(sql`
    select d.status, count(*)::int as count from notification_deliveries d
    join notification_connectors c on c.id = d.connector_id where c.type = 'discord' group by 1`);
  const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  assert.equal((counts.delivered ?? 0) + (counts.unknown ?? 0), names.length, JSON.stringify(counts));
  t.diagnostic(
    `discord: ${JSON.stringify(counts)}; webhook: ${requests.length} requests, ${byId.size} messages`,
  );
});

async function register(url: string): Promise<string> {
  const email = newEmail();
  const password = 'a long enough password';
  assert.equal((await callApi(url, 'POST', '/auth/register', { body: { email, password } })).status, 201);
  const { text } = await client.call<{ text: string }>('GET', `/mail/next?to=${email}&timeoutMs=120000`);
  const body = { email, code: /\b(\d{6})\b/.exec(text)?.[1] };
  const verified = await callApi(url, 'POST', '/auth/verify-otp', { body });
  assert.equal(verified.status, 200, verified.text);
  return String(verified.body.accessToken);
}
