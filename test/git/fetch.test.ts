import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bareOf, commitFiles, faultOf, git, key, mirrorsIn, openMirrors, signal, unpack } from './support.ts';

const repo = key('a'.repeat(64));

test('a branch, the default branch, a tag and a commit can be fetched, listed, read and streamed', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  const bare = bareOf(setup, 'ada/app');
  const first = commitFiles(bare, { a: 'one', b: 'two' }, 'main', 'First\n\nBody');
  const second = commitFiles(bare, { a: 'one!', c: 'three' }, 'side');
  git(bare, ['tag', '-a', '-m', 'A tag', 'v1', first]);

  const fetched = await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  assert.equal(fetched.branch, 'main');
  assert.equal(fetched.commit.sha, first);
  assert.equal(fetched.commit.message, 'First\n\nBody\n');
  assert.equal(fetched.commit.authorName, 'Ada');
  assert.equal(fetched.commit.authoredAt.toISOString(), '2023-11-14T22:13:20.000Z');
  assert.equal(
    (await mirrors.fetch(repo, source('ada/app'), { want: { branch: 'side' }, signal })).commit.sha,
    second,
  );
  assert.equal(
    (await mirrors.fetch(repo, source('ada/app'), { want: { tag: 'v1' }, signal })).commit.sha,
    first,
  );

  const mirror = mirrors.open(repo);
  const { entries, isComplete } = await mirror.tree(first);
  assert.ok(isComplete);
  assert.deepEqual(
    entries.map(({ path, size, type }) => [path, size, type]),
    [
      ['a', 3, 'file'],
      ['b', 3, 'file'],
    ],
  );
  assert.deepEqual((await mirror.changedPaths(first, second))?.sort(), ['a', 'b', 'c']);
  const read = await Array.fromAsync(mirror.readFiles(second, ['c', 'nothing', 'a']));
  assert.deepEqual(
    read.map(({ path, content }) => [path, content.toString()]),
    [
      ['c', 'three'],
      ['a', 'one!'],
    ],
  );
  const tar = await unpack(mirror.tar(second));
  assert.deepEqual(
    [...tar].map(([name, { content }]) => [name, content.toString()]),
    [
      ['a', 'one!'],
      ['c', 'three'],
    ],
  );
});

test('an old commit of a branch is fetched by its id, and a fetched one is there without the host', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const old = await bench.host.commit('ada', 'app', { branch: 'main', message: '1', files: { a: '1' } });
  await bench.host.commit('ada', 'app', { branch: 'main', message: '2', files: { a: '2' } });
  await bench.host.commit('ada', 'app', { branch: 'main', message: '3', files: { a: '3' } });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  await assert.rejects(mirrors.open(repo).tree(old.sha), { code: 'commit_not_found' });
  const want = { sha: old.sha };
  assert.equal((await mirrors.fetch(repo, source('ada/app'), { want, signal })).commit.message, '1\n');
  const elsewhere = { url: 'http://127.0.0.1:1/none.git' };
  assert.equal((await mirrors.fetch(repo, elsewhere, { want, signal })).commit.sha, old.sha);
});

test('a second fetch brings only what is new', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  const big = Array.from({ length: 4000 }, () => Math.random().toString(36)).join('\n');
  commitFiles(bare, { big, a: '1' });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  const before = sizes(folder);
  commitFiles(bare, { big, a: '2' });
  const { commit } = await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  assert.equal(
    (await Array.fromAsync(mirrors.open(repo).readFiles(commit.sha, ['a'])))[0]?.content.toString(),
    '2',
  );
  assert.ok(sizes(folder) - before < 5_000, `${sizes(folder) - before} bytes came`);
});

function sizes(folder: string): number {
  const dir = join(folder, 'mirrors', repo, 'g1', 'objects', 'pack');
  return readdirSync(dir)
    .filter((name) => name.endsWith('.pack'))
    .reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
}

test('branches that come and go under each other’s names are no trouble', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  commitFiles(bare, { a: '1' }, 'x');
  await mirrors.fetch(repo, source('ada/app'), { want: { branch: 'x' }, signal });
  git(bare, ['update-ref', '-d', 'refs/heads/x']);
  const sha = commitFiles(bare, { a: '2' }, 'x/y');
  assert.equal(
    (await mirrors.fetch(repo, source('ada/app'), { want: { branch: 'x/y' }, signal })).commit.sha,
    sha,
  );
  assert.equal(
    (await faultOf(mirrors.fetch(repo, source('ada/app'), { want: { branch: 'x' }, signal }))).code,
    'commit_not_found',
  );
  assert.deepEqual(setup.warnings, [], 'nothing had to be built anew');
});

test('what the host has is listed without a mirror', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  assert.deepEqual(await mirrors.refs(source('ada/app'), signal), {
    head: undefined,
    branches: new Map(),
    tags: new Map(),
  });
  const empty = await faultOf(mirrors.fetch(repo, source('ada/app'), { want: 'default', signal }));
  assert.equal(empty.code, 'commit_not_found');
  assert.match(empty.message, /empty/);
  const sha = commitFiles(bare, { a: '1' });
  git(bare, ['tag', '-a', '-m', 'x', 'v1', sha]);
  const refs = await mirrors.refs(source('ada/app'), signal);
  assert.deepEqual(refs, { head: 'main', branches: new Map([['main', sha]]), tags: new Map([['v1', sha]]) });
  assert.deepEqual(
    readdirSync(join(folder, 'mirrors', repo)).filter((name) => name.startsWith('g')),
    [],
  );
});

test('many fetches of one mirror at once take turns, also from several instances on one folder', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  const shas = ['a', 'b', 'c', 'd'].map((name) => commitFiles(bare, { name }, name));
  const other = mirrorsIn(folder);
  const wants = ['a', 'b', 'c', 'd'].flatMap((branch) => [mirrors, other].map((each) => ({ each, branch })));
  const fetched = await Promise.all(
    wants.map(({ each, branch }) => each.fetch(repo, source('ada/app'), { want: { branch }, signal })),
  );
  assert.deepEqual(
    fetched.map(({ commit }) => commit.sha),
    shas.flatMap((sha) => [sha, sha]),
  );
  assert.deepEqual(setup.warnings, []);
});

test('a waiting fetch can be given up, and the one under way goes on', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  commitFiles(bareOf(setup, 'ada/app'), { a: '1' });
  const first = mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  const stop = new AbortController();
  const second = mirrors.fetch(repo, source('ada/app'), { want: 'default', signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(second, /enough/);
  assert.equal((await first).branch, 'main');
});

test('mirrors that nobody used are removed with those of their submodules; those in use or to be kept are not', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const { sha } = await bench.host.commit('ada', 'app', { branch: 'main', message: '1', files: { a: '1' } });
  for (const name of ['one', 'two', 'three'])
    await mirrors.fetch(key(name), source('ada/app'), { want: 'default', signal });
  const tar = mirrors.open(key('three')).tar(sha);
  tar.once('readable', () => undefined);
  await new Promise((resolve) => tar.once('readable', resolve));
  const later = new Date(Date.now() + 60_000);
  assert.equal(await mirrors.removeUnused(new Date(Date.now() - 60_000), new Set()), 0);
  assert.equal(await mirrors.removeUnused(later, new Set([key('two')])), 1);
  assert.ok(!existsSync(join(folder, 'mirrors', 'one')));
  assert.equal((await unpack(tar)).size, 1);
  assert.equal(await mirrors.removeUnused(later, new Set([key('two')])), 1);
  assert.deepEqual(readdirSync(join(folder, 'mirrors')), ['two']);
});

test('a key that is not a safe folder name is refused', async (t) => {
  const mirrors = mirrorsIn((await openMirrors(t)).folder);
  for (const bad of ['', '..', 'a/b', 'A', 'a.b', '-a', 'a\n', 'x'.repeat(101)])
    assert.throws(() => mirrors.open(key(bad)), /safe name/, bad);
});

test('many small fetches leave few packs, and everything can still be read', async (t) => {
  const setup = await openMirrors(t, { limits: { maxPacks: 4 } });
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  const shas: string[] = [];
  for (let count = 0; count < 7; count += 1) {
    shas.push(commitFiles(bare, { a: `${count}`, b: 'same' }));
    await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  }
  assert.deepEqual(setup.warnings, []);
  const packs = readdirSync(join(folder, 'mirrors', repo, 'g1', 'objects', 'pack')).filter((name) =>
    name.endsWith('.pack'),
  );
  assert.ok(packs.length <= 4, `${packs.length} packs`);
  for (const [count, sha] of shas.entries()) {
    const [file] = await Array.fromAsync(mirrors.open(repo).readFiles(sha, ['a']));
    assert.equal(file?.content.toString(), String(count));
  }
});
