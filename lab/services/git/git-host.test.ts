import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { startGitHost } from './git-host.ts';
import { afterwards, at, gitClient, openBench, openReceiver, tempFolder } from './test-bench.ts';

test('a host started again in the same folder knows everything it knew', async (t) => {
  const bench = await openBench(t);
  const git = gitClient(t);
  const receiver = await openReceiver(t);
  const { host, token } = bench;
  host.createAccount({ login: 'acme', kind: 'org' });
  host.addMember({ org: 'acme', login: 'ada' });
  await host.createRepository({ owner: 'acme', name: 'shop', private: true });
  const { sha } = await host.commit('acme', 'shop', { branch: 'main', message: '1', files: { 'a.ts': '1' } });
  host.protect('acme', 'shop', { branch: 'main', protected: true });
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVYn5wq3BqJKZ6i2r3V6bH7a2xj0yJ1y0nJ9Q9aQm2F';
  const post = (path: string, body: object) => bench.api(`/repos/acme/shop${path}`, { method: 'POST', body });
  await post('/keys', { title: 'laptop', key });
  await post(`/statuses/${sha}`, { state: 'success' });
  const hook = await post('/hooks', { config: { url: receiver.url, content_type: 'json', secret: 's' } });
  await host.idle();
  const hookPath = `/repos/acme/shop/hooks/${at(hook.json, 'id')}`;
  const paths = ['', '/branches', '/hooks', '/keys', `/commits/${sha}/status`].map(
    (path) => `/repos/acme/shop${path}`,
  );
  const all = ['/user', '/user/orgs', '/user/repos', ...paths, `${hookPath}/deliveries`];
  const before = await Promise.all(all.map(async (path) => (await bench.api(path)).json));
  await host.close();

  const again = await startGitHost({ address: '127.0.0.1', port: 0, dir: bench.dir, publicUrl: host.url });
  afterwards(t, () => again.close());
  const base = `http://127.0.0.1:${again.port}`;
  const headers = { authorization: `token ${token}` };
  const read = async (path: string): Promise<unknown> =>
    (await fetch(`${base}/api/v3${path}`, { headers })).json();
  assert.deepEqual(await Promise.all(all.map(read)), before);
  const clone = await git.clone(`${base.replace('://', `://x:${token}@`)}/acme/shop.git`);
  await git.commit(clone, '2', { 'a.ts': '2' });
  await git(clone, 'push', '--quiet', 'origin', 'main');
  await receiver.take('push', 1);
  const next = await again.createRepository({ owner: 'ada', name: 'new' });
  assert.ok(next.id > Number(at(hook.json, 'id')), 'no number is given twice');
});

test('a folder with a state that is no host’s is refused with the name of the file', async (t) => {
  const dir = tempFolder(t);
  writeFileSync(join(dir, 'git-host.json'), '{"accounts": 1}');
  const start = () => startGitHost({ address: '127.0.0.1', port: 0, dir });
  await assert.rejects(start(), /git-host\.json is not the state of a Git host/);
});

test('answers name the public address, wherever the host listens', async (t) => {
  const dir = tempFolder(t);
  const host = await startGitHost({ address: '127.0.0.1', port: 0, dir, publicUrl: 'https://git.lab.test/' });
  afterwards(t, () => host.close());
  host.createAccount({ login: 'ada', kind: 'user' });
  const { cloneUrl } = await host.createRepository({ owner: 'ada', name: 'app' });
  assert.equal(cloneUrl, 'https://git.lab.test/ada/app.git');
  assert.equal(host.apiUrl, 'https://git.lab.test/api/v3');
});

test('a fault answers for its paths, late or with an error, until it is taken back', async (t) => {
  const { host, api } = await openBench(t);
  await host.createRepository({ owner: 'ada', name: 'app' });
  const git = () => fetch(`${host.url}/ada/app.git/info/refs?service=git-upload-pack`);
  host.setFault({ pathPrefix: '/api/v3/repos/ada/app', status: 502 });
  host.setFault({ pathPrefix: '/ada/app.git', status: 503 });
  assert.equal((await api('/repos/ada/app')).status, 502);
  assert.equal((await git()).status, 503);
  assert.equal((await api('/user')).status, 200);
  host.setFault({ pathPrefix: '/api/v3/repos/ada/app', status: 429 });
  assert.equal((await api('/repos/ada/app')).headers.get('retry-after'), '60');
  host.setFault({ pathPrefix: '/api/v3/repos/ada/app', status: null, delayMs: 150 });
  const started = performance.now();
  assert.equal((await api('/repos/ada/app')).status, 200);
  assert.ok(performance.now() - started >= 140);
  host.setFault({ pathPrefix: '/ada/app.git', status: null });
  assert.equal((await git()).status, 200);
});

test('closing does not wait for requests that are held back', async (t) => {
  const { host } = await openBench(t);
  host.setFault({ pathPrefix: '/api/v3', status: null, delayMs: 600_000 });
  const held = request(`${host.apiUrl}/user`);
  const refused = once(held, 'error');
  held.end();
  await once(held, 'finish');
  // Whoever comes later is served: the one before has reached the host.
  assert.equal((await fetch(`${host.url}/nothing`)).status, 404);
  await host.close();
  const [error] = await refused;
  assert.match(String(error), /socket hang up|ECONNRESET/);
});
