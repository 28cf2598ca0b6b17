import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollDueProjects } from '../src/areas/pushes/poll-branches.ts';
import { newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { startEnvironmentScene } from './support/environments.ts';
import { newPerson } from './support/people.ts';
import { assertInvalid, assertProblem, errorPaths } from './support/problems.ts';
import { analysed, expressApp, newProject } from './support/projects.ts';

test('a further environment is made of the analysis and what is said, and is there in every list', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, projectId, environmentId, host } = scene;
  await host.commit('ada', 'shop', { branch: 'develop', message: 'x', files: { 'x.txt': 'x' } });
  const serverId = await scene.server('web-1');
  const settings = { port: 5000, replicas: 2, health: { path: '/up', startSeconds: 90 } };
  const made = await ask('POST', '/environments', {
    projectId,
    name: 'staging',
    branch: 'develop',
    serverId,
    settings,
    variables: [{ key: 'API_KEY', value: 'canary-3141' }],
  });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers.get('location'), `/api/v1/environments/${made.body.id}`);
  assert.match(String(made.body.slug), /^shop-staging-[a-z2-9]{6}$/);
  const { id, slug: _, services, createdAt, updatedAt, ...rest } = made.body;
  assert.deepEqual(rest, {
    projectId,
    name: 'staging',
    branch: 'develop',
    serverId,
    placement: { serverId },
    autoDeploy: false,
    watchPaths: [],
    settings: { appPath: '.', ...settings },
    resources: null,
    domain: null,
    currentDeploymentId: null,
    lastDeployment: null,
    status: 'idle',
    problem: null,
    url: null,
  });
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(
    Object(services).map(({ kind }: { kind: string }) => kind),
    ['postgres'],
    'what the analysis calls needed',
  );
  assert.ok(!made.text.includes('canary-3141'));
  assert.deepEqual((await ask('GET', `/environments/${id}`)).body, made.body);
  const ids = async (query: string) => {
    const { body } = await ask('GET', `/environments${query}`);
    return { ids: Object(body.items).map((each: { id: string }) => each.id), next: body.nextCursor };
  };
  assert.deepEqual(await ids(`?projectId=${projectId}`), { ids: [id, environmentId], next: null });
  const first = await ids('?limit=1');
  assert.deepEqual(first.ids, [id]);
  assert.deepEqual((await ids(`?limit=1&cursor=${first.next}`)).ids, [environmentId]);
  const keys = await ask('GET', `/environments/${id}/variables`);
  assert.deepEqual(
    Object(keys.body.items).map(({ key }: { key: string }) => key),
    ['API_KEY', 'SESSION_SECRET'],
    'what only has to be random is made, newest first',
  );
  const project = await ask('GET', `/projects/${projectId}`);
  assert.equal(Object(project.body.environments).length, 2);
});

test('whoever wants more than the server has is told what there is; without a word an app has a part of it', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, projectId, service } = scene;
  const serverId = await scene.server('web-1');
  const size = (memoryMb: number) =>
    service.app.store.db.run(
      sql`update servers set facts = ${JSON.stringify({ memoryMb, cpus: 2 })}::jsonb where id = ${serverId}`,
    );
  await size(4_096);
  const greedy = { memoryMb: 4_000, cpus: 2, buildMemoryMb: 4_000, buildCpus: 2 };
  const fields = Object.keys(greedy).map((key) => `settings.${key}`);
  const post = (settings: object) =>
    ask('POST', '/environments', { projectId, name: 'staging', serverId, settings });
  const refused = await post(greedy);
  assertInvalid(refused, ...fields);
  assert.match(refused.text, /at most 3686/);
  assert.match(refused.text, /at most 1\.8/);
  const made = await post({});
  assert.deepEqual(made.body.resources, {
    memoryMb: { limit: 2_764, source: 'default' },
    cpus: { limit: 1.8, source: 'default' },
  });
  const path = `/environments/${made.body.id}`;
  assertInvalid(await ask('PATCH', path, { settings: greedy }), ...fields);
  const set = await ask('PATCH', path, { settings: { memoryMb: 3_000, cpus: 0.5 } });
  assert.deepEqual(set.body.resources, {
    memoryMb: { limit: 3_000, source: 'setting' },
    cpus: { limit: 0.5, source: 'setting' },
  });
  const services = [{ kind: 'redis', memoryMb: 4_000 }];
  assertInvalid(await ask('POST', `${path}/services`, { services }), 'services[0].memoryMb');
  await size(2_048);
  const moved = await ask('PATCH', path, { settings: { replicas: 2 } });
  assert.equal(moved.status, 200, 'what was set before does not stand in the way of other changes');
  assert.deepEqual(Object(moved.body.resources).memoryMb, { limit: 1_792, source: 'server' });
});

test('an environment that cannot be made says which field is in the way', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, projectId, service, person, providerId } = scene;
  const post = (body: object) => ask('POST', '/environments', { projectId, name: 'staging', ...body });
  const wrong: [object, string][] = [
    [{ name: '' }, 'name'],
    [{ projectId: 'none' }, 'projectId'],
    [{ odd: 1 }, 'odd'],
    [{ branch: 'a..b' }, 'branch'],
    [{ branch: '--help' }, 'branch'],
    [{ settings: { appPath: 'apps/none' } }, 'settings.appPath'],
    [{ settings: { replicas: 11 } }, 'settings.replicas'],
    [{ settings: { memoryMb: 1 } }, 'settings.memoryMb'],
    [{ settings: { cpus: 0 } }, 'settings.cpus'],
    [{ settings: { port: null } }, 'settings.port'],
    [{ settings: { volumes: [{ name: 'Data', path: '/data' }] } }, 'settings.volumes[0].name'],
    [{ settings: { volumes: [{ name: 'a', path: 'data' }] } }, 'settings.volumes[0].path'],
    [{ settings: { volumes: [{ name: 'a', path: '/a/../etc' }] } }, 'settings.volumes[0].path'],
    [{ settings: { volumes: [{ name: 'a', path: '/a:/etc' }] } }, 'settings.volumes[0].path'],
    [
      {
        settings: {
          volumes: [
            { name: 'a', path: '/a' },
            { name: 'a', path: '/b' },
          ],
        },
      },
      'settings.volumes[1].name',
    ],
    [{ settings: { health: { startSeconds: 1 } } }, 'settings.health.startSeconds'],
    [{ settings: { health: { path: 'up' } } }, 'settings.health.path'],
    [{ settings: { drainSeconds: 3601 } }, 'settings.drainSeconds'],
    [{ settings: { stopSeconds: 0 } }, 'settings.stopSeconds'],
    [{ settings: { holdSeconds: 301 } }, 'settings.holdSeconds'],
    [{ settings: { processes: { '$(id)': { command: 'x' } } } }, 'settings.processes.$(id)'],
    [{ settings: { processes: { web: { command: 'x' } } } }, 'settings.processes.web'],
    [{ settings: { processes: { worker: {} } } }, 'settings.processes.worker.command'],
    [{ settings: { processes: { worker: { command: 'a\nb' } } } }, 'settings.processes.worker.command'],
    [{ settings: { dockerfileTarget: '--x' } }, 'settings.dockerfileTarget'],
    [{ variables: [{ key: 'PORT', value: '1' }] }, 'variables[0].key'],
    [{ variables: [{ key: 'SLIPWAY_X', value: '1' }] }, 'variables[0].key'],
    [{ variables: [{ key: 'a-b', value: '1' }] }, 'variables[0].key'],
    [{ services: [{ kind: 'oracle' }] }, 'services[0].kind'],
  ];
  for (const [body, field] of wrong) assertInvalid(await post(body), field);
  const noBranch = await post({ branch: '$(touch x)' });
  assertInvalid(noBranch, 'branch');
  const gone = await post({ branch: 'none' });
  assertProblem(gone, 422, 'commit_not_found');
  assert.deepEqual(errorPaths(gone), ['branch']);
  const taken = await post({ name: 'PRODUCTION' });
  assertProblem(taken, 409, 'name_taken');
  assert.deepEqual(errorPaths(taken), ['name']);
  const nowhere = await post({ serverId: newId() });
  assertProblem(nowhere, 404, 'not_found');
  assert.deepEqual(errorPaths(nowhere), ['serverId']);
  assertProblem(await post({ projectId: newId() }), 404, 'not_found');
  const fresh = await newProject(service, person.token, {
    name: 'Fresh',
    repository: { providerId, fullName: 'ada/shop' },
  });
  assertProblem(await post({ projectId: fresh.id }), 409, 'project_not_ready');
  await analysed(service, person.token, fresh.id);
  assertProblem(await post({ projectId: fresh.id }), 409, 'project_not_ready');
  assert.equal(Object((await ask('GET', '/environments')).body.items).length, 1, 'nothing was made');
});

test('of several apps one has to be named, and the environment is of that one', async (t) => {
  const inFolder = (folder: string) =>
    Object.fromEntries(Object.entries(expressApp).map(([path, text]) => [`${folder}/${path}`, text]));
  const files = { ...inFolder('shop'), ...inFolder('admin') };
  const { ask, projectId } = await startEnvironmentScene(t, {}, files, { app: 'shop' });
  const post = (more: object) => ask('POST', '/environments', { projectId, name: 'admin', ...more });
  assertInvalid(await post({}), 'settings.appPath');
  assertInvalid(await post({ settings: { appPath: 'none' } }), 'settings.appPath');
  const made = await post({ settings: { appPath: 'admin' } });
  assert.deepEqual([made.status, made.body.settings], [201, { appPath: 'admin' }], made.text);
});

test('a change of settings is merged key by key, and says what it needs', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId } = scene;
  const patch = (body: object) => ask('PATCH', `/environments/${environmentId}`, body);
  const before = await patch({ settings: { buildCommand: 'make', port: 5000 }, watchPaths: ['src'] });
  assert.equal(before.status, 200, before.text);
  assert.equal(before.body.needs, 'nothing', 'nothing was deployed that it would change');
  assert.deepEqual(before.body.settings, { appPath: '.', buildCommand: 'make', port: 5000 });
  assert.deepEqual(before.body.watchPaths, ['src']);
  await scene.released();
  const steps: [object, string][] = [
    [{ name: 'live' }, 'nothing'],
    [{ settings: { buildCommand: 'make' } }, 'nothing'],
    [{ settings: { buildCommand: null } }, 'rebuild'],
    [{ settings: { port: 6000, replicas: 3, memoryMb: 256, cpus: 0.5 } }, 'rebuild'],
    [{ settings: { startCommand: 'node server.js' } }, 'rebuild'],
    [{ settings: { dockerfilePath: 'Dockerfile' } }, 'rebuild'],
    [{ settings: { startCommand: 'node other.js' } }, 'restart'],
    [{ settings: { releaseCommand: 'node migrate.js', buildMemoryMb: 1024 } }, 'nothing'],
    [{ resetSettings: ['memoryMb'] }, 'restart'],
    [{ resetSettings: ['buildCommand', 'cpus'] }, 'rebuild'],
  ];
  for (const [body, needs] of steps) {
    const answer = await patch(body);
    assert.deepEqual([answer.status, answer.body.needs], [200, needs], answer.text);
  }
  const { body } = await ask('GET', `/environments/${environmentId}`);
  assert.equal(body.name, 'live');
  assert.deepEqual(body.settings, {
    appPath: '.',
    port: 6000,
    replicas: 3,
    startCommand: 'node other.js',
    buildMemoryMb: 1024,
    dockerfilePath: 'Dockerfile',
    releaseCommand: 'node migrate.js',
  });
  const wrong: [object, string][] = [
    [{}, 'body'],
    [{ name: ' ' }, 'name'],
    [{ settings: { port: 0 } }, 'settings.port'],
    [{ settings: { appPath: 'none' } }, 'settings.appPath'],
    [{ resetSettings: ['appPath'] }, 'resetSettings[0]'],
    [{ resetSettings: ['port'], settings: { port: 1 } }, 'resetSettings[0]'],
    [{ watchPaths: ['+(a|b)*'] }, 'watchPaths[0]'],
    [{ watchPaths: ['src', '{a,b}'.repeat(9)] }, 'watchPaths[1]'],
    [{ slug: 'x' }, 'slug'],
  ];
  for (const [change, field] of wrong) assertInvalid(await patch(change), field);
  await ask('POST', '/environments', { projectId: scene.projectId, name: 'second' });
  assertProblem(await patch({ name: 'Second' }), 409, 'name_taken');
});

test('the branch is changed to one that exists, and nothing of it was decided on yet', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, host, service } = scene;
  await host.commit('ada', 'shop', { branch: 'develop', message: 'x', files: { 'x.txt': 'x' } });
  const { db } = service.app.store;
  await db.run(sql`update environments set decided_sha = 'x' where id = ${environmentId}`);
  const patch = (branch: unknown) => ask('PATCH', `/environments/${environmentId}/branch`, { branch });
  const same = await patch('main');
  assert.equal(same.status, 200, same.text);
  const decided = () =>
    db.one<{ sha: string | null }>(
      sql`select decided_sha as sha from environments where id = ${environmentId}`,
    );
  assert.equal((await decided())?.sha, 'x');
  const other = await patch('develop');
  assert.deepEqual([other.status, other.body.branch], [200, 'develop'], other.text);
  assert.equal((await decided())?.sha, null);
  const none = await patch('none');
  assertProblem(none, 422, 'commit_not_found');
  assert.deepEqual(errorPaths(none), ['branch']);
  assertInvalid(await patch('-x'), 'branch');
  assertInvalid(await ask('PATCH', `/environments/${environmentId}/branch`, {}), 'branch');
  assert.equal((await ask('GET', `/environments/${environmentId}`)).body.branch, 'develop');
});

test('switched on, auto-deploy has its webhook, deploys nothing old, and takes the next push', async (t) => {
  const taken: string[] = [];
  const scene = await startEnvironmentScene(t, {
    deployPush: async (_tx, _workspace, _environment, { sha }) => void taken.push(sha),
  });
  const { ask, environmentId, projectId, host, service } = scene;
  const serverId = await scene.server('web');
  const linked = await ask('PATCH', `/environments/${environmentId}/server`, { serverId });
  assert.equal(linked.status, 200, linked.text);
  const patch = (body: object) => ask('PATCH', `/environments/${environmentId}/auto-deploy`, body);
  const poll = async () => {
    await service.app.store.db.run(sql`update environments set poll_at = now() - interval '1 day'`);
    await pollDueProjects(service.app.contexts.pushes, 300);
  };
  const on = await patch({ enabled: true, watchPaths: ['src'] });
  assert.equal(on.status, 200, on.text);
  const { installed, url, problem } = Object(on.body.webhook);
  assert.deepEqual([on.body.autoDeploy, on.body.watchPaths, installed, problem], [true, ['src'], true, null]);
  const hook = await ask('GET', `/projects/${projectId}/webhook`);
  assert.equal(url, hook.body.address);
  assert.ok(!on.text.includes('secret'));
  await poll();
  assert.deepEqual(taken, [], 'what was there before is not deployed');
  host.setFault({ pathPrefix: '/api/v3/repos/ada/shop/hooks', status: 500 });
  const again = await patch({ enabled: true, watchPaths: [] });
  assert.equal(Object(again.body.webhook).installed, true, 'one that works is left alone');
  const { sha } = await host.commit('ada', 'shop', { branch: 'main', message: 'y', files: { y: 'y' } });
  await host.idle();
  await patch({ enabled: true });
  await poll();
  assert.deepEqual(taken, [sha], 'asked again, nothing is forgotten');
  const off = await patch({ enabled: false });
  assert.deepEqual([off.body.autoDeploy, off.body.webhook], [false, null]);
  assertInvalid(await patch({}), 'enabled');
  assertInvalid(await patch({ enabled: 'yes' }), 'enabled');
  assertInvalid(await patch({ enabled: true, watchPaths: ['/x'] }), 'watchPaths[0]');
});

test('where the provider refuses a webhook, auto-deploy is on all the same and says why', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, projectId, host } = scene;
  host.setFault({ pathPrefix: '/api/v3/repos/ada/shop/hooks', status: 403 });
  host.setFault({ pathPrefix: '/api/v3/repositories', status: 403 });
  const made = await ask('POST', '/environments', { projectId, name: 'staging', autoDeploy: true });
  assert.deepEqual([made.status, made.body.autoDeploy], [201, true], made.text);
  const on = await ask('PATCH', `/environments/${scene.environmentId}/auto-deploy`, { enabled: true });
  assert.deepEqual([on.status, on.body.autoDeploy, Object(on.body.webhook).installed], [200, true, false]);
  assert.ok(Object(Object(on.body.webhook).problem).message, on.text);
});

test('an environment of someone else is not there, whatever is asked of it', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, environmentId, projectId } = scene;
  const grace = await newPerson(service);
  const base = `/environments/${environmentId}`;
  const variables = [{ key: 'A', value: 'a' }];
  const calls: [string, string, object?][] = [
    ['POST', '/environments', { projectId, name: 'mine' }],
    ['GET', `/environments?projectId=${projectId}`],
    ['GET', base],
    ['PATCH', base, { name: 'mine' }],
    ['PATCH', `${base}/branch`, { branch: 'main' }],
    ['PATCH', `${base}/server`, { serverId: null }],
    ['PATCH', `${base}/auto-deploy`, { enabled: true }],
    ['POST', `${base}/variables`, { variables }],
    ['GET', `${base}/variables`],
    ['GET', `${base}/variables/SESSION_SECRET`],
    ['DELETE', `${base}/variables/SESSION_SECRET`],
  ];
  for (const [method, path, body] of calls) {
    const options = body ? { body } : {};
    assertProblem(await service.call(method, path, { token: grace.token, ...options }), 404, 'not_found');
    assertProblem(await service.call(method, path, options), 401, 'unauthenticated');
  }
  const list = await service.call('GET', '/environments', { token: grace.token });
  assert.deepEqual(list.body.items, []);
  const made = await service.call('POST', '/servers', {
    token: grace.token,
    body: { name: 'hers', host: '127.0.0.1', port: 1, auth: { type: 'generated' } },
  });
  const serverId = String(made.body.id);
  assertProblem(await scene.ask('PATCH', `${base}/server`, { serverId }), 404, 'not_found');
  const mine = { projectId, name: 'staging', serverId };
  assertProblem(await scene.ask('POST', '/environments', mine), 404, 'not_found');
});
