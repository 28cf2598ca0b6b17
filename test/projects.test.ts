import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/store/sql.ts';
import { startGitScene } from './support/git.ts';
import { setOperationLimit } from './support/operations.ts';
import { newPerson } from './support/people.ts';
import { analysed, expressApp, newProject } from './support/projects.ts';
import { openStream } from './support/sse.ts';
import { until } from './support/until.ts';

test('a project is analysed from its creation on, and the stream tells it to its end', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  const { sha } = await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const made = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  assert.deepEqual([made.status, made.rootDirectory, made.branch], ['analyzing', '.', null]);
  assert.match(String(made.slug), /^shop-[a-z2-9]{6}$/);
  const stream = await openStream(`${service.url}/api/v1/projects/${made.id}/analysis-status`, {
    token: person.token,
  });
  const seen: [string, unknown][] = [];
  for await (const { event, data } of stream.events()) seen.push([event, data.status ?? data.about]);
  const statuses = seen.filter(([event]) => event === 'status').map(([, status]) => status);
  assert.deepEqual([...new Set(statuses)], ['queued', 'fetching', 'analyzing', 'succeeded']);
  assert.deepEqual(seen.at(-1), ['end', 'succeeded']);
  assert.ok(seen.some(([event, about]) => event === 'finding' && about === 'app'));
  const { body } = await service.call('GET', `/projects/${made.id}`, { token: person.token });
  const analysis = Object(body.analysis);
  assert.deepEqual(
    [body.status, analysis.status, analysis.commit.sha, analysis.commit.branch],
    ['ready', 'succeeded', sha, 'main'],
  );
  const [app] = analysis.result.apps;
  assert.deepEqual(
    [app.framework, app.installCommand, app.buildCommand, app.startCommand, app.port],
    ['express', 'npm ci', 'npm run build', 'npm start', 4000],
  );
  assert.deepEqual(
    analysis.result.services.map(({ kind, certainty }: Record<string, unknown>) => [kind, certainty]),
    [['postgres', 'needed']],
  );
  const list = await service.call('GET', '/projects', { token: person.token });
  assert.equal(Object(list.body.items)[0].analysis.result, undefined, 'a list has no results');
});

test('a repository is analysed directly, with nothing stored, and each bad question has its answer', async (t) => {
  const scene = await startGitScene(t);
  const { service, person, host } = scene;
  await scene.repository('shop', { ...expressApp, 'docs/index.html': '<h1>Hi</h1>' });
  const open = await scene.repository('open', { 'index.html': '<h1>Hi</h1>' }, false);
  const providerId = await scene.connect();
  const ask = (query: string) =>
    service.call('GET', `/projects/analyze-repo?${query}`, { token: person.token });
  const found = await ask(`providerId=${providerId}&repo=ada%2Fshop`);
  assert.equal(found.status, 200, found.text);
  assert.equal(Object(found.body.result).apps[0].framework, 'express');
  const folder = await ask(`providerId=${providerId}&repo=ada%2Fshop&rootDirectory=docs`);
  assert.equal(Object(folder.body.result).apps[0].path, 'docs', folder.text);
  const byUrl = await ask(`url=${encodeURIComponent(open.cloneUrl)}`);
  assert.equal(Object(byUrl.body.result).apps[0].language, 'html', byUrl.text);
  const wrong: [string, number, string][] = [
    ['', 400, 'invalid_input'],
    [`providerId=${providerId}`, 400, 'invalid_input'],
    [`providerId=${providerId}&repo=ada%2Fshop&url=https://example.com/a`, 400, 'invalid_input'],
    ['url=ext::sh%20-c%20id', 400, 'invalid_input'],
    ['url=file:///etc', 400, 'invalid_input'],
    ['url=--upload-pack%3Did', 400, 'invalid_input'],
    [`providerId=${providerId}&repo=ada%2Fnone`, 404, 'repository_not_found'],
    [`providerId=${providerId}&repo=ada%2Fshop&branch=none`, 422, 'commit_not_found'],
    [`providerId=${providerId}&repo=ada%2Fshop&branch=--help`, 400, 'invalid_input'],
    [`providerId=${providerId}&repo=ada%2Fshop&branch=$(id)`, 422, 'commit_not_found'],
    [`providerId=${providerId}&repo=ada%2Fshop&rootDirectory=../..`, 400, 'invalid_input'],
    [`providerId=${providerId}&repo=ada%2Fshop&rootDirectory=none`, 400, 'invalid_input'],
    [`url=${encodeURIComponent(`${host.url}/ada/shop.git`)}`, 404, 'repository_not_found'],
    ['providerId=none&repo=ada%2Fshop', 400, 'invalid_input'],
    [`providerId=${providerId}&repo=ada%2Fshop&odd=1`, 400, 'invalid_input'],
  ];
  for (const [query, status, code] of wrong) {
    const answer = await ask(query);
    assert.deepEqual([answer.status, answer.body.code], [status, code], `${query}: ${answer.text}`);
  }
  const list = await service.call('GET', '/projects', { token: person.token });
  assert.deepEqual(list.body.items, []);
});

test('an analysis that fails says why, and begins again when asked', async (t) => {
  const scene = await startGitScene(t);
  const { service, person, host } = scene;
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const body = { name: 'Shop', repository: { providerId, fullName: 'ada/shop' }, branch: 'next' };
  const { id } = await newProject(service, person.token, body);
  const failed = await analysed(service, person.token, id);
  assert.deepEqual([failed.status, Object(failed.analysis).fault.code], ['failed', 'commit_not_found']);
  await host.commit('ada', 'shop', { branch: 'next', message: 'x', files: { 'x.txt': 'x' } });
  const again = await service.call('POST', `/projects/${id}/retry-analysis`, { token: person.token });
  assert.equal(again.status, 202, again.text);
  const well = await analysed(service, person.token, id);
  assert.deepEqual([well.status, Object(well.analysis).fault], ['ready', null]);
});

test('a project is analysed once at a time, and a cancelled analysis says so', async (t) => {
  const scene = await startGitScene(t);
  const { service, person, host } = scene;
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  host.setFault({ pathPrefix: '/ada/shop.git', status: null, delayMs: 20_000 });
  const made = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  const second = await service.call('POST', `/projects/${made.id}/retry-analysis`, { token: person.token });
  assert.deepEqual([second.status, second.body.code], [409, 'analysis_running'], second.text);
  const { operationId } = Object(made.analysis);
  const cancelled = await service.call('POST', `/operations/${operationId}/cancel`, { token: person.token });
  assert.equal(cancelled.status, 202, cancelled.text);
  const ended = await analysed(service, person.token, made.id);
  assert.deepEqual([ended.status, Object(ended.analysis).fault.code], ['failed', 'cancelled']);
  host.setFault({ pathPrefix: '/ada/shop.git', status: null });
  const third = await service.call('POST', `/projects/${made.id}/retry-analysis`, { token: person.token });
  assert.equal(third.status, 202, third.text);
  assert.equal((await analysed(service, person.token, made.id)).status, 'ready');
});

test('an analysis that nobody has begun yet is cancelled at once', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const { db } = service.app.store;
  const workspace = await db.one<{ id: string }>(
    sql`select workspace_id as id from git_providers where id = ${providerId}`,
  );
  await setOperationLimit(db, 'workspace', workspace?.id ?? '', 0);
  const made = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  const { operationId } = Object(made.analysis);
  await service.call('POST', `/operations/${operationId}/cancel`, { token: person.token });
  const { body } = await service.call('GET', `/projects/${made.id}`, { token: person.token });
  assert.deepEqual([body.status, Object(body.analysis).fault.code], ['failed', 'cancelled']);
});

test('a project is changed: another name at once, another folder with another analysis', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', { ...expressApp, 'site/index.html': '<h1>Hi</h1>' });
  const providerId = await scene.connect();
  const made = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  await analysed(service, person.token, made.id);
  const put = (body: object) => service.call('PUT', `/projects/${made.id}`, { token: person.token, body });
  const renamed = await put({ name: 'Store' });
  assert.deepEqual([renamed.status, renamed.body.name, renamed.body.status], [200, 'Store', 'ready']);
  const moved = await put({ rootDirectory: './site/' });
  assert.deepEqual([moved.body.rootDirectory, moved.body.status], ['site', 'analyzing'], moved.text);
  const looked = await analysed(service, person.token, made.id);
  assert.equal(Object(looked.analysis).result.apps[0].language, 'html');
  for (const body of [{}, { name: '' }, { rootDirectory: '../x' }, { branch: 'a..b' }, { slug: 'x' }])
    assert.equal((await put(body)).status, 400, JSON.stringify(body));
  await newProject(service, person.token, {
    name: 'Other',
    repository: { providerId, fullName: 'ada/shop' },
  });
  const taken = await put({ name: 'OTHER' });
  assert.deepEqual([taken.status, taken.body.code], [409, 'name_taken']);
});

test('finalising takes the analysis over, makes the first environment, and seals its variables', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const made = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  const finalize = (body: object) =>
    service.call('POST', `/projects/${made.id}/finalize`, { token: person.token, body });
  await analysed(service, person.token, made.id);
  const environment = { name: 'production', variables: [{ key: 'API_KEY', value: 'canary-3141' }] };
  const wrong: [object, string][] = [
    [{ environment: { name: 'x', variables: [{ key: '1$(id)', value: '' }] } }, 'key'],
    [{ environment, app: 'apps/none' }, 'app'],
    [{ environment, settings: { port: 0 } }, 'port'],
    [{ environment, settings: { startCommand: 'a\nb' } }, 'startCommand'],
    [{ environment: { name: 'x', services: [{ kind: 'oracle' }] } }, 'kind'],
  ];
  for (const [body, field] of wrong) {
    const answer = await finalize(body);
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.text.includes(field), answer.text);
  }
  const nowhere = await finalize({
    environment: { name: 'x', serverId: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b' },
  });
  assert.deepEqual([nowhere.status, nowhere.body.code], [404, 'not_found']);
  const server = await service.call('POST', '/servers', {
    token: person.token,
    body: { name: 'web-1', host: '127.0.0.1', port: 1, auth: { type: 'generated' } },
  });
  const serverId = String(server.body.id);
  const done = await finalize({ environment: { ...environment, serverId }, settings: { port: 5000 } });
  assert.equal(done.status, 200, done.text);
  const shown = Object(done.body.environment);
  assert.deepEqual(
    [Object(done.body.project).status, shown.name, shown.branch, shown.status],
    ['active', 'production', 'main', 'idle'],
  );
  assert.deepEqual(shown.settings, { appPath: '.', port: 5000 });
  const [{ id: _, ...needed }] = shown.services;
  assert.deepEqual(
    needed,
    {
      kind: 'postgres',
      name: 'postgres',
      version: '17',
      memoryMb: 512,
      storage: null,
      status: 'pending',
      problem: null,
    },
    'what the analysis calls needed',
  );
  assert.ok(!done.text.includes('canary-3141'));
  const keys = await service.app.store.db.rows<{ key: string; sealed: Buffer }>(sql`
    select key, value_sealed as sealed from variables where environment_id = ${shown.id} order by key`);
  assert.deepEqual(
    keys.map(({ key }) => key),
    ['API_KEY', 'SESSION_SECRET'],
    'what only has to be random is made',
  );
  assert.ok(keys.every(({ sealed }) => !sealed.includes('canary-3141')));
  for (const query of ['', '?leave=true']) {
    const kept = await service.call('DELETE', `/servers/${serverId}${query}`, { token: person.token });
    assert.deepEqual([kept.status, kept.body.code], [409, 'in_use'], kept.text);
    assert.match(kept.text, /Shop: production/);
  }
  const again = await finalize({ environment: { name: 'second' } });
  assert.deepEqual([again.status, again.body.code], [409, 'already_finalized']);
});

test('the Dockerfile of an app is shown: the one that is written for it, or its own', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', expressApp);
  await scene.repository('boat', { ...expressApp, Dockerfile: 'FROM node:24\nCMD ["node", "server.js"]\n' });
  const providerId = await scene.connect();
  const show = async (name: string, query = '') => {
    const repository = { providerId, fullName: `ada/${name}` };
    const { id } = await newProject(service, person.token, { name: `${name}${query}`, repository });
    await analysed(service, person.token, id);
    return service.call('GET', `/projects/${id}/dockerfile${query}`, { token: person.token });
  };
  const written = await show('shop');
  assert.equal(written.status, 200, written.text);
  assert.equal(written.body.isGenerated, true);
  assert.match(String(written.body.dockerfile), /^FROM node:24/m);
  assert.match(String(written.body.dockerfile), /^USER \d+/m);
  assert.ok(String(written.body.dockerignore).includes('node_modules'));
  assert.ok(Object(written.body.explanation).length > 0);
  const own = await show('boat');
  assert.deepEqual(
    [own.body.isGenerated, own.body.dockerfile],
    [false, 'FROM node:24\nCMD ["node", "server.js"]\n'],
  );
  const none = await show('shop', '?app=apps/none');
  assert.deepEqual([none.status, none.body.code], [400, 'invalid_input'], none.text);
});

test('a project that is not analysed yet is not finalised', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const body = { name: 'Shop', repository: { providerId, fullName: 'ada/shop' }, branch: 'none' };
  const { id } = await newProject(service, person.token, body);
  await analysed(service, person.token, id);
  const answer = await service.call('POST', `/projects/${id}/finalize`, {
    token: person.token,
    body: { environment: { name: 'production' } },
  });
  assert.deepEqual([answer.status, answer.body.code], [409, 'project_not_ready'], answer.text);
});

test('a deleted project is gone, with its environments and its hook at the provider', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const { id } = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  await analysed(service, person.token, id);
  const hook = await service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  assert.deepEqual([hook.status, hook.body.installed], [200, true], hook.text);
  const hooksAt = async () => {
    const answer = await fetch(`${scene.host.apiUrl}/repos/ada/shop/hooks`, {
      headers: { authorization: `Bearer ${scene.gitToken}` },
    });
    return Object(await answer.json()).length;
  };
  assert.equal(await hooksAt(), 1);
  const removal = await service.call('DELETE', `/projects/${id}`, { token: person.token });
  assert.equal(removal.status, 202, removal.text);
  await until(
    async () => (await service.call('GET', `/projects/${id}`, { token: person.token })).status === 404,
    'the project to be gone',
  );
  assert.equal(await hooksAt(), 0);
});

test('a project of someone else is not there, whatever is asked of it', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const { id } = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  const grace = await newPerson(service);
  const environment = { name: 'production' };
  const calls: [string, string, object?][] = [
    ['GET', `/projects/${id}`],
    ['PUT', `/projects/${id}`, { name: 'mine' }],
    ['DELETE', `/projects/${id}`],
    ['POST', `/projects/${id}/retry-analysis`],
    ['POST', `/projects/${id}/finalize`, { environment }],
    ['GET', `/projects/${id}/analysis-status`],
    ['GET', `/projects/${id}/dockerfile`],
    ['POST', `/projects/${id}/webhook`],
    ['GET', `/projects/${id}/webhook`],
    ['GET', `/projects/${id}/webhook-deliveries`],
  ];
  for (const [method, path, body] of calls) {
    const answer = await service.call(method, path, { token: grace.token, ...(body && { body }) });
    assert.deepEqual(
      [answer.status, answer.body.code],
      [404, 'not_found'],
      `${method} ${path}: ${answer.text}`,
    );
    const nobody = await service.call(method, path, body ? { body } : {});
    assert.equal(nobody.status, 401, `${method} ${path} without a token`);
  }
});

test('a repository over ssh gets a key to let in, and says that it was not let in', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  const made = await newProject(service, person.token, {
    name: 'Far',
    repository: { url: 'git@127.0.0.1:ada/shop.git' },
  });
  const { deployKey, kind, fullName, providerId } = Object(made.repository);
  assert.match(deployKey, /^ssh-ed25519 \S+ slipway-deploy-/);
  assert.deepEqual([kind, fullName, providerId], ['url', 'ada/shop', null]);
  const row = await service.app.store.db.one<{ whole: string }>(
    sql`select projects::text as whole from projects where id = ${String(made.id)}`,
  );
  assert.ok(row && !row.whole.includes('PRIVATE KEY'));
});
