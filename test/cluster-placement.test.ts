import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placementsOf } from '../src/areas/environments/placement/placements.ts';
import { replicaPortsOf } from '../src/engine/placement.ts';
import { type ClusterId, type EnvironmentId, newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { type EnvironmentScene, startEnvironmentScene } from './support/environments.ts';
import { assertInvalid, assertProblem, errorPaths } from './support/problems.ts';
import { until } from './support/until.ts';

interface MadeCluster {
  readonly clusterId: string;
  readonly serverIds: readonly string[];
}

/** As after a join; nothing is behind it. */
async function cluster(scene: EnvironmentScene, name: string, servers: number): Promise<MadeCluster> {
  const { db } = scene.service.app.store;
  const clusterId = newId<ClusterId>();
  await db.run(sql`
    insert into clusters (workspace_id, id, name, status, check_at, created_at, updated_at)
    values (${scene.workspaceId}, ${clusterId}, ${name}, 'ready', now() + interval '1 day', now(), now())`);
  const serverIds: string[] = [];
  for (let place = 1; place <= servers; place += 1) {
    const id = await scene.server(`${name}-${place}`);
    await db.run(sql`
      insert into cluster_members (workspace_id, cluster_id, server_id, state, role, is_leader, node_id, address,
        created_at)
      values (${scene.workspaceId}, ${clusterId}, ${id}, 'ready', 'manager', ${place === 1}, ${`node-${place}`},
        ${`10.0.0.${place}`}, now() + ${place} * interval '1 second')`);
    serverIds.push(id);
  }
  return { clusterId, serverIds };
}

async function made(scene: EnvironmentScene, name: string, body: object): Promise<EnvironmentId> {
  const answer = await scene.ask('POST', '/environments', { projectId: scene.projectId, name, ...body });
  assert.equal(answer.status, 201, answer.text);
  return String(answer.body.id) as EnvironmentId;
}

test('an environment is placed on a cluster, with a home, and a port that is its own on every member', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, service, workspaceId } = scene;
  const { db } = service.app.store;
  const { clusterId, serverIds } = await cluster(scene, 'shop', 2);
  const placement = { clusterId, replicas: 3 };
  const first = await made(scene, 'one', { placement, services: [] });
  const second = await made(scene, 'two', { placement: { clusterId }, services: [] });
  const shown = (await ask('GET', `/environments/${first}`)).body;
  assert.deepEqual(shown.placement, { clusterId, replicas: 3, spread: 'even' });
  assert.equal(Object(shown.settings).replicas, 3);
  const homes = [shown.serverId, (await ask('GET', `/environments/${second}`)).body.serverId];
  assert.deepEqual(new Set(homes), new Set(serverIds), 'two environments have two homes');
  for (const id of [first, second])
    assert.equal((await ask('POST', `/environments/${id}/deployments`, {})).status, 202);
  const places = [
    ...(await placementsOf(db, workspaceId, first)),
    ...(await placementsOf(db, workspaceId, second)),
  ];
  assert.deepEqual(
    places.map((place) => [place.clusterId, place.port, place.network]),
    [
      [clusterId, 21_000, 0],
      [clusterId, 21_001, 1],
    ],
  );
  const ports = places.flatMap(replicaPortsOf);
  assert.equal(new Set(ports).size, 64, 'no port of a replica is given twice');

  const fewer = await ask('PATCH', `/environments/${first}/server`, {
    placement: { clusterId, replicas: 2 },
  });
  assert.equal(fewer.status, 200, fewer.text);
  assert.deepEqual(Object(fewer.body.environment).placement, { clusterId, replicas: 2, spread: 'even' });
  assert.equal(Object(fewer.body.environment).serverId, homes[0], 'it keeps its home');
});

test('replicas are packed where that is asked for, by the placement or the setting, and even otherwise', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask } = scene;
  const { clusterId } = await cluster(scene, 'shop', 2);
  const id = await made(scene, 'one', { placement: { clusterId, spread: 'packed' }, services: [] });
  const shown = async () => {
    const { placement, settings } = (await ask('GET', `/environments/${id}`)).body;
    return [Object(placement).spread, Object(settings).spread];
  };
  assert.deepEqual(await shown(), ['packed', 'packed']);
  const kept = await ask('PATCH', `/environments/${id}/server`, { placement: { clusterId, replicas: 2 } });
  assert.equal(kept.status, 200, kept.text);
  assert.deepEqual(await shown(), ['packed', 'packed'], 'what is not said stays');
  const even = await ask('PATCH', `/environments/${id}`, { settings: { spread: 'even' } });
  assert.deepEqual([even.status, even.body.needs], [200, 'nothing'], even.text);
  assert.deepEqual(await shown(), ['even', 'even']);
  const wide = await ask('PATCH', `/environments/${id}`, { settings: { spread: 'wide' } });
  assertInvalid(wide, 'settings.spread');
});

test('where its home is down, the next deployment is made at another, and the place stays the same', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, service, workspaceId } = scene;
  const { db } = service.app.store;
  const { clusterId, serverIds } = await cluster(scene, 'shop', 2);
  const id = await made(scene, 'one', { placement: { clusterId }, services: [] });
  assert.equal((await ask('POST', `/environments/${id}/deployments`, {})).status, 202);
  const [before] = await placementsOf(db, workspaceId, id);
  assert.ok(before);
  await db.run(sql`update cluster_members set state = 'down' where server_id = ${before.serverId}`);
  const next = await ask('POST', `/environments/${id}/deployments`, {});
  assert.equal(next.status, 202, next.text);
  const other = serverIds.find((each) => each !== before.serverId);
  const after = await placementsOf(db, workspaceId, id);
  assert.deepEqual(after, [{ ...before, serverId: other }]);
  assert.equal((await ask('GET', `/environments/${id}`)).body.serverId, other);
});

test('what cannot stand on a cluster is refused by its field, wherever it comes in', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, projectId, environmentId } = scene;
  const { clusterId, serverIds } = await cluster(scene, 'shop', 1);
  const create = (body: object) => ask('POST', '/environments', { projectId, name: 'other', ...body });
  const placement = { clusterId };
  const refused = async (body: object, ...paths: string[]) => {
    const answer = await create({ placement, services: [], ...body });
    assertProblem(answer, 409, 'not_on_cluster');
    assert.deepEqual(errorPaths(answer), paths, answer.text);
  };
  const volumes = [{ name: 'uploads', path: '/data' }];
  await refused({ settings: { volumes, replicas: 2 } }, 'settings.replicas');
  await refused({ settings: { health: { port: 9000 } } }, 'settings.health.port');
  const several = await create({
    placement: { clusterId, replicas: 3 },
    services: [],
    settings: { volumes },
  });
  assertProblem(several, 409, 'not_on_cluster');
  assert.deepEqual(errorPaths(several), ['settings.replicas']);

  assertInvalid(await create({ placement: { clusterId, replicas: 11 } }), 'placement.replicas');
  assertInvalid(await create({ placement: { clusterId, spread: 'wide' } }), 'placement.spread');
  assertInvalid(await create({ placement, serverId: serverIds[0] }), 'serverId');
  const unknown = await create({ placement: { clusterId: newId() } });
  assertProblem(unknown, 404, 'not_found');
  assert.deepEqual(errorPaths(unknown), ['placement.clusterId']);
  const member = await create({ placement: { serverId: serverIds[0] } });
  assertProblem(member, 409, 'server_in_cluster');
  assert.deepEqual(errorPaths(member), ['placement.serverId']);
  assertInvalid(await ask('PATCH', `/environments/${environmentId}/server`, {}), 'serverId');

  const id = await made(scene, 'web', { placement: { clusterId, replicas: 2 }, services: [] });
  const change = (path: string, method: string, body: object) =>
    ask(method, `/environments/${id}${path}`, body);
  assertProblem(await change('', 'PATCH', { settings: { volumes } }), 409, 'not_on_cluster');
  assert.equal((await change('/services', 'POST', { services: [{ kind: 'redis' }] })).status, 202);
  const nightly = { command: 'node nightly.js', schedule: '0 3 * * *' };
  assert.equal((await change('', 'PATCH', { settings: { processes: { nightly } } })).status, 200);

  await scene.service.app.store.db.run(sql`update clusters set status = 'no_quorum' where id = ${clusterId}`);
  const late = await create({ placement, services: [] });
  assertProblem(late, 409, 'server_not_ready');
  assert.deepEqual(errorPaths(late), ['placement.clusterId']);
});

test('a cluster that environments stand on is not deleted, and a member that leaves hands its homes on', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask } = scene;
  const { clusterId, serverIds } = await cluster(scene, 'shop', 2);
  const id = await made(scene, 'one', { placement: { clusterId }, services: [] });
  const kept = await ask('DELETE', `/clusters/${clusterId}`);
  assertProblem(kept, 409, 'in_use');
  assert.match(kept.text, /Shop\/one/);
  const home = String((await ask('GET', `/environments/${id}`)).body.serverId);
  assert.equal((await ask('DELETE', `/clusters/${clusterId}/servers/${home}?lost=true`)).status, 202);
  const other = serverIds.find((each) => each !== home);
  assert.equal((await ask('GET', `/environments/${id}`)).body.serverId, other);
});

test('an environment with data keeps its home: it is not left unasked, and begins empty where it is lost', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, service } = scene;
  const { db } = service.app.store;
  const { clusterId, serverIds } = await cluster(scene, 'shop', 3);
  const id = await made(scene, 'one', { placement: { clusterId }, services: [{ kind: 'postgres' }] });
  const home = String((await ask('GET', `/environments/${id}`)).body.serverId);
  const data = () =>
    db.one<{ serverId: string | null; dataVersion: string | null }>(sql`
      select server_id as "serverId", data_version as "dataVersion" from services where environment_id = ${id}`);
  await db.run(
    sql`update services set server_id = ${home}, data_version = '17' where environment_id = ${id}`,
  );

  const reboot = await ask('POST', `/clusters/${clusterId}/rolling-reboot`, {});
  assertProblem(reboot, 409, 'downtime_unconfirmed');
  assert.match(reboot.text, /Shop\/one/);
  await db.run(sql`update cluster_members set state = 'down' where server_id = ${home}`);
  const begun = await ask('POST', `/environments/${id}/deployments`, {});
  assert.equal(begun.status, 202, begun.text);
  assert.equal((await ask('GET', `/environments/${id}`)).body.serverId, home, 'nowhere else is its data');
  // Nothing is behind the server: whichever comes first.
  await ask('POST', `/environments/${id}/deployments/${begun.body.id}/cancel`);
  const operation = `/operations/${begun.body.operationId}`;
  await until(async () => (await ask('GET', operation)).body.finishedAt !== null, 'the deployment to end');

  const leaving = await ask('DELETE', `/clusters/${clusterId}/servers/${home}`);
  assertProblem(leaving, 409, 'in_use');
  assert.match(leaving.text, /services\/postgres/);
  assert.equal((await data())?.serverId, home);
  assert.equal((await ask('DELETE', `/clusters/${clusterId}/servers/${home}?lost=true`)).status, 202);
  const other = String((await ask('GET', `/environments/${id}`)).body.serverId);
  assert.ok(other !== home && serverIds.includes(other));
  assert.deepEqual(await data(), { serverId: null, dataVersion: null });
});
