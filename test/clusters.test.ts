import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { quorumInWords } from '../src/engine/swarm/managers.ts';
import { type ClusterId, newId, type WorkspaceId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import type { TestApp } from './support/app.ts';
import { newPerson, type Person } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { addEnvironment } from './support/service-scene.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { until } from './support/until.ts';

let service: TestApp;
before(async () => {
  service = await sharedTestApp();
});

/** As after provisioning; nothing is behind it. */
async function readyServer({ token }: Person, name: string): Promise<string> {
  const body = { name, host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const made = await service.call('POST', '/servers', { token, body });
  assert.equal(made.status, 201, made.text);
  const id = String(made.body.id);
  await service.app.store.db.run(sql`
    update servers set status = 'ready', provisioned_at = now(), host_key = ${`SHA256:${id}`} where id = ${id}`);
  return id;
}

function asking({ token }: Person) {
  return (method: string, path: string, body?: object) =>
    service.call(method, path, { token, ...(body && { body }) });
}

/** As after a join, with this server as its only member; nothing is behind it. */
async function madeCluster({ token }: Person, name: string, serverId: string): Promise<string> {
  const { db } = service.app.store;
  const id = newId<ClusterId>();
  await db.run(sql`
    with made as (
      insert into clusters (workspace_id, id, name, status, check_at, created_at, updated_at)
      select workspace_id, ${id}, ${name}, 'ready', now() + interval '1 day', now(), now()
      from servers where id = ${serverId} returning workspace_id)
    insert into cluster_members (workspace_id, cluster_id, server_id, state, role, is_leader, node_id, created_at)
    select workspace_id, ${id}, ${serverId}, 'ready', 'manager', true, 'node', now() from made`);
  const shown = await service.call('GET', `/clusters/${id}`, { token });
  assert.equal(Object(shown.body.managers).inWords, quorumInWords(1, 1));
  return id;
}

test('a cluster whose servers do not answer fails, says why, holds none of them, and is deleted at once', async () => {
  const person = await newPerson(service);
  const ask = asking(person);
  const serverId = await readyServer(person, 'web-1');
  const made = await ask('POST', '/clusters', { name: 'shop', serverIds: [serverId] });
  assert.equal(made.status, 202, made.text);
  assert.equal(made.body.status, 'creating');
  const id = String(made.body.id);
  await until(async () => (await ask('GET', `/clusters/${id}`)).body.status === 'failed', 'it to fail');
  const { body } = await ask('GET', `/clusters/${id}`);
  assert.equal(Object(body.problem).code, 'port_refused');
  assert.equal(Object(body.problem).step, 'check');
  assert.deepEqual(body.members, []);
  assert.equal((await ask('GET', `/servers/${serverId}`)).body.clusterId, null);
  assert.equal((await ask('PATCH', `/clusters/${id}`, { name: 'store' })).body.name, 'store');
  const listed = await ask('GET', '/clusters');
  assert.deepEqual(
    Array.from(Object(listed.body.items), (each) => Object(each).name),
    ['store'],
  );
  assert.equal((await ask('DELETE', `/clusters/${id}`)).status, 204);
  assertProblem(await ask('GET', `/clusters/${id}`), 404, 'not_found');
});

test('what cannot be a member is refused with the field that names it', async () => {
  const person = await newPerson(service);
  const ask = asking(person);
  const serverId = await readyServer(person, 'web-1');
  const foreign = await readyServer(await newPerson(service), 'theirs');
  const create = (wish: object) => ask('POST', '/clusters', { name: 'shop', serverIds: [serverId], ...wish });
  const paths = (answer: Awaited<ReturnType<typeof ask>>) =>
    Array.from(Object(answer.body.errors), (each) => Object(each).path);
  const network = await create({ network: '10.0.0.5/16' });
  assertProblem(network, 400, 'invalid_input');
  assert.deepEqual(paths(network), ['network']);
  assertProblem(await create({ serverIds: [] }), 400, 'invalid_input');
  assertProblem(await create({ serverIds: [serverId, serverId] }), 400, 'invalid_input');
  const theirs = await create({ serverIds: [serverId, foreign] });
  assertProblem(theirs, 404, 'not_found');
  assert.deepEqual(paths(theirs), ['serverIds/1']);
  await service.app.store.db.run(sql`update servers set status = 'unreachable' where id = ${serverId}`);
  assertProblem(await create({}), 409, 'server_not_ready');
  assertProblem(
    await ask('POST', `/clusters/${serverId}/servers`, { serverIds: [serverId] }),
    404,
    'not_found',
  );
});

test('a member can be neither deleted nor taken by a second cluster, a name is given once, and changes come one at a time', async () => {
  const person = await newPerson(service);
  const ask = asking(person);
  const [first, second] = [await readyServer(person, 'web-1'), await readyServer(person, 'web-2')];
  const id = await madeCluster(person, 'shop', first);
  assert.equal((await ask('GET', `/servers/${first}`)).body.clusterId, id);
  assertProblem(await ask('DELETE', `/servers/${first}`), 409, 'server_in_cluster');
  assertProblem(await ask('DELETE', `/servers/${first}?leave=true`), 409, 'server_in_cluster');
  assertProblem(
    await ask('POST', '/clusters', { name: 'other', serverIds: [first] }),
    409,
    'server_in_cluster',
  );
  assertProblem(await ask('POST', '/clusters', { name: 'Shop', serverIds: [second] }), 409, 'name_taken');
  assertProblem(await ask('DELETE', `/clusters/${id}/servers/${first}`), 409, 'in_use');
  assertProblem(await ask('DELETE', `/clusters/${id}/servers/${second}`), 404, 'not_found');
  assertProblem(await ask('POST', `/clusters/${id}/servers/${second}/drain`), 404, 'not_found');

  const gone = await ask('DELETE', `/clusters/${id}?lost=true`);
  assert.equal(gone.status, 202, gone.text);
  assertProblem(await ask('DELETE', `/clusters/${id}`), 409, 'cluster_busy');
  await until(
    async () => (await ask('GET', `/clusters/${id}`)).status === 404,
    'the cluster to be forgotten',
  );
  assert.equal((await ask('GET', `/servers/${first}`)).body.clusterId, null);
});

test('no environment is put on a member', async () => {
  const person = await newPerson(service);
  const ask = asking(person);
  const serverId = await readyServer(person, 'web-1');
  const id = await madeCluster(person, 'shop', serverId);
  const { db } = service.app.store;
  const own = await db.one<{ workspaceId: WorkspaceId }>(
    sql`select workspace_id as "workspaceId" from clusters where id = ${id}`,
  );
  assert.ok(own);
  const environmentId = await addEnvironment(db, own.workspaceId, null);
  const linked = await ask('PATCH', `/environments/${environmentId}/server`, { serverId });
  assertProblem(linked, 409, 'server_in_cluster');
});
