import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type EnvironmentId, newId, type ProjectId } from '../src/ids.ts';
import { createLog } from '../src/log.ts';
import { connectDatabase } from '../src/store/database.ts';
import { sql } from '../src/store/sql.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { newPerson, type Person, text } from './support/people.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { openStream } from './support/sse.ts';

/** On no server: what it shows is empty, and all the rest of the route is as it always is. */
async function newEnvironment(t: TestContext, service: TestApp, { token }: Person): Promise<EnvironmentId> {
  const me = await service.call('GET', '/auth/me', { token });
  const workspaceId = text(
    Object(Object(Object(me.body).workspaces ?? Object(me.body.user).workspaces)[0]).id,
  );
  const db = connectDatabase({ connectionString: service.databaseUrl }, createLog('silent'));
  t.after(() => db.close());
  const [projectId, id, now] = [newId<ProjectId>(), newId<EnvironmentId>(), new Date()];
  await db.run(sql`
    insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, root_directory, status,
      analysis_status, created_at, updated_at)
    values (${workspaceId}, ${projectId}, 'Shop', ${projectId}, 'url', 'shop', 'https://example.com/shop', '.', 'active',
      'succeeded', ${now}, ${now})`);
  await db.run(sql`
    insert into environments (workspace_id, id, project_id, name, slug, branch, status, created_at, updated_at)
    values (${workspaceId}, ${id}, ${projectId}, 'production', ${id}, 'main', 'idle', ${now}, ${now})`);
  return id;
}

test('what runs now is shown to those whose environment it is, and to nobody else', async (t) => {
  const service = await sharedTestApp();
  const [owner, stranger] = [await newPerson(service), await newPerson(service)];
  const id = await newEnvironment(t, service, owner);
  for (const path of [`/environments/${id}/logs`, `/environments/${id}/containers`]) {
    assert.equal((await service.call('GET', path)).status, 401);
    const other = await service.call('GET', path, { token: stranger.token });
    assert.deepEqual([other.status, other.body.code], [404, 'not_found']);
    assert.equal((await service.call('GET', `${path}?unknown=1`, { token: owner.token })).status, 400);
  }
  for (const tail of ['-1', '1001', 'x'])
    assert.equal(
      (await service.call('GET', `/environments/${id}/logs?tail=${tail}`, { token: owner.token })).status,
      400,
    );

  const containers = await service.call('GET', `/environments/${id}/containers`, { token: owner.token });
  assert.equal(containers.status, 200, containers.text);
  assert.deepEqual(containers.body.containers, []);
  assert.ok(!Number.isNaN(Date.parse(text(containers.body.checkedAt))));
});

test('the stream begins with the state, ten may watch, and a stop of the service ends it', async (t) => {
  const service = await startTestApp(t);
  const owner = await newPerson(service);
  const id = await newEnvironment(t, service, owner);
  const headers = { authorization: `Bearer ${owner.token}` };
  const url = `${service.url}/api/v1/environments/${id}/logs`;
  const gone = new AbortController();
  const open = () => fetch(url, { headers, signal: gone.signal });
  const all = [];
  for (let count = 0; count < 10; count += 1) {
    const answer = await open();
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const { value = '' } = (await reader?.read()) ?? {};
    assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const [id, event, data = ''] = (value.split('\n\n')[0] ?? '').split('\n');
    assert.deepEqual([id, event], ['id: 1', 'event: state']);
    const told = JSON.parse(data.slice('data: '.length));
    assert.deepEqual(told, { kind: 'state', at: told.at, containers: [] });
    all.push(reader);
  }
  const refused = await open();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  // What cuts the connections that are left when the time for a stop has run out.
  const cut = t.mock.method(service.app.server.server, 'closeAllConnections');
  await service.app.stop();
  // Without an `end`: there is more to see for who comes back.
  const { done } = (await all[0]?.read()) ?? {};
  assert.deepEqual([done, cut.mock.callCount()], [true, 0]);
  gone.abort();
});

test('where the environment is deleted, its stream says that it has ended', async (t) => {
  const service = await sharedTestApp();
  const owner = await newPerson(service);
  const id = await newEnvironment(t, service, owner);
  const reader = await openStream(`${service.url}/api/v1/environments/${id}/logs`, { token: owner.token });
  const seen: string[] = [];
  for await (const { event } of reader.events()) {
    seen.push(event);
    if (event !== 'state') continue;
    const gone = await service.call('DELETE', `/environments/${id}`, { token: owner.token });
    assert.ok(gone.status < 300, gone.text);
  }
  assert.deepEqual(seen, ['state', 'problem', 'end']);
});
