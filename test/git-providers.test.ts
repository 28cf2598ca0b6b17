import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDueProviders } from '../src/areas/git-providers/check-providers.ts';
import { saveToken } from '../src/areas/git-providers/save-token.ts';
import { newId, type WorkspaceId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { faultOf } from './support/faults.ts';
import { enoughScopes, startGitScene } from './support/git.ts';
import { newPerson } from './support/people.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { openStream } from './support/sse.ts';

test('an account is connected once its token was tried, and the token is never shown', async (t) => {
  const { service, host, person, gitToken } = await startGitScene(t);
  const body = { provider: 'github', token: gitToken, baseUrl: `${host.url}/`, label: 'work' };
  const saved = await service.call('POST', '/git-provider/save-token', { token: person.token, body });
  assert.equal(saved.status, 201, saved.text);
  const { id, provider, baseUrl, label, account, status } = saved.body;
  assert.deepEqual([provider, baseUrl, label, status], ['github', host.url, 'work', 'connected']);
  assert.deepEqual([Object(account).login, Object(account).name], ['ada', 'Ada Lovelace']);
  assert.equal(saved.headers.get('location'), `/api/v1/git-providers/${id}`);
  const list = await service.call('GET', '/git-providers', { token: person.token });
  assert.deepEqual(list.body.items, [saved.body]);
  assert.deepEqual(
    (await service.call('GET', `/git-providers/${id}`, { token: person.token })).body,
    saved.body,
  );
  for (const { text } of [saved, list]) assert.ok(!text.includes(gitToken));
});

test('a token is refused with words: a wrong one, one that may too little, and a host that is none', async (t) => {
  const { service, host, person } = await startGitScene(t);
  const save = (more: object) =>
    service.call('POST', '/git-provider/save-token', {
      token: person.token,
      body: { provider: 'github', token: 'ghp_wrong', baseUrl: host.url, ...more },
    });
  const wrong = await save({});
  assert.deepEqual([wrong.status, wrong.body.code], [422, 'provider_rejected'], wrong.text);
  const weak = host.createToken({ login: 'ada', scopes: ['read:user'] }).token;
  const tooLittle = await save({ token: weak });
  assert.deepEqual([tooLittle.status, tooLittle.body.code], [422, 'provider_scopes_missing'], tooLittle.text);
  assert.match(tooLittle.text, /repo/);
  for (const baseUrl of ['ftp://git.example.com', 'https://user:word@git.example.com', 'not an address']) {
    const bad = await save({ baseUrl });
    assert.deepEqual([bad.status, bad.body.code], [400, 'invalid_input'], bad.text);
  }
  host.setFault({ pathPrefix: '/api/v3/user', status: 500 });
  const broken = await save({});
  assert.deepEqual([broken.status, broken.body.code], [502, 'provider_failed'], broken.text);
  const list = await service.call('GET', '/git-providers', { token: person.token });
  assert.deepEqual(list.body.items, [], 'nothing that failed was kept');
});

test('who names no address is told which one was asked', async () => {
  const { providers } = (await sharedTestApp()).app.contexts;
  const asked: string[] = [];
  const egress = {
    ...providers.egress,
    fetch: async (url: string | URL) => {
      asked.push(String(url));
      return new Response('{"message":"invalid token"}', { status: 401 });
    },
  };
  const wanted = { provider: 'gitea', token: 'of another host' } as const;
  const saving = saveToken(
    { ...providers, egress },
    newId<WorkspaceId>(),
    wanted,
    async (_tx, answer) => answer,
  );
  const fault = await faultOf(() => saving);
  assert.match(asked[0] ?? '', /^https:\/\/gitea\.com\//);
  assert.equal(fault.code, 'provider_rejected');
  assert.match(fault.message, /gitea\.com/);
  assert.match(fault.hint ?? '', /https:\/\/gitea\.com was asked.*`baseUrl`/);
});

test('an address inside is refused unless the instance allows it', async (t) => {
  const { host } = await startGitScene(t);
  const closed = await sharedTestApp();
  const { token } = await newPerson(closed);
  for (const baseUrl of [host.url, 'https://localhost', 'https://[::ffff:127.0.0.1]', 'https://2130706433']) {
    const body = { provider: 'github', token: 'ghp_x', baseUrl };
    const answer = await closed.call('POST', '/git-provider/save-token', { token, body });
    assert.ok(
      ['egress_refused', 'invalid_input'].includes(String(answer.body.code)),
      `${baseUrl}: ${answer.text}`,
    );
  }
});

test('typing a search costs one list, however many letters', async (t) => {
  const scene = await startGitScene(t);
  const { service, host, person } = scene;
  for (const name of ['shop', 'shop-admin', 'blog']) await scene.repository(name, { 'README.md': name });
  await scene.connect();
  const search = (query: string) =>
    service.call('GET', `/git-providers/repositories${query}`, { token: person.token });
  const first = await search('?q=shop');
  assert.deepEqual(namesOf(first.body), ['ada/shop', 'ada/shop-admin'], first.text);
  // From here on the provider answers nothing: what is found was known.
  host.setFault({ pathPrefix: '/api/v3/', status: 500 });
  for (const q of ['s', 'sh', 'SHO', 'admin', 'ada blog', ''])
    assert.equal((await search(`?q=${q}`)).status, 200);
  assert.deepEqual(namesOf((await search('?q=admin')).body), ['ada/shop-admin']);
  assert.deepEqual(namesOf((await search('?q=ada%20blog')).body), ['ada/blog']);
  assert.deepEqual(namesOf((await search('?q=nothing')).body), []);
  const page = await search('?limit=2');
  assert.equal(Object(page.body.items).length, 2);
  const next = await search(`?limit=2&cursor=${page.body.nextCursor}`);
  assert.deepEqual([...namesOf(page.body), ...namesOf(next.body)].sort(), [
    'ada/blog',
    'ada/shop',
    'ada/shop-admin',
  ]);
  assert.equal(next.body.nextCursor, null);
  assert.equal((await search('?cursor=bm9uZQ')).body.code, 'invalid_input');
});

test('searches have a limit of their own, which is told, and other calls go on', async (t) => {
  const { service, person } = await startGitScene(t, { env: { SLIPWAY_LIMIT_SEARCH: '2' } });
  const search = () => service.call('GET', '/git-providers/repositories', { token: person.token });
  assert.match((await search()).headers.get('ratelimit-policy') ?? '', /"search";q=2/);
  assert.equal((await search()).status, 200);
  const third = await search();
  assert.deepEqual([third.status, third.body.code], [429, 'rate_limited']);
  assert.ok(Number(third.headers.get('retry-after')) > 0);
  assert.equal((await service.call('GET', '/git-providers', { token: person.token })).status, 200);
});

test('one account that fails is a warning, and the others are shown', async (t) => {
  const scene = await startGitScene(t);
  const { service, host, person } = scene;
  await scene.repository('shop', { 'README.md': 'shop' });
  await scene.connect();
  host.createAccount({ login: 'bob', kind: 'user' });
  const bobs = host.createToken({ login: 'bob', scopes: enoughScopes }).token;
  const bobsId = await scene.connect(bobs);
  host.revokeToken(bobs);
  const answer = await service.call('GET', '/git-providers/repositories', { token: person.token });
  assert.equal(answer.status, 200);
  assert.deepEqual(namesOf(answer.body), ['ada/shop']);
  const [warning, ...rest] = Object(answer.body.warnings);
  assert.deepEqual([warning.providerId, warning.code, rest.length], [bobsId, 'provider_rejected', 0]);
});

test('a token that the provider revokes is shown and told, and a new one repairs the account', async (t) => {
  const scene = await startGitScene(t);
  const { service, host, person, gitToken } = scene;
  const id = await scene.connect();
  const stream = await openStream(`${service.url}/api/v1/events`, { token: person.token });
  t.after(() => stream.close());
  host.revokeToken(gitToken);
  await service.app.store.db.run(
    sql`update git_providers set check_at = now() - interval '1 day' where id = ${id}`,
  );
  await checkDueProviders(service.app.contexts.providers);
  const revoked = await service.call('GET', `/git-providers/${id}`, { token: person.token });
  assert.equal(revoked.body.status, 'rejected', revoked.text);
  assert.equal(Object(revoked.body.problem).code, 'provider_rejected');
  for await (const { event, data } of stream.events()) {
    if (event !== 'git_provider_updated') continue;
    assert.deepEqual([data.providerId, data.reason], [id, 'rejected']);
    break;
  }
  const fresh = host.createToken({ login: 'ada', scopes: enoughScopes }).token;
  assert.equal(await scene.connect(fresh), id, 'the same account keeps its id');
  const repaired = await service.call('GET', `/git-providers/${id}`, { token: person.token });
  assert.deepEqual([repaired.body.status, repaired.body.problem], ['connected', null]);
});

test('branches come a page at a time, by name or by number, and odd names stay names', async (t) => {
  const scene = await startGitScene(t);
  const { service, host, person } = scene;
  await scene.repository('shop', { 'README.md': 'shop' });
  for (const branch of ['next', 'fix/a%b', 'release-1', 'release-2'])
    await host.commit('ada', 'shop', { branch, message: 'x', files: { [`${branch.length}.txt`]: branch } });
  host.protect('ada', 'shop', { branch: 'main', protected: true });
  const id = await scene.connect();
  const list = (repo: string, query = '') =>
    service.call('GET', `/git-providers/${id}/repos/${repo}/branches${query}`, { token: person.token });
  const all = await list('ada%2Fshop');
  assert.equal(all.status, 200, all.text);
  const items: { name: string; isDefault: boolean; isProtected: boolean; sha: string }[] = Object(
    all.body.items,
  );
  assert.deepEqual(items.map(({ name }) => name).sort(), [
    'fix/a%b',
    'main',
    'next',
    'release-1',
    'release-2',
  ]);
  const main = items.find(({ name }) => name === 'main');
  assert.deepEqual([main?.isDefault, main?.isProtected], [true, true]);
  const first = await list('ada%2Fshop', '?limit=3');
  const second = await list('ada%2Fshop', `?limit=3&cursor=${first.body.nextCursor}`);
  assert.equal(Object(first.body.items).length + Object(second.body.items).length, 5, second.text);
  const missing = await list('ada%2Fnone');
  assert.deepEqual([missing.status, missing.body.code], [404, 'repository_not_found']);
  for (const repo of ['..%2F..%2Fuser', 'ada%2Fshop%3Fx=1']) assert.ok((await list(repo)).status < 500, repo);
});

test('an account in use is not disconnected unless told so, and its projects say what is missing', async (t) => {
  const scene = await startGitScene(t);
  const { service, person } = scene;
  await scene.repository('shop', { 'package.json': '{"scripts":{"start":"node a.js"}}', 'a.js': '' });
  const id = await scene.connect();
  const made = await service.call('POST', '/projects', {
    token: person.token,
    body: { name: 'Shop', repository: { providerId: id, fullName: 'ada/shop' } },
  });
  assert.equal(made.status, 201, made.text);
  const refused = await service.call('DELETE', `/git-providers/${id}`, { token: person.token });
  assert.deepEqual([refused.status, refused.body.code], [409, 'in_use'], refused.text);
  assert.match(refused.text, /Shop/);
  const gone = await service.call('DELETE', `/git-providers/${id}?force=true`, { token: person.token });
  assert.equal(gone.status, 204, gone.text);
  const project = await service.call('GET', `/projects/${made.body.id}`, { token: person.token });
  assert.equal(Object(project.body.repository).providerId, null);
  assert.equal((await service.call('GET', `/git-providers/${id}`, { token: person.token })).status, 404);
});

test('an account of someone else is not there, whatever is asked of it', async (t) => {
  const scene = await startGitScene(t);
  const { service } = scene;
  const id = await scene.connect();
  const grace = await newPerson(service);
  const calls: [string, string, object?][] = [
    ['GET', `/git-providers/${id}`],
    ['DELETE', `/git-providers/${id}`],
    ['GET', `/git-providers/${id}/repos/ada%2Fshop/branches`],
    ['GET', `/git-providers/repositories?providerId=${id}`],
    ['POST', '/projects', { name: 'x', repository: { providerId: id, fullName: 'ada/shop' } }],
    ['GET', `/projects/analyze-repo?providerId=${id}&repo=ada%2Fshop`],
  ];
  for (const [method, path, body] of calls) {
    const answer = await service.call(method, path, { token: grace.token, ...(body && { body }) });
    assert.deepEqual(
      [answer.status, answer.body.code],
      [404, 'not_found'],
      `${method} ${path}: ${answer.text}`,
    );
  }
  const list = await service.call('GET', '/git-providers', { token: grace.token });
  assert.deepEqual(list.body.items, []);
});

test('the token is in the database in its sealed form only', async (t) => {
  const scene = await startGitScene(t);
  const id = await scene.connect();
  const row = await scene.service.app.store.db.one<{ whole: string; sealed: Buffer }>(sql`
    select git_providers::text as whole, token_sealed as sealed from git_providers where id = ${id}`);
  assert.ok(row && !row.whole.includes(scene.gitToken) && !row.sealed.includes(scene.gitToken));
  const hex = Buffer.from(scene.gitToken).toString('hex');
  assert.ok(!row.whole.includes(hex));
  assert.ok(!JSON.stringify(scene.service.logLines).includes(scene.gitToken));
});

function namesOf(body: Record<string, unknown>): string[] {
  return Object(body.items).map((each: { fullName: string }) => each.fullName);
}
