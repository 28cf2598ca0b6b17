import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { gitClient, openBench, tempFolder, writeFiles } from '../test-bench.ts';

test('a clone, a commit and a push with a token arrive in the repository', async (t) => {
  const bench = await openBench(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  const one = await git.clone(bench.cloneUrl('ada/app'));
  const sha = await git.commit(one, 'First', { 'a.txt': 'a' });
  await git(one, 'push', '--quiet', 'origin', 'HEAD:main');
  const other = await git.clone(bench.cloneUrl('ada/app'));
  assert.equal(await git(other, 'rev-parse', 'origin/main'), sha);
  assert.equal(readFileSync(join(other, 'a.txt'), 'utf8'), 'a');
});

test('a token works as a password, as a user name and as a bearer, with and without .git', async (t) => {
  const { host, token } = await openBench(t);
  const git = gitClient(t);
  await host.createRepository({ owner: 'ada', name: 'app', private: true });
  const address = host.url.replace('http://', '');
  for (const login of [`anyone:${token}`, `${token}:`, `${token}:x-oauth-basic`])
    await git.clone(`http://${login}@${address}/ada/app.git`);
  await git.clone(`http://x:${token}@${address}/Ada/App`);
  const header = `http.extraHeader=Authorization: Bearer ${token}`;
  await git.clone(`${host.url}/ada/app.git`, '-c', header);
});

test('a private repository is refused without a token, and hidden from a token that may not see it', async (t) => {
  const { host } = await openBench(t);
  const git = gitClient(t);
  await host.createRepository({ owner: 'ada', name: 'app', private: true });
  host.createAccount({ login: 'eve', kind: 'user' });
  const foreign = host.createToken({ login: 'eve', scopes: ['repo'] }).token;
  const narrow = host.createToken({ login: 'ada', scopes: ['public_repo'] }).token;
  const refs = `${host.url}/ada/app.git/info/refs?service=git-upload-pack`;
  const ask = (token?: string, url = refs) =>
    fetch(
      url,
      token ? { headers: { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` } } : {},
    );
  const anonymous = await ask();
  assert.equal(anonymous.status, 401);
  assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Basic realm=/);
  assert.equal((await ask('ghp_invented')).status, 401);
  assert.equal((await ask(foreign)).status, 404);
  assert.equal((await ask(narrow)).status, 404);
  assert.equal((await ask(undefined, refs.replace('/app', '/none'))).status, 401, 'nothing is told');
  await assert.rejects(git.clone(`${host.url}/ada/app.git`), /could not read Username|Authentication failed/);
});

test('a public repository is cloned by anyone, but pushed to only by who may write', async (t) => {
  const bench = await openBench(t);
  const { host } = bench;
  const git = gitClient(t);
  await host.createRepository({ owner: 'ada', name: 'app' });
  await host.commit('ada', 'app', { branch: 'main', message: 'One', files: { a: '1' } });
  host.createAccount({ login: 'eve', kind: 'user' });
  const clone = await git.clone(`${host.url}/ada/app.git`);
  await git.commit(clone, 'Two', { a: '2' });
  const push = (token: string) => git(clone, 'push', '--quiet', bench.cloneUrl('ada/app', token), 'main');
  await assert.rejects(git(clone, 'push', '--quiet', 'origin', 'main'), /could not read Username/);
  const foreign = host.createToken({ login: 'eve', scopes: ['repo'] }).token;
  await assert.rejects(push(foreign), /denied to eve|403/);
  const reading = host.createToken({ login: 'ada', scopes: ['read:user'] }).token;
  await assert.rejects(push(reading), /denied to ada|403/);
  await push(host.createToken({ login: 'ada', scopes: ['public_repo'] }).token);
});

test('a revoked token is refused from then on', async (t) => {
  const bench = await openBench(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  const { token } = bench.host.createToken({ login: 'ada', scopes: ['repo'] });
  const clone = await git.clone(bench.cloneUrl('ada/app', token));
  bench.host.revokeToken(token);
  await git.commit(clone, 'One', { a: '1' });
  await assert.rejects(git(clone, 'push', '--quiet', 'origin', 'HEAD:main'), /Authentication failed/);
  assert.equal((await bench.api('/user', { token })).status, 401);
});

test('members of an organisation push to its repositories, others do not see them', async (t) => {
  const bench = await openBench(t);
  const { host } = bench;
  const git = gitClient(t);
  host.createAccount({ login: 'acme', kind: 'org' });
  await host.createRepository({ owner: 'acme', name: 'shop', private: true });
  await assert.rejects(git.clone(bench.cloneUrl('acme/shop')), /not found/);
  host.addMember({ org: 'acme', login: 'ada' });
  const clone = await git.clone(bench.cloneUrl('acme/shop'));
  await git.commit(clone, 'One', { a: '1' });
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
});

test('shallow and partial clones, and a fetch of any commit by its id, work with protocol 2', async (t) => {
  const bench = await openBench(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const shas: string[] = [];
  for (const text of ['1', '2', '3']) {
    const made = await bench.host.commit('ada', 'app', { branch: 'main', message: text, files: { a: text } });
    shas.push(made.sha);
  }
  const url = `${bench.host.url}/ada/app.git`;
  const shallow = await git.clone(url, '--depth=1', '-c', 'protocol.version=2');
  assert.equal(await git(shallow, 'rev-list', '--count', 'HEAD'), '1');
  const partial = await git.clone(url, '--filter=blob:none', '--no-checkout');
  const missing = await git(partial, 'rev-list', '--objects', '--missing=print', 'HEAD');
  assert.equal(missing.split('\n').filter((line) => line.startsWith('?')).length, 3);
  await git(shallow, 'fetch', '--quiet', '--depth=1', 'origin', shas[0] ?? '');
  assert.equal(await git(shallow, 'rev-parse', 'FETCH_HEAD'), shas[0]);
});

test('a push of many megabytes streams through and arrives whole', async (t) => {
  const bench = await openBench(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const clone = await git.clone(bench.cloneUrl('ada/app'));
  const content = randomBytes(12 * 1024 * 1024);
  writeFileSync(join(clone, 'big.bin'), content);
  await git.commit(clone, 'Big', {});
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  const other = await git.clone(bench.cloneUrl('ada/app'));
  assert.ok(content.equals(readFileSync(join(other, 'big.bin'))));
});

test('a compressed request is understood', async (t) => {
  const { host } = await openBench(t);
  await host.createRepository({ owner: 'ada', name: 'app' });
  await host.commit('ada', 'app', { branch: 'main', message: 'One', files: { a: '1' } });
  const answer = await fetch(`${host.url}/ada/app.git/git-upload-pack`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-git-upload-pack-request',
      'content-encoding': 'gzip',
      'git-protocol': 'version=2',
    },
    body: new Uint8Array(gzipSync('0014command=ls-refs\n00000000')),
  });
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /refs\/heads\/main/);
});

test('a client that goes in the middle of a push leaves no process, no ref, and the next push works', async (t) => {
  const bench = await openBench(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const half = new AbortController();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from('00a4')),
  });
  const asked = fetch(`${bench.host.url}/ada/app.git/git-receive-pack`, {
    method: 'POST',
    signal: half.signal,
    headers: {
      authorization: `Bearer ${bench.token}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body,
    duplex: 'half',
  }).then((response) => response.text());
  const broken = assert.rejects(asked, /abort/i);
  const running = () =>
    globSync('/proc/[0-9]*/environ').some(
      (file) => existsSync(file) && environmentOf(file).includes(bench.dir),
    );
  await until(running);
  half.abort();
  await broken;
  await until(() => !running());
  const clone = await git.clone(bench.cloneUrl('ada/app'));
  await git.commit(clone, 'One', { a: '1' });
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
});

test('a script in the hooks folder of a repository, or in its configuration, never runs', async (t) => {
  const bench = await openBench(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const traces = tempFolder(t);
  const hooks = join(bench.dir, 'ada/app.git/hooks');
  mkdirSync(hooks);
  for (const name of [
    'pre-receive',
    'update',
    'post-receive',
    'post-update',
    'reference-transaction',
    'proc-receive',
  ])
    writeFileSync(join(hooks, name), `#!/bin/sh\ntouch '${traces}/${name}'\nexit 0\n`, { mode: 0o755 });
  writeFiles(join(bench.dir, 'ada/app.git'), {
    config: `[core]\n\tbare = true\n\thooksPath = ${hooks}\n[uploadpack]\n\tpackObjectsHook = touch ${traces}/pack;\n`,
  });
  const filter = `[filter "x"]\n\tsmudge = touch ${traces}/smudge; cat\n`;
  appendFileSync(join(bench.dir, 'ada/app.git/config'), filter);
  const clone = await git.clone(bench.cloneUrl('ada/app'));
  await git.commit(clone, 'One', { a: '1', '.gitattributes': '* filter=x\n' });
  await git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
  const archive = await bench.api('/repos/ada/app/tarball/main');
  assert.equal((await bench.api(archive.headers.get('location') ?? '')).status, 200);
  await bench.host.commit('ada', 'app', { branch: 'main', message: 'Two', files: { a: '2' } });
  await git(clone, 'pull', '--quiet', 'origin', 'main');
  assert.deepEqual(globSync(`${traces}/*`), []);
});

function environmentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    // Processes of others end whenever they like.
    if (
      error instanceof Error &&
      'code' in error &&
      ['ENOENT', 'ESRCH', 'EACCES'].includes(String(error.code))
    )
      return '';
    throw error;
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, 'it did not come to that');
    await setTimeout(20);
  }
}
