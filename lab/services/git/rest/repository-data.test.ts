import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { at, gitClient, listAt, openBench, tempFolder, writeFiles } from '../test-bench.ts';
import { assertAnswer } from './github-description.ts';

const template = '/repos/{owner}/{repo}';

async function openScene(t: TestContext) {
  const bench = await openBench(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  const clone = await git.clone(bench.cloneUrl('ada/app'));
  const get = async (path: string, where?: string) => {
    const reply = await bench.api(`/repos/ada/app${path}`);
    if (where !== undefined) assertAnswer('GET', `${template}${where}`, reply.status, reply.json);
    return reply;
  };
  return { bench, git, clone, get };
}

test('after each push branches, commits, trees and contents are those of the repository', async (t) => {
  const { git, clone, get } = await openScene(t);
  for (const round of ['first', 'second']) {
    const sha = await git.commit(clone, `The ${round}`, { 'src/main.ts': round, [`${round}.txt`]: 'x' });
    await git(clone, 'push', '--quiet', 'origin', 'HEAD:main', 'HEAD:feature/one');
    const branches = (await get('/branches', '/branches')).json;
    assert.deepEqual(
      listAt(branches).map((branch) => [at(branch, 'name'), at(branch, 'commit', 'sha')]),
      [
        ['feature/one', sha],
        ['main', sha],
      ],
    );
    const branch = (await get('/branches/feature/one')).json;
    assert.equal(at(branch, 'commit', 'commit', 'tree', 'sha'), await git(clone, 'rev-parse', 'HEAD^{tree}'));
    const tree = (await get('/git/trees/main?recursive=1')).json;
    const listed = listAt(tree, 'tree').map(
      (entry) => `${at(entry, 'mode')} ${at(entry, 'sha')} ${at(entry, 'path')}`,
    );
    const real = await git(
      clone,
      'ls-tree',
      '-r',
      '-t',
      '--format=%(objectmode) %(objectname) %(path)',
      'HEAD',
    );
    assert.deepEqual(listed, real.split('\n'));
    const file = (await get('/contents/src/main.ts?ref=feature/one')).json;
    assert.equal(Buffer.from(String(at(file, 'content')), 'base64').toString(), round);
    assert.equal(at(file, 'sha'), await git(clone, 'rev-parse', 'HEAD:src/main.ts'));
    const raw = await get(`/git/blobs/${at(file, 'sha')}`);
    assert.equal(Buffer.from(String(at(raw.json, 'content')), 'base64').toString(), round);
    const log = (await get('/commits?sha=feature/one')).json;
    assert.deepEqual(
      listAt(log).map((commit) => at(commit, 'sha')),
      (await git(clone, 'rev-list', 'HEAD')).split('\n'),
    );
  }
});

test('a commit is found by branch, tag, full ref and shortened id, with its files and their changes', async (t) => {
  const { bench, git, clone, get } = await openScene(t);
  const long = `${'line\n'.repeat(30)}`;
  await git.commit(clone, 'One', {
    'a.txt': 'one\n',
    'old name.txt': long,
    'gone.txt': 'x\n',
    'kind.txt': 'k\n',
  });
  await git(clone, 'mv', 'old name.txt', 'new.txt');
  await git(clone, 'rm', '--quiet', 'gone.txt', 'kind.txt');
  symlinkSync('a.txt', join(clone, 'kind.txt'));
  writeFileSync(join(clone, 'picture.bin'), Buffer.from([0, 1, 2, 0]));
  const sha = await git.commit(clone, 'Two', { 'a.txt': 'one\ntwo\n', 'last.txt': 'z' });
  await git(clone, 'tag', '-a', 'v1', '-m', 'v');
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main', 'v1');
  for (const name of ['main', 'v1', 'refs/heads/main', 'heads/main', 'tags/v1', sha, sha.slice(0, 8), 'HEAD'])
    assert.equal(at((await get(`/commits/${name}`, '/commits/{ref}')).json, 'sha'), sha, name);
  for (const name of ['nothing', 'main~1', 'main..v1', '-n', 'f'.repeat(40)])
    assert.equal((await get(`/commits/${encodeURIComponent(name)}`, '/commits/{ref}')).status, 422, name);
  const { json } = await get(`/commits/${sha}`);
  assert.deepEqual(at(json, 'stats'), { total: 5, additions: 3, deletions: 2 });
  const files = listAt(json, 'files').map((file) => [at(file, 'filename'), at(file, 'status')]);
  assert.deepEqual(files, [
    ['a.txt', 'modified'],
    ['gone.txt', 'removed'],
    ['kind.txt', 'changed'],
    ['last.txt', 'added'],
    ['new.txt', 'renamed'],
    ['picture.bin', 'added'],
  ]);
  assert.equal(at(json, 'files', 0, 'patch'), '@@ -1 +1,2 @@\n one\n+two');
  assert.equal(at(json, 'files', 3, 'patch'), '@@ -0,0 +1 @@\n+z\n\\ No newline at end of file');
  assert.equal(at(json, 'files', 4, 'previous_filename'), 'old name.txt');
  const only = await bench.api('/repos/ada/app/commits/main', {
    headers: { accept: 'application/vnd.github.sha' },
  });
  assert.equal(only.text, sha);
  const touching = (await get('/commits?path=a.txt&per_page=1')).headers.get('link');
  assert.match(touching ?? '', /page=2>; rel="next".*page=2>; rel="last"/);
  assert.equal(listAt((await get('/commits?path=last.txt')).json).length, 1);
});

test('contents say what lies at a path: file, folder, link, submodule, raw bytes, or nothing', async (t) => {
  const { bench, git, clone, get } = await openScene(t);
  const where = '/contents/{path}';
  const modules = '[submodule "lib"]\n\tpath = deps/lib\n\turl = https://lab.test/lib.git\n';
  writeFiles(clone, { 'a b/ü.txt': 'text', '.gitmodules': modules, 'big.txt': 'x'.repeat(1_100_000) });
  symlinkSync('../a b/ü.txt', join(clone, 'a b', 'link'));
  symlinkSync('/etc/passwd', join(clone, 'a b', 'outside'));
  await git(clone, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},deps/lib`);
  await git(clone, 'add', '.gitmodules', 'a b', 'big.txt');
  await git(clone, 'commit', '--quiet', '-m', 'All kinds');
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  const folder = (await get('/contents/a%20b', where)).json;
  assert.deepEqual(
    listAt(folder).map((entry) => [at(entry, 'name'), at(entry, 'type'), at(entry, 'path')]),
    [
      ['link', 'symlink', 'a b/link'],
      ['outside', 'symlink', 'a b/outside'],
      ['ü.txt', 'file', 'a b/ü.txt'],
    ],
  );
  assert.equal(listAt((await get('/contents', where)).json).length, 4);
  assert.equal(at((await get('/contents/a%20b/outside', where)).json, 'target'), '/etc/passwd');
  const linked = (await get('/contents/a%20b/link', where)).json;
  assert.equal(Buffer.from(String(at(linked, 'content')), 'base64').toString(), 'text');
  assert.equal(
    at((await get('/contents/deps/lib', where)).json, 'submodule_git_url'),
    'https://lab.test/lib.git',
  );
  const big = (await get('/contents/big.txt', where)).json;
  assert.deepEqual([at(big, 'encoding'), at(big, 'content'), at(big, 'size')], ['none', '', 1_100_000]);
  const headers = { accept: 'application/vnd.github.raw+json' };
  const raw = await bench.api('/repos/ada/app/contents/big.txt', { headers });
  assert.equal(raw.text.length, 1_100_000);
  for (const path of ['none', 'a%20b/none', '%00', '.git/config', 'a%20b/%2e%2e%2fbig.txt'])
    assert.equal((await get(`/contents/${path}`)).status, 404, path);
  assert.equal((await get('/contents/big.txt?ref=none', where)).status, 404);
});

test('an archive is reached over a redirect that needs no token, and holds the files of the commit', async (t) => {
  const { bench, git, clone } = await openScene(t);
  const sha = await git.commit(clone, 'One', { 'run.sh': '#!/bin/sh\n', 'dir/a.txt': 'a' });
  chmodSync(join(clone, 'run.sh'), 0o755);
  const tip = await git.commit(clone, 'Two', {});
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  const redirect = await bench.api('/repos/ada/app/tarball/main');
  assert.equal(redirect.status, 302);
  const location = redirect.headers.get('location') ?? '';
  const response = await fetch(location);
  assert.equal(response.headers.get('content-type'), 'application/x-gzip');
  const file = join(tempFolder(t), 'a.tar.gz');
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  const listed = execFileSync('tar', ['-tvzf', file]).toString();
  assert.match(listed, new RegExp(`-rwx\\S* .*ada-app-${tip.slice(0, 7)}/run\\.sh`));
  assert.match(listed, /dir\/a\.txt/);
  assert.equal(
    (await fetch(location.replace(tip, sha))).status,
    404,
    'another commit with the same signature',
  );
  assert.equal((await fetch(location.replace(/until=\d+/, 'until=9999999999999'))).status, 404);
  assert.equal((await bench.api('/repos/ada/app/tarball/none')).status, 404);
});

test('an empty repository says so', async (t) => {
  const { get } = await openScene(t);
  assert.deepEqual((await get('/branches', '/branches')).json, []);
  assert.deepEqual((await get('/tags', '/tags')).json, []);
  assert.deepEqual((await get('/languages', '/languages')).json, {});
  assert.equal((await get('/commits', '/commits')).status, 409);
  assert.equal((await get('/commits/main', '/commits/{ref}')).status, 409);
  assert.equal((await get('/git/trees/main', '/git/trees/{tree_sha}')).status, 409);
  assert.equal(at((await get('/contents', '/contents/{path}')).json, 'message'), 'This repository is empty.');
});

test('languages are counted, and the repository says the largest after a push', async (t) => {
  const { git, clone, get } = await openScene(t);
  const files = { 'a.ts': 'x'.repeat(50), 'b.py': 'x'.repeat(20), 'README.md': 'x'.repeat(99) };
  await git.commit(clone, 'One', { ...files, 'node_modules/c.js': 'x'.repeat(500) });
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  assert.deepEqual((await get('/languages')).json, { TypeScript: 50, Python: 20 });
  assert.equal(at((await get('')).json, 'language'), 'TypeScript');
});

test('the first branch pushed to an empty repository becomes its default', async (t) => {
  const { bench, git, clone, get } = await openScene(t);
  await git.commit(clone, 'One', { a: '1' });
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:trunk');
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:another');
  assert.equal(at((await get('')).json, 'default_branch'), 'trunk');
  const other = await git.clone(bench.cloneUrl('ada/app'));
  assert.equal(await git(other, 'symbolic-ref', '--short', 'HEAD'), 'trunk');
});
