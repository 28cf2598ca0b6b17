import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { at, type Bench, listAt, openBench, type Reply } from '../test-bench.ts';

/** Straight into the repository: what is tested is how they are listed. */
async function withBranches(bench: Bench, count: number): Promise<void> {
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const files = { a: '1' };
  const { sha } = await bench.host.commit('ada', 'app', { branch: 'main', message: 'One', files });
  const names = Array.from({ length: count - 1 }, (_, index) => `branch-${String(index).padStart(5, '0')}`);
  const input = names.map((name) => `create refs/heads/${name} ${sha}\n`).join('');
  execFileSync('git', ['--git-dir', join(bench.dir, 'ada/app.git'), 'update-ref', '--stdin'], { input });
}

function links(reply: Reply): Record<string, string> {
  const found = (reply.headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...found].map(([, url = '', rel = '']) => [rel, url]));
}

test('150 branches come page by page over the links, each once and in order', async (t) => {
  const bench = await openBench(t);
  await withBranches(bench, 150);
  const names: unknown[] = [];
  let reply = await bench.api('/repos/ada/app/branches?per_page=40');
  assert.deepEqual(Object.keys(links(reply)), ['next', 'last']);
  assert.match(links(reply).last ?? '', /\/api\/v3\/repositories\/\d+\/branches\?per_page=40&page=4$/);
  for (;;) {
    names.push(...listAt(reply.json).map((branch) => at(branch, 'name')));
    const { next } = links(reply);
    if (next === undefined) break;
    reply = await bench.api(next);
  }
  assert.equal(names.length, 150);
  assert.deepEqual(names, [...new Set(names)].sort());
  assert.deepEqual(Object.keys(links(reply)), ['prev', 'first']);
  assert.equal(listAt((await bench.api('/repos/ada/app/branches')).json).length, 30);
  assert.equal(listAt((await bench.api('/repos/ada/app/branches?per_page=1000')).json).length, 100);
  assert.deepEqual((await bench.api('/repos/ada/app/branches?page=99')).json, []);
});

test('the last page of 5,000 branches is whole, and the last', async (t) => {
  const bench = await openBench(t);
  await withBranches(bench, 5_000);
  const reply = await bench.api('/repos/ada/app/branches?per_page=100&page=50');
  assert.equal(listAt(reply.json).length, 100);
  assert.equal(links(reply).next, undefined);
});

test('only protected branches are listed when asked so', async (t) => {
  const bench = await openBench(t);
  await withBranches(bench, 4);
  bench.host.protect('ada', 'app', { branch: 'main', protected: true });
  const named = async (query: string) =>
    listAt((await bench.api(`/repos/ada/app/branches?${query}`)).json).map((branch) => at(branch, 'name'));
  assert.deepEqual(await named('protected=true'), ['main']);
  assert.equal((await named('protected=false')).length, 3);
  bench.host.protect('ada', 'app', { branch: 'main', protected: false });
  assert.deepEqual(await named('protected=true'), []);
});

test('repositories are sorted, filtered and searched, and only those one may see', async (t) => {
  const bench = await openBench(t);
  const { host } = bench;
  host.createAccount({ login: 'acme', kind: 'org' });
  host.addMember({ org: 'acme', login: 'ada' });
  host.createAccount({ login: 'eve', kind: 'user' });
  const make = (owner: string, name: string, hidden: boolean) =>
    host.createRepository({ owner, name, private: hidden });
  await make('ada', 'web-shop', true);
  await make('ada', 'blog', false);
  await make('acme', 'shop', true);
  await make('eve', 'shop-secret', true);
  await make('eve', 'shop-open', false);
  const names = async (path: string, token = bench.token) => {
    const { json } = await bench.api(path, { token });
    return (Array.isArray(json) ? json : listAt(json, 'items')).map((each) => at(each, 'full_name'));
  };
  assert.deepEqual(await names('/user/repos'), ['acme/shop', 'ada/blog', 'ada/web-shop']);
  assert.deepEqual(await names('/user/repos?visibility=private&affiliation=owner'), [
    'acme/shop',
    'ada/web-shop',
  ]);
  assert.deepEqual(await names('/user/repos?sort=created'), ['acme/shop', 'ada/blog', 'ada/web-shop']);
  assert.deepEqual(await names('/user/repos?sort=full_name&direction=desc&per_page=1'), ['ada/web-shop']);
  assert.deepEqual(await names('/orgs/acme/repos'), ['acme/shop']);
  assert.deepEqual(await names('/search/repositories?q=shop'), [
    'acme/shop',
    'eve/shop-open',
    'ada/web-shop',
  ]);
  assert.deepEqual(await names('/search/repositories?q=shop+in:name+user:ada'), ['ada/web-shop']);
  assert.deepEqual(await names('/search/repositories?q=shop+org:ACME'), ['acme/shop']);
  const foreign = host.createToken({ login: 'eve', scopes: ['repo'] }).token;
  assert.deepEqual(await names('/orgs/acme/repos', foreign), []);
  assert.deepEqual(await names('/search/repositories?q=web', foreign), []);
  const narrow = host.createToken({ login: 'ada', scopes: [] }).token;
  assert.deepEqual(await names('/user/repos', narrow), ['ada/blog']);
});
