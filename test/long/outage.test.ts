import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { appendEvents } from '../../src/events/events.ts';
import type { WorkspaceId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { enqueueOperation } from '../../src/operations/operations.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded/embedded-postgres.ts';
import { sql } from '../../src/store/sql.ts';
import { callApi } from '../support/app.ts';
import { Mailbox } from '../support/mailbox.ts';
import { text } from '../support/people.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { openStream } from '../support/sse.ts';
import { stepNames, tenSteps } from '../support/ten-steps.ts';
import { until } from '../support/until.ts';
import { World } from '../support/world.ts';

const outageMs = 30_000;

test('PostgreSQL stopped for 30 s under load: 503 meanwhile, nothing is lost, everything goes on by itself', async (t) => {
  const log = createLog('silent');
  const [serverDir, appDir] = [temporaryFolder('outage-db'), temporaryFolder('outage-app')];
  const folder = await openDataFolder(serverDir);
  let server = await startEmbeddedPostgres(folder, log);
  await server.ready;
  const { host, user, password } = server.connection;
  const config = readConfig({
    SLIPWAY_DATABASE_URL: `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(String(host))}`,
    SLIPWAY_DATA_DIR: appDir,
    SLIPWAY_PORT: '0',
    SLIPWAY_LIMIT_REQUESTS: '1000000',
    SLIPWAY_LIMIT_SIGN_IN: '1000000',
  });
  const app = await startApp(config, log, { kinds: [tenSteps] });
  t.after(async () => {
    await app.stop();
    await server.stop();
    await folder.release();
    for (const dir of [serverDir, appDir]) rmSync(dir, { recursive: true, force: true });
  });
  const world = await World.start(t);
  const { token, workspaceId } = await signUp(app.url, app.store.folder.outboxDir);
  const { db } = app.store;

  // Load: reads, writes that are counted when acknowledged, a reader of the stream, and an operation under way.
  let running = true;
  let acknowledged = 0;
  const refusals = new Set<string>();
  const writers = Array.from({ length: 4 }, async () => {
    while (running) {
      const written = await db
        .transaction((tx) =>
          appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'tick', data: {} }]),
        )
        .then(
          () => true,
          () => false,
        );
      if (written) acknowledged += 1;
      const answer = await callApi(app.url, 'GET', '/auth/me', { token });
      if (answer.status !== 200) {
        refusals.add(`${answer.status} ${text(answer.body.code)} ${answer.headers.get('content-type')}`);
      }
      await sleep(20);
    }
  });
  const seen: number[] = [];
  const reader = (async () => {
    while (running || seen.length < acknowledged) {
      const stream = await openStream(`${app.url}/api/v1/events?after=${seen.at(-1) ?? 0}`, { token });
      if (stream.status === 200) for await (const { id, event } of stream.events()) if (event) seen.push(id);
      await sleep(100);
    }
  })();
  const wish = { workspaceId, kind: 'ten-steps', input: { world: world.url, stepMs: 400 } };
  const id = await db.transaction((tx) => enqueueOperation(tx, app.queue, wish));
  await until(() => world.actsOf(id).length >= 3);

  await server.stop();
  const health = await callApi(app.url, 'GET', '//healthz');
  assert.equal(health.status, 200, 'alive, if not able');
  assert.equal((await callApi(app.url, 'GET', '//readyz')).status, 503);
  await sleep(outageMs);
  server = await startEmbeddedPostgres(folder, log);
  await server.ready;

  await until(async () => (await callApi(app.url, 'GET', '//readyz')).status === 200);
  await until(async () => {
    const row = await db.one<{ state: string }>(sql`select state from operations where id = ${id}`);
    return row?.state === 'succeeded';
  });
  assert.deepEqual(
    world.actsOf(id),
    stepNames.map((name) => [name, 1]),
  );
  running = false;
  await Promise.all(writers);
  assert.deepEqual([...refusals], ['503 database_unavailable application/problem+json']);
  await until(() => seen.length >= acknowledged);
  await app.stop();
  await reader;
  assert.deepEqual(
    seen,
    seen.map((_, index) => index + 1),
    'every event once, in order',
  );
  t.diagnostic(`${acknowledged} acknowledged writes, ${seen.length} events read`);
});

async function signUp(url: string, outbox: string): Promise<{ token: string; workspaceId: WorkspaceId }> {
  const body = { email: 'ada@example.com', password: 'a password for the outage' };
  await callApi(url, 'POST', '/auth/register', { body });
  const code = await new Mailbox(outbox).code(body.email);
  const answer = await callApi(url, 'POST', '/auth/verify-otp', { body: { email: body.email, code } });
  return { token: text(answer.body.accessToken), workspaceId: Object(answer.body.user).workspaces[0].id };
}
