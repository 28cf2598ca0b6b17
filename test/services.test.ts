import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { startEnvironmentScene } from './support/environments.ts';
import { newPerson } from './support/people.ts';
import { assertInvalid, assertProblem, errorPaths } from './support/problems.ts';

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly variables: string[];
}

const namesIn = (list: unknown) => (Object(list) as Listed[]).map(({ name }) => name);

test('services are the wanted whole: added, changed and removed with one call, and shown with the environment', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, service } = scene;
  const path = `/environments/${environmentId}/services`;
  const first = await ask('POST', path, {
    services: [{ kind: 'postgres' }, { kind: 'redis', name: 'cache', memoryMb: 128, storage: '1Gi' }],
  });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual([first.body.operationId, first.body.needs], [null, 'nothing'], 'there is no server yet');
  const [postgres, cache] = Object(first.body.services) as Listed[];
  assert.deepEqual(cache, {
    id: cache?.id,
    kind: 'redis',
    name: 'cache',
    version: '8',
    memoryMb: 128,
    storage: '1Gi',
    status: 'pending',
    problem: null,
    variables: ['CACHE_URL', 'REDIS_URL'],
    hasData: false,
    createdAt: Object(cache).createdAt,
    updatedAt: Object(cache).updatedAt,
    removedAt: null,
  });
  assert.deepEqual(postgres?.variables, ['POSTGRES_URL', 'DATABASE_URL']);
  const listed = await ask('GET', path);
  assert.deepEqual([listed.status, listed.body.items], [200, first.body.services]);
  const shown = await ask('GET', `/environments/${environmentId}`);
  assert.deepEqual(namesIn(shown.body.services), ['postgres', 'cache']);

  const second = await ask('POST', path, {
    services: [{ kind: 'redis', name: 'cache' }],
    remove: ['postgres'],
  });
  assert.deepEqual(namesIn(second.body.services), ['cache'], 'what never ran leaves nothing behind');
  assert.equal(Object(second.body.services)[0].id, cache?.id);
  const events = await service.app.store.db.rows<{ data: { reason: string; environmentId: string } }>(sql`
    select data from events
    where workspace_id = ${scene.workspaceId} and kind = 'project_updated' and data ->> 'reason' = 'services'`);
  assert.deepEqual(
    events.map(({ data }) => data.environmentId),
    [environmentId, environmentId],
  );
  await ask('POST', path, { services: [], remove: ['cache'] });
  await scene.released();
  const late = await ask('POST', path, { services: [{ kind: 'mysql' }] });
  assert.equal(late.body.needs, 'restart', 'the application that runs does not know it');
  assert.equal(
    (await ask('POST', path, { services: [{ kind: 'mysql', memoryMb: 2048 }] })).body.needs,
    'nothing',
  );
});

test('a list that leaves a service out removes it only where that is said, and names it otherwise', async (t) => {
  const { ask, environmentId, service, person } = await startEnvironmentScene(t);
  const path = `/environments/${environmentId}/services`;
  const both = { services: [{ kind: 'postgres' }, { kind: 'redis', name: 'cache' }] };
  assert.equal((await ask('POST', path, both)).status, 200);
  const forgotten = await ask('POST', path, { services: [{ kind: 'postgres' }] });
  assertProblem(forgotten, 409, 'removal_unconfirmed');
  assert.match(String(forgotten.body.detail), /cache/);
  assert.match(String(forgotten.body.hint), /"remove": \["cache"\]/);
  assert.deepEqual(errorPaths(forgotten), ['services.cache']);
  assert.deepEqual(namesIn((await ask('GET', path)).body.items), ['postgres', 'cache']);
  assertInvalid(await ask('POST', path, { ...both, remove: ['cache'] }), 'remove[0]');

  const meant = { services: [{ kind: 'postgres' }], remove: ['cache'] };
  const headers = { 'idempotency-key': 'once' };
  const send = () => service.call('POST', path, { token: person.token, body: meant, headers });
  const removed = await send();
  assert.deepEqual(namesIn(removed.body.services), ['postgres']);
  assert.deepEqual((await send()).body, removed.body, 'the first answer again');
  assert.equal((await ask('POST', path, meant)).status, 200, 'and it can be said again');
});

test('on a server, the change is an operation in the line of its environment', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, service } = scene;
  const serverId = await scene.server('web-1');
  const linked = await ask('PATCH', `/environments/${environmentId}/server`, { serverId });
  assert.ok(linked.status < 300, linked.text);
  const path = `/environments/${environmentId}/services`;
  const answer = await ask('POST', path, { services: [{ kind: 'redis' }], remove: ['postgres'] });
  assert.equal(answer.status, 202, answer.text);
  assert.equal(answer.headers.get('location'), `/api/v1/operations/${answer.body.operationId}`);
  const stored = await service.app.store.db.one<Record<string, unknown>>(sql`
    select kind, queue_key as "queueKey", server_id as "serverId", input from operations
    where id = ${String(answer.body.operationId)}`);
  assert.deepEqual(stored, {
    kind: 'environment_services',
    queueKey: environmentId,
    serverId,
    input: { environmentId, deleteData: false },
  });
});

test('a wish that cannot be names its field, and changes nothing', async (t) => {
  const { ask, environmentId } = await startEnvironmentScene(t);
  const path = `/environments/${environmentId}/services`;
  const before = await ask('GET', path);
  const wrong: [object[], string][] = [
    [[{ kind: 'redis' }, { kind: 'redis' }], 'services[1].name'],
    [[{ kind: 'postgres', version: '9' }], 'services[0].version'],
    [[{ kind: 'redis', name: 'Main' }], 'services[0].name'],
    [[{ kind: 'redis', name: '$(id)' }], 'services[0].name'],
    [[{ kind: 'redis', name: 'a-' }], 'services[0].name'],
    [[{ kind: 'oracle' }], 'services[0].kind'],
    [[{ kind: 'redis', memoryMb: 1 }], 'services[0].memoryMb'],
    [[{ kind: 'redis', storage: 'much' }], 'services[0].storage'],
    [[{ kind: 'redis', password: 'x' }], 'services[0].password'],
  ];
  for (const [services, field] of wrong) {
    const answer = await ask('POST', path, { services });
    assertInvalid(answer, field);
  }
  assertInvalid(await ask('POST', path, {}), 'services');
  assert.deepEqual((await ask('GET', path)).body, before.body);
});

test('services are seen and changed by those who own the environment alone, and no answer has a password', async (t) => {
  const { ask, environmentId, service } = await startEnvironmentScene(t);
  const path = `/environments/${environmentId}/services`;
  const body = { services: [] };
  const stranger = await newPerson(service);
  for (const [method, more] of [
    ['GET', {}],
    ['POST', { body }],
  ] as const) {
    assertProblem(await service.call(method, path, more), 401, 'unauthenticated');
    assertProblem(await service.call(method, path, { ...more, token: stranger.token }), 404, 'not_found');
    assertProblem(
      await ask(method, `/environments/${newId()}/services`, method === 'POST' ? body : undefined),
      404,
      'not_found',
    );
  }
  const listed = await ask('GET', path);
  assert.equal(namesIn(listed.body.items).length, 1, 'nothing was changed by them');
  assert.doesNotMatch(listed.text, /password|credential|:\/\//);
});
