import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ApiOptions,
  at,
  type Bench,
  gitClient,
  listAt,
  openBench,
  openReceiver,
} from '../test-bench.ts';
import { assertAnswer, operationId } from './github-description.ts';
import { operations } from './operations.ts';

const publicKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVYn5wq3BqJKZ6i2r3V6bH7a2xj0yJ1y0nJ9Q9aQm2F ada@laptop';

/** Asks, and holds what comes against GitHub's description of that operation. */
function describedCalls(bench: Bench) {
  const seen = new Set<string>();
  const call = async (method: string, path: string, template: string, options: ApiOptions = {}) => {
    const reply = await bench.api(path, { method, ...options });
    assertAnswer(method, template, reply.status, reply.json);
    seen.add(`${method} ${template} ${reply.status}`);
    return reply.json;
  };
  return { call, seen };
}

test('every operation answers as GitHub describes it, and no operation is left out here', async (t) => {
  const bench = await openBench(t);
  const { host } = bench;
  const receiver = await openReceiver(t);
  host.createAccount({ login: 'acme', name: 'Acme', kind: 'org' });
  host.addMember({ org: 'acme', login: 'ada' });
  await host.createRepository({ owner: 'ada', name: 'app', private: true });
  const repository = '/repos/acme/shop';
  const template = '/repos/{owner}/{repo}';
  const { id } = await host.createRepository({ owner: 'acme', name: 'shop', private: true });
  const author = { name: 'Eve', email: 'eve@elsewhere.test', date: '2024-05-01T10:00:00Z' };
  const first = {
    branch: 'main',
    message: 'One\n\nMore.',
    files: { 'src/a.ts': 'a\n', 'b.md': 'b\n' },
    author,
  };
  await host.commit('acme', 'shop', first);
  const second = { 'src/a.ts': 'a\nb\n', 'b.md': null };
  const { sha } = await host.commit('acme', 'shop', {
    branch: 'main',
    message: 'Two',
    files: second,
    login: 'ada',
  });
  await host.commit('acme', 'shop', { branch: 'feature/login', message: 'Three', files: { c: 'c' } });
  host.protect('acme', 'shop', { branch: 'main', protected: true });
  const git = gitClient(t);
  const clone = await git.clone(bench.cloneUrl('acme/shop'));
  await git(clone, 'tag', '-a', 'v1', '-m', 'One');
  await git(clone, 'push', '--quiet', 'origin', 'v1');

  const { call, seen } = describedCalls(bench);
  const get = (path: string, where: string) => call('GET', path, where);
  const ofRepository = (path: string, where = path) => get(`${repository}${path}`, `${template}${where}`);

  await get('/rate_limit', '/rate_limit');
  await get('/meta', '/meta');
  await get('/user', '/user');
  await get('/user/repos', '/user/repos');
  await get('/user/orgs', '/user/orgs');
  await get('/users/ada', '/users/{username}');
  await get('/users/acme', '/users/{username}');
  await get('/users/nobody', '/users/{username}');
  await get('/orgs/acme/repos', '/orgs/{org}/repos');
  await get('/search/repositories?q=shop+org:acme', '/search/repositories');
  await get('/search/repositories?q=', '/search/repositories');
  await ofRepository('');
  await get(`/repositories/${id}`, template);
  await get('/repos/acme/none', template);
  await ofRepository('/branches');
  await ofRepository('/branches/main', '/branches/{branch}');
  await ofRepository('/branches/feature/login', '/branches/{branch}');
  await ofRepository('/branches/none', '/branches/{branch}');
  await ofRepository('/tags');
  await ofRepository('/languages');
  const commits = await ofRepository('/commits');
  await get('/repos/ada/app/commits', `${template}/commits`);
  await ofRepository(`/commits/${sha}`, '/commits/{ref}');
  await ofRepository('/commits/v1', '/commits/{ref}');
  await ofRepository(`/commits/${at(commits, 1, 'sha')}`, '/commits/{ref}');
  await ofRepository('/git/trees/main', '/git/trees/{tree_sha}');
  const tree = await ofRepository('/git/trees/main?recursive=1', '/git/trees/{tree_sha}');
  const blob = listAt(tree, 'tree').find((entry) => at(entry, 'type') === 'blob');
  await ofRepository(`/git/blobs/${at(blob, 'sha')}`, '/git/blobs/{file_sha}');
  await ofRepository('/contents/', '/contents/{path}');
  await ofRepository('/contents/src', '/contents/{path}');
  await ofRepository('/contents/src/a.ts', '/contents/{path}');
  await ofRepository('/contents/none', '/contents/{path}');
  await ofRepository('/tarball/main', '/tarball/{ref}');
  await ofRepository(`/commits/${sha}/status`, '/commits/{ref}/status');
  const status = { state: 'success', target_url: 'https://lab.test/1', description: 'Done', context: 'ci' };
  await call('POST', `${repository}/statuses/${sha}`, `${template}/statuses/{sha}`, { body: status });
  await ofRepository('/commits/main/status', '/commits/{ref}/status');

  const config = { url: receiver.url, content_type: 'json', secret: 'hush' };
  const hook = await call('POST', `${repository}/hooks`, `${template}/hooks`, { body: { config } });
  await call('POST', `${repository}/hooks`, `${template}/hooks`, { body: { config } });
  await ofRepository('/hooks');
  const own = `${repository}/hooks/${at(hook, 'id')}`;
  const ownTemplate = `${template}/hooks/{hook_id}`;
  await get(own, ownTemplate);
  await call('PATCH', own, ownTemplate, { body: { add_events: ['create'] } });
  await call('POST', `${own}/pings`, `${ownTemplate}/pings`);
  await call('POST', `${own}/tests`, `${ownTemplate}/tests`);
  await host.idle();
  const deliveries = await get(`${own}/deliveries`, `${ownTemplate}/deliveries`);
  const delivery = `/${at(deliveries, 0, 'id')}`;
  await get(`${own}/deliveries${delivery}`, `${ownTemplate}/deliveries/{delivery_id}`);
  const attempts = '/deliveries/{delivery_id}/attempts';
  await call('POST', `${own}/deliveries${delivery}/attempts`, `${ownTemplate}${attempts}`);
  await host.idle();
  await call('DELETE', own, ownTemplate);
  await get(own, ownTemplate);

  const key = await call('POST', `${repository}/keys`, `${template}/keys`, {
    body: { title: 'laptop', key: publicKey, read_only: true },
  });
  await call('POST', `${repository}/keys`, `${template}/keys`, { body: { title: 'again', key: publicKey } });
  await ofRepository('/keys');
  await ofRepository(`/keys/${at(key, 'id')}`, '/keys/{key_id}');
  await call('DELETE', `${repository}/keys/${at(key, 'id')}`, `${template}/keys/{key_id}`);

  const good = [...seen].filter((each) => /(2\d\d|302)$/.test(each)).map((each) => each.replace(/ \d+$/, ''));
  const known = operations.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual([...new Set(good)].sort(), known.sort(), 'each has been asked once with success');
  for (const { method, path, id: name } of operations) assert.equal(name, operationId(method, path));
});

test('the comparison with the description finds a missing field, a wrong type and a null that may not be', () => {
  const path = '/repos/{owner}/{repo}/tags';
  const commit = { sha: 'a', url: 'https://lab.test/a' };
  const tag = {
    name: 'v1',
    commit,
    zipball_url: 'https://lab.test/z',
    tarball_url: 'https://lab.test/t',
    node_id: 'n',
  };
  assertAnswer('GET', path, 200, [tag]);
  assert.throws(
    () => assertAnswer('GET', path, 200, [{ ...tag, name: undefined }]),
    /required property 'name'/,
  );
  assert.throws(() => assertAnswer('GET', path, 200, [{ ...tag, name: null }]), /must be string/);
  assert.throws(() => assertAnswer('GET', path, 200, [{ ...tag, zipball_url: 'no' }]), /format "uri"/);
  assert.throws(() => assertAnswer('GET', path, 418, [tag]), /has no/);
});
