import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { at, openBench, type Reply } from '../test-bench.ts';
import { assertAnswer } from './github-description.ts';

async function openScene(t: TestContext) {
  const bench = await openBench(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  await bench.host.createRepository({ owner: 'ada', name: 'open' });
  bench.host.createAccount({ login: 'eve', kind: 'user' });
  const { sha } = await bench.host.commit('ada', 'app', { branch: 'main', message: '1', files: { a: '1' } });
  return { ...bench, sha };
}

const left = (reply: Reply) => Number(reply.headers.get('x-ratelimit-remaining'));

test('credentials are asked for where they are needed, and bad ones are refused everywhere', async (t) => {
  const { api, token, host } = await openScene(t);
  for (const authorization of [`token ${token}`, `Bearer ${token}`, `bearer ${token}`]) {
    const reply = await api('/user', { token: null, headers: { authorization } });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('x-oauth-scopes'), 'repo, user, read:org, admin:repo_hook');
    assert.match(reply.headers.get('x-github-request-id') ?? '', /^[0-9A-F]+$/);
  }
  const none = await api('/user', { token: null });
  assert.deepEqual([none.status, at(none.json, 'message')], [401, 'Requires authentication']);
  const bad = await api('/repos/ada/open', { token: 'ghp_invented' });
  assert.deepEqual([bad.status, at(bad.json, 'message')], [401, 'Bad credentials']);
  assertAnswer('GET', '/user', 401, bad.json);
  assert.equal((await api('/repos/ada/open', { token: null })).status, 200);
  host.revokeToken(token);
  assert.equal((await api('/repos/ada/open')).status, 401);
});

test('what a token may not see is not there, and what its scope does not allow is forbidden', async (t) => {
  const { api, host, sha } = await openScene(t);
  const foreign = host.createToken({ login: 'eve', scopes: ['repo'] }).token;
  const narrow = host.createToken({ login: 'ada', scopes: ['read:user'] }).token;
  for (const path of ['', '/branches', '/hooks', `/commits/${sha}`]) {
    assert.equal((await api(`/repos/ada/app${path}`, { token: foreign })).status, 404, path);
    assert.equal((await api(`/repos/ada/app${path}`, { token: narrow })).status, 404, path);
    assert.equal(
      (await api(`/repos/ada/app${path}`, { token: null })).status,
      path === '/hooks' ? 401 : 404,
      path,
    );
  }
  assert.equal((await api('/repos/ada/open/hooks', { token: foreign })).status, 404, 'not an owner');
  const forbidden = await api('/repos/ada/open/hooks', { token: narrow });
  assert.equal(forbidden.status, 403);
  assert.match(forbidden.headers.get('x-accepted-oauth-scopes') ?? '', /read:repo_hook/);
  assert.equal((await api('/user/orgs', { token: narrow })).status, 403);
  const reading = host.createToken({ login: 'ada', scopes: ['read:repo_hook'] }).token;
  assert.equal((await api('/repos/ada/open/hooks', { token: reading })).status, 200);
  const writing = { method: 'POST', token: reading, body: { config: { url: 'http://127.0.0.1:9/' } } };
  assert.equal((await api('/repos/ada/open/hooks', writing)).status, 403);
});

test('an unchanged answer is confirmed with 304 at no cost, a changed one is sent', async (t) => {
  const { api, host } = await openScene(t);
  const first = await api('/repos/ada/app/branches');
  const etag = first.headers.get('etag') ?? '';
  assert.match(etag, /^W\/"[0-9a-f]{64}"$/);
  const same = await api('/repos/ada/app/branches', { headers: { 'if-none-match': etag } });
  assert.deepEqual([same.status, same.text], [304, '']);
  assert.equal(same.headers.get('etag'), etag);
  assert.equal(left(same), left(first), 'it cost nothing');
  await host.commit('ada', 'app', { branch: 'main', message: '2', files: { a: '2' } });
  const changed = await api('/repos/ada/app/branches', { headers: { 'if-none-match': etag } });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get('etag'), etag);
  assert.equal(left(changed), left(first) - 1);
});

test('a used up limit refuses with 403 and says when it ends; looking at it costs nothing', async (t) => {
  const { api, host, token } = await openScene(t);
  const before = await api('/rate_limit');
  assert.deepEqual([left(before), at(before.json, 'rate', 'remaining')], [5000, 5000]);
  host.setRateLimit({ token, limit: 100, remaining: 2 });
  const used = [await api('/user'), await api('/user')];
  assert.deepEqual(used.map(left), [1, 0]);
  const refused = await api('/user');
  assert.equal(refused.status, 403);
  assert.match(String(at(refused.json, 'message')), /API rate limit exceeded/);
  assert.deepEqual([left(refused), refused.headers.get('x-ratelimit-used')], [0, '100']);
  const reset = Number(refused.headers.get('x-ratelimit-reset')) - Date.now() / 1000;
  assert.ok(reset > 3_500 && reset <= 3_600);
  assert.equal((await api('/rate_limit')).status, 200);
  assert.equal((await api('/search/repositories?q=app')).headers.get('x-ratelimit-resource'), 'search');
  assert.equal((await api('/repos/ada/open', { token: null })).headers.get('x-ratelimit-limit'), '60');
});

test('the secondary limit answers 429 with the seconds to wait, until it is taken back', async (t) => {
  const { api, host, token } = await openScene(t);
  host.setRateLimit({ token, limit: 5000, remaining: 5000, secondarySeconds: 30 });
  const refused = await api('/user');
  assert.equal(refused.status, 429);
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait > 0 && wait <= 30);
  host.setRateLimit({ token, limit: 5000, remaining: 5000 });
  assert.equal((await api('/user')).status, 200);
});

test('a wrong body is refused with what is wrong with it', async (t) => {
  const { api, sha } = await openScene(t);
  const post = (path: string, body: unknown) => api(`/repos/ada/app${path}`, { method: 'POST', body });
  assert.equal((await post('/hooks', '{')).status, 400);
  assert.equal((await post('/hooks', [1])).status, 400);
  const config = { url: 'http://127.0.0.1:9/', content_type: 'json' };
  for (const body of [
    {},
    { config: { url: '' } },
    { config: { url: 'ftp://lab.test' } },
    { config: { ...config, content_type: 'xml' } },
    { config, events: ['invented'] },
    { config, events: [] },
    { config, name: 'email' },
  ]) {
    const reply = await post('/hooks', body);
    assert.equal(reply.status, 422, JSON.stringify(body));
    assert.equal(at(reply.json, 'message'), 'Validation Failed');
    assert.equal(at(reply.json, 'errors', 0, 'resource'), 'Hook');
  }
  assert.equal((await post('/hooks', { config, active: false })).status, 201);
  const twice = await post('/hooks', { config });
  assert.equal(twice.status, 422);
  assert.equal(at(twice.json, 'errors', 0, 'message'), 'Hook already exists on this repository');
  assert.equal(
    (await post('/hooks', { config, events: ['create'], active: false })).status,
    201,
    'another event',
  );
  assert.equal((await post('/keys', { title: 'x', key: 'ssh-ed25519 nonsense' })).status, 422);
  assert.equal((await post(`/statuses/${sha}`, { state: 'fine' })).status, 422);
  assert.equal(
    (await post(`/statuses/${sha}`, { state: 'error', description: 'x'.repeat(141) })).status,
    422,
  );
  assert.equal((await post(`/statuses/${'0'.repeat(40)}`, { state: 'error' })).status, 422);
});

test('statuses are combined from the last of each context', async (t) => {
  const { api, sha } = await openScene(t);
  const combined = async () => at((await api('/repos/ada/app/commits/main/status')).json, 'state');
  const say = (state: string, context: string) =>
    api(`/repos/ada/app/statuses/${sha}`, { method: 'POST', body: { state, context } });
  assert.equal(await combined(), 'pending');
  await say('failure', 'ci');
  await say('success', 'deploy');
  assert.equal(await combined(), 'failure');
  await say('success', 'CI');
  assert.equal(await combined(), 'success');
  await say('pending', 'deploy');
  assert.equal(await combined(), 'pending');
  assert.equal(at((await api(`/repos/ada/app/commits/${sha}/status`)).json, 'total_count'), 2);
});

test('a changed hook keeps what was not said, and a new config replaces the whole one', async (t) => {
  const { api } = await openScene(t);
  const config = { url: 'http://127.0.0.1:9/', content_type: 'json', secret: 'hush' };
  const made = await api('/repos/ada/app/hooks', { method: 'POST', body: { config, active: false } });
  const path = `/repos/ada/app/hooks/${at(made.json, 'id')}`;
  assert.equal(at(made.json, 'config', 'secret'), '********', 'never said again');
  const added = await api(path, {
    method: 'PATCH',
    body: { add_events: ['create'], remove_events: ['push'] },
  });
  assert.deepEqual([at(added.json, 'events'), at(added.json, 'config', 'secret')], [['create'], '********']);
  const next = { url: 'http://127.0.0.1:9/next' };
  const moved = await api(path, { method: 'PATCH', body: { config: next } });
  assert.deepEqual(at(moved.json, 'config'), { ...next, content_type: 'form', insecure_ssl: '0' });
  assert.equal((await api(path, { method: 'DELETE' })).status, 204);
  assert.equal((await api(path)).status, 404);
});

test('a request without a user agent is refused, as GitHub does', async (t) => {
  const { host } = await openScene(t);
  const status = await new Promise((resolve, reject) => {
    request(`${host.apiUrl}/meta`, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });
  assert.equal(status, 403);
});
