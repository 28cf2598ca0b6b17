import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ensurePlacement,
  placementsOf,
  removePlacement,
} from '../src/areas/environments/placement/placements.ts';
import { Fault } from '../src/fault.ts';
import { type EnvironmentId, newId, type ServerId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { type EnvironmentScene, startEnvironmentScene } from './support/environments.ts';
import { assertInvalid, assertProblem, errorPaths } from './support/problems.ts';

function place({ service, workspaceId }: EnvironmentScene, id: EnvironmentId, serverId: string) {
  const { db } = service.app.store;
  return db.transaction((tx) => ensurePlacement(tx, workspaceId, id, serverId as ServerId, new Date()));
}

/** Rows alone: enough to stand somewhere. */
async function environments({ service, projectId }: EnvironmentScene, count: number) {
  const ids = Array.from({ length: count }, () => newId<EnvironmentId>());
  await service.app.store.db.run(sql`
    insert into environments (workspace_id, id, project_id, name, slug, branch, status, created_at, updated_at)
    select workspace_id, each, p.id, each, each, 'main', 'idle', now(), now()
    from projects p, unnest(${ids}::uuid[]) as each where p.id = ${projectId}`);
  return ids;
}

test('environments that come to a server at once each get a port and a network of their own', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, workspaceId } = scene;
  const [one, two] = [await scene.server('web-1'), await scene.server('web-2')];
  const ids = await environments(scene, 20);
  const places = await Promise.all([...ids, ...ids].map((id) => place(scene, id, one)));
  const sorted = (values: readonly number[]) => [...new Set(values)].sort((a, b) => a - b);
  assert.deepEqual(
    sorted(places.map(({ port }) => port)),
    Array.from({ length: 20 }, (_, index) => 21_000 + index),
  );
  assert.deepEqual(
    sorted(places.map(({ network }) => network)),
    Array.from({ length: 20 }, (_, index) => index),
  );
  for (const [index, id] of ids.entries())
    assert.deepEqual(places[index], places[index + 20], `asked twice at once, ${id} has one place`);
  const [first] = ids;
  assert.ok(first);
  const elsewhere = await place(scene, first, two);
  assert.deepEqual([elsewhere.port, elsewhere.network], [21_000, 0], 'each server has its own');
  const { db } = service.app.store;
  const serversOf = async () => (await placementsOf(db, workspaceId, first)).map(({ serverId }) => serverId);
  assert.deepEqual(await serversOf(), [one, two], 'the older one first');
  const freed = (await placementsOf(db, workspaceId, first))[0];
  await removePlacement(db, workspaceId, first, one as ServerId);
  assert.deepEqual(await serversOf(), [two]);
  const [another] = await environments(scene, 1);
  assert.ok(another);
  const reused = await place(scene, another, one);
  assert.deepEqual([reused.port, reused.network], [freed?.port, freed?.network], 'the lowest that is free');
});

test('a server whose ports are all given away takes no further environment', async (t) => {
  const scene = await startEnvironmentScene(t);
  const serverId = await scene.server('web-1');
  const ids = await environments(scene, 1_000);
  await scene.service.app.store.db.run(sql`
    insert into environment_places (workspace_id, environment_id, server_id, port, network, created_at)
    select ${scene.workspaceId}, each, ${serverId}, 20999 + nth, nth, now()
    from unnest(${ids}::uuid[]) with ordinality as listed (each, nth)`);
  await assert.rejects(
    place(scene, scene.environmentId, serverId),
    (error) => error instanceof Fault && error.code === 'server_full',
  );
});

test('an environment that stands on a server shows its address, and keeps the server from being removed', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, projectId, service } = scene;
  const four = await scene.server('four', '192.0.2.7');
  await place(scene, environmentId, four);
  const url = async () => (await ask('GET', `/environments/${environmentId}`)).body.url;
  assert.equal(await url(), 'http://192.0.2.7:21000');
  const six = await scene.server('six', '2001:db8::7');
  service.clock.advance(1_000);
  await place(scene, environmentId, six);
  assert.equal(await url(), 'http://192.0.2.7:21000', 'until a move is done, the old one serves');
  await removePlacement(service.app.store.db, scene.workspaceId, environmentId, four as ServerId);
  assert.equal(await url(), 'http://[2001:db8::7]:21000');
  const project = await ask('GET', `/projects/${projectId}`);
  assert.equal(Object(project.body.environments)[0].url, 'http://[2001:db8::7]:21000');
  const kept = await ask('DELETE', `/servers/${six}`);
  assertProblem(kept, 409, 'in_use');
  assert.match(kept.text, /Shop: production/);
});

test('a server is linked where it is ready, and let go where nothing stands on it', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId } = scene;
  const patch = (body: object) => ask('PATCH', `/environments/${environmentId}/server`, body);
  const fresh = await ask('POST', '/servers', {
    name: 'new',
    host: '127.0.0.1',
    port: 1,
    auth: { type: 'generated' },
  });
  const early = await patch({ serverId: fresh.body.id });
  assertProblem(early, 409, 'server_not_ready');
  assert.deepEqual(errorPaths(early), ['serverId']);
  const none = await patch({ serverId: newId() });
  assertProblem(none, 404, 'not_found');
  assert.deepEqual(errorPaths(none), ['serverId']);
  const serverId = await scene.server('web-1');
  const linked = await patch({ serverId });
  assert.equal(linked.status, 200, linked.text);
  assert.deepEqual([Object(linked.body.environment).serverId, linked.body.deployment], [serverId, null]);
  await place(scene, environmentId, serverId);
  const stands = await patch({ serverId: null });
  assertProblem(stands, 409, 'in_use');
  assert.ok(stands.body.hint);
  await removePlacement(scene.service.app.store.db, scene.workspaceId, environmentId, serverId as ServerId);
  const free = await patch({ serverId: null });
  assert.deepEqual([free.status, Object(free.body.environment).serverId], [200, null], free.text);
  await patch({ serverId });
  await place(scene, environmentId, serverId);
  await scene.released();
  const moved = await patch({ serverId: await scene.server('web-2') });
  const { id: deploymentId } = Object(moved.body.deployment);
  assert.equal(moved.status, 202, moved.text);
  const where = `/environments/${environmentId}/deployments/${deploymentId}`;
  assert.equal(moved.headers.get('location'), `/api/v1${where}`);
  assert.equal((await ask('GET', where)).body.trigger, 'move');
  assertInvalid(await patch({}), 'serverId');
  assertInvalid(await patch({ serverId: 'x' }), 'serverId');
  assertInvalid(await patch({ serverId, odd: 1 }), 'odd');
});

test('one that runs elsewhere moves with a deployment, and leaves no data behind unasked', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, environmentId, workspaceId, person, ask } = scene;
  const { db } = service.app.store;
  // Wishes are stored, and nobody takes them up: these servers are only rows.
  await db.run(
    sql`insert into operation_limits (scope, subject_id, most) values ('workspace', ${workspaceId}, 0)`,
  );
  const [old, other] = [await scene.server('old'), await scene.server('other')];
  const link = (serverId: string, leaveData = false) =>
    ask('PATCH', `/environments/${environmentId}/server`, { serverId, leaveData });
  const deploymentOf = async (serverId: string, leaveData = false): Promise<string | undefined> => {
    const linked = await link(serverId, leaveData);
    const { deployment, environment } = linked.body;
    assert.equal(linked.status, deployment === null ? 200 : 202, linked.text);
    assert.equal(Object(environment).serverId, serverId);
    return deployment === null ? undefined : Object(deployment).id;
  };
  const refuses = async (serverId: string, path: string) => {
    const refused = await link(serverId);
    assertProblem(refused, 409, 'services_hold_data');
    assert.deepEqual(errorPaths(refused), [path]);
  };
  const moves = () =>
    db.rows<{ id: string; by: string; to: string }>(sql`
      select id, requested_by as by, server_id as to from deployments
      where environment_id = ${environmentId} and trigger = 'move' order by number`);

  assert.equal(await deploymentOf(old), undefined);
  await place(scene, environmentId, old);
  assert.equal(await deploymentOf(other), undefined, 'nothing of it ever ran');
  await deploymentOf(old);
  await scene.released([{ name: 'uploads', path: '/app/uploads' }]);
  await refuses(other, 'volumes/uploads');
  await scene.released();
  await db.run(sql`
    update services set server_id = ${old}, data_version = '17' where environment_id = ${environmentId}`);
  await refuses(other, 'services/postgres');
  assert.deepEqual(await moves(), []);

  const moved = await deploymentOf(other, true);
  assert.ok(moved);
  assert.deepEqual(await moves(), [{ id: moved, by: person.accountId, to: other }]);
  assert.equal(await deploymentOf(other), undefined, 'asked again, there is nothing to do');
  assert.equal(await deploymentOf(old, true), moved, 'the one that waits goes to the new server by itself');
  assert.equal((await moves()).length, 1);
  await ask('POST', `/environments/${environmentId}/deployments/${moved}/cancel`);
  await db.run(sql`
    update environments set status = 'deploying', current_release = null where id = ${environmentId}`);
  const next = await deploymentOf(other, true);
  assert.ok(next && next !== moved, 'after the one that is at work');
  await ask('POST', `/environments/${environmentId}/deployments/${next}/cancel`);
  await db.run(sql`
    update environments set status = 'stopped', wanted = 'stopped' where id = ${environmentId}`);
  assert.equal(await deploymentOf(old, true), undefined, 'what is stopped is not started by it');
});
