import assert from 'node:assert/strict';
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fastify from 'fastify';
import { gitRoutes } from './git-routes.ts';
import { afterwards, at, gitClient, openBench, tempFolder, writeFiles } from './test-bench.ts';

async function openControl(t: TestContext) {
  const bench = await openBench(t);
  const app = fastify();
  gitRoutes(app, bench.host);
  afterwards(t, () => app.close());
  const ask = async (method: 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const reply = await app.inject({ method, url, ...(payload ? { payload } : {}) });
    const json: unknown = reply.body === '' ? undefined : JSON.parse(reply.body);
    return { status: reply.statusCode, json };
  };
  return { ...bench, ask };
}

test('accounts, tokens, members and repositories are made over HTTP and work at once', async (t) => {
  const { ask, api, host } = await openControl(t);
  const git = gitClient(t);
  assert.equal((await ask('POST', '/git/accounts', { login: 'bob', name: 'Bob', kind: 'user' })).status, 201);
  assert.equal((await ask('POST', '/git/accounts', { login: 'acme', kind: 'org' })).status, 201);
  assert.equal((await ask('POST', '/git/members', { org: 'acme', login: 'bob' })).status, 204);
  const made = await ask('POST', '/git/tokens', { login: 'bob', scopes: ['repo'] });
  const token = String(at(made.json, 'token'));
  assert.match(token, /^ghp_[A-Za-z0-9]{36}$/);
  const chosen = await ask('POST', '/git/tokens', { login: 'bob', scopes: [], token: 'ghp_chosen_by_test' });
  assert.equal(at(chosen.json, 'token'), 'ghp_chosen_by_test');
  const repository = await ask('POST', '/git/repositories', { owner: 'acme', name: 'shop', private: true });
  assert.equal(repository.status, 201);
  const url = String(at(repository.json, 'cloneUrl'));
  await git.clone(url.replace('://', `://x:${token}@`));
  assert.equal((await ask('PUT', '/git/rate-limit', { token, limit: 10, remaining: 0 })).status, 204);
  assert.equal((await api('/user', { token })).status, 403);
  assert.equal((await ask('DELETE', `/git/tokens/${token}`)).status, 204);
  assert.equal((await api('/user', { token })).status, 401);
  assert.equal((await ask('PUT', '/git/faults', { pathPrefix: '/api/v3/meta', status: 500 })).status, 204);
  assert.equal((await api('/meta')).status, 500);
  assert.equal(host.url, url.replace('/acme/shop.git', ''));
});

test('a commit over HTTP writes, keeps the mode of, and takes away files', async (t) => {
  const { ask, cloneUrl } = await openControl(t);
  const git = gitClient(t);
  const from = tempFolder(t);
  writeFiles(from, { 'bin/run': 'old', 'gone/a': 'a', 'gone/b': 'b', '.git/HEAD': 'not ours' });
  chmodSync(join(from, 'bin/run'), 0o755);
  symlinkSync('bin/run', join(from, 'link'));
  await ask('POST', '/git/repositories', { owner: 'ada', name: 'app', from });
  const files = { 'bin/run': 'new', gone: null, 'odd "name\\.txt': 'ö' };
  const author = { name: 'Eve', email: 'eve@lab.test', date: '2024-02-03T04:05:06Z' };
  const path = '/git/repositories/ada/app/commits';
  const commit = await ask('POST', path, { branch: 'main', message: 'Two', files, author });
  assert.equal(commit.status, 201);
  const clone = await git.clone(cloneUrl('ada/app'));
  assert.equal(await git(clone, 'rev-parse', 'HEAD'), at(commit.json, 'sha'));
  const tree = (await git(clone, 'ls-tree', '-r', '-z', 'HEAD')).split('\0').filter(Boolean);
  assert.deepEqual(
    tree.map((line) => line.replace(/ blob \w+\t/, ' ')),
    ['100755 bin/run', '120000 link', '100644 odd "name\\.txt'],
  );
  assert.equal(readFileSync(join(clone, 'bin/run'), 'utf8'), 'new');
  assert.equal(await git(clone, 'log', '-1', '--format=%an %ae %at'), 'Eve eve@lab.test 1706933106');
  const branch = await ask('POST', path, { branch: 'feature/x', message: 'Three', files: { c: 'c' } });
  await git(clone, 'fetch', '--quiet');
  assert.equal(await git(clone, 'rev-parse', 'origin/feature/x'), at(branch.json, 'sha'));
  assert.equal(await git(clone, 'rev-parse', 'origin/feature/x~1'), at(commit.json, 'sha'), 'begun at main');
});

test('the same folder gives the same first commit everywhere', async (t) => {
  const { host } = await openControl(t);
  const shas = [];
  for (const name of ['one', 'two']) {
    const from = tempFolder(t);
    writeFiles(from, { 'a/b.txt': 'b', 'a.txt': 'a' });
    shas.push((await host.createRepository({ owner: 'ada', name, from, defaultBranch: 'trunk' })).sha);
  }
  assert.match(shas[0] ?? '', /^[0-9a-f]{40}$/);
  assert.equal(shas[0], shas[1]);
});

test('wrong requests are refused with a sentence, and leave nothing behind', async (t) => {
  const { ask, host } = await openControl(t);
  await host.createRepository({ owner: 'ada', name: 'app' });
  const repository = { owner: 'ada', name: 'new' };
  const commits = '/git/repositories/ada/app/commits';
  const commit = { branch: 'main', message: 'x', files: {} };
  const refusals = [
    [409, 'POST', '/git/accounts', { login: 'ADA', kind: 'user' }],
    [422, 'POST', '/git/accounts', { login: '../up', kind: 'user' }],
    [400, 'POST', '/git/accounts', { login: 'bob' }],
    [404, 'POST', '/git/tokens', { login: 'nobody', scopes: [] }],
    [404, 'DELETE', '/git/tokens/ghp_unknown', undefined],
    [409, 'POST', '/git/repositories', { owner: 'ada', name: 'APP' }],
    [422, 'POST', '/git/repositories', { owner: 'ada', name: '..' }],
    [422, 'POST', '/git/repositories', { ...repository, from: '/nowhere/at/all' }],
    [404, 'POST', '/git/repositories/ada/none/commits', commit],
    [422, 'POST', commits, { ...commit, files: { '../out': 'x' } }],
    [422, 'POST', commits, { ...commit, files: { '.git/config': 'x' } }],
    [422, 'POST', commits, { ...commit, files: { none: null } }],
    [422, 'POST', commits, { ...commit, branch: 'a..b' }],
    [400, 'POST', commits, { ...commit, files: { a: 1 } }],
    [400, 'PUT', '/git/faults', { pathPrefix: 'x', status: 500 }],
  ] as const;
  for (const [status, method, path, body] of refusals) {
    const reply = await ask(method, path, body);
    assert.equal(reply.status, status, `${method} ${path} ${JSON.stringify(body)}`);
    assert.match(String(at(reply.json, 'message')), /\.$/);
  }
  assert.equal((await host.createRepository(repository)).name, 'new');
});
