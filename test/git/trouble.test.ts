import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { hangMs, until } from '../support/until.ts';
import {
  bareOf,
  commitFiles,
  faultOf,
  git,
  key,
  openMirrors,
  processesShowing,
  signal,
  unpack,
} from './support.ts';

const repo = key('trouble');
const dirOf = (folder: string, generation = 'g1') => join(folder, 'mirrors', repo, generation);
const packsOf = (dir: string) =>
  readdirSync(join(dir, 'objects', 'pack'))
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(dir, 'objects', 'pack', name));

type Damage = (dir: string) => void;
const damages: Record<string, Damage> = {
  'a pack that is cut off': (dir) => {
    for (const pack of packsOf(dir)) truncateSync(pack, 40);
  },
  'a pack that is gone': (dir) => {
    for (const pack of packsOf(dir)) rmSync(pack);
  },
  'a HEAD that is nonsense': (dir) => writeFileSync(join(dir, 'HEAD'), 'nonsense'),
  'no objects at all': (dir) => rmSync(join(dir, 'objects'), { recursive: true }),
  'a config that cannot be read': (dir) => writeFileSync(join(dir, 'config'), '[core\n'),
  'a ref without content': (dir) => {
    const heads = join(dir, 'refs', 'mirror', 'heads');
    for (const name of readdirSync(heads)) writeFileSync(join(heads, name), '');
  },
};

for (const [name, damage] of Object.entries(damages)) {
  test(`a mirror with ${name} is built anew by the next fetch`, async (t) => {
    const setup = await openMirrors(t);
    const { bench, mirrors, source, folder } = setup;
    await bench.host.createRepository({ owner: 'ada', name: 'app' });
    const bare = bareOf(setup, 'ada/app');
    const old = commitFiles(bare, { a: '1', same: 'same' });
    await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
    damage(dirOf(folder));
    assert.equal(
      (await mirrors.fetch(repo, source('ada/app'), { want: { sha: old }, signal })).commit.sha,
      old,
    );
    const { sha } = (await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal })).commit;
    assert.equal((await unpack(mirrors.open(repo).tar(sha))).get('same')?.content.toString(), 'same');
    assert.ok(setup.warnings.length <= 1);
  });
}

test('damage that is found while reading is told, and mended by the next fetch', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  const sha = commitFiles(bare, { big: randomBytes(200_000) });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  const [pack = ''] = packsOf(dirOf(folder));
  chmodSync(pack, 0o600);
  const handle = openSync(pack, 'r+');
  writeSync(handle, Buffer.alloc(50, 1), 0, 50, 100_000);
  closeSync(handle);
  const fault = await faultOf(buffer(mirrors.open(repo).tar(sha)));
  assert.equal(fault.code, 'git_failed');
  assert.match(fault.message, /damaged/);
  await mirrors.fetch(repo, source('ada/app'), { want: { sha }, signal });
  assert.equal((await unpack(mirrors.open(repo).tar(sha))).get('big')?.content.length, 200_000);
  assert.equal(setup.warnings.length, 1);
});

test('a file whose bytes are not those of its name is not handed on', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const sha = commitFiles(bareOf(setup, 'ada/app'), { a: 'right' });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  const dir = dirOf(folder);
  const oid = git(dir, ['rev-parse', `${sha}:a`]);
  for (const pack of packsOf(dir)) {
    const bytes = readFileSync(pack);
    rmSync(pack);
    rmSync(pack.replace(/pack$/, 'idx'));
    git(dir, ['unpack-objects', '-q'], bytes);
  }
  const loose = join(dir, 'objects', oid.slice(0, 2), oid.slice(2));
  chmodSync(loose, 0o600);
  writeFileSync(loose, deflateSync(Buffer.from('blob 5\0wrong')));
  assert.match((await faultOf(buffer(mirrors.open(repo).tar(sha)))).message, /damaged/);
  await mirrors.fetch(repo, source('ada/app'), { want: { sha }, signal });
  assert.equal((await unpack(mirrors.open(repo).tar(sha))).get('a')?.content.toString(), 'right');
});

test('a build context that misses a file is gathered again from a mirror that is built anew', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  const same = randomBytes(5_000);
  commitFiles(bare, { a: '1', same });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  const [first = ''] = packsOf(dirOf(folder));
  const sha = commitFiles(bare, { a: '2', same });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  rmSync(first);
  rmSync(first.replace(/pack$/, 'idx'));
  const context = await mirrors.gather(repo, source('ada/app'), sha, signal);
  assert.ok((await unpack(context.tar())).get('same')?.content.equals(same));
  assert.equal(setup.warnings.length, 1);
});

test('readers go on while their mirror is fetched into and built anew', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  const content = randomBytes(3_000_000);
  commitFiles(bare, { big: content });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  // In a pack of its own, which git opens only when it comes to the last file.
  const sha = commitFiles(bare, { big: content, z: 'last' });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  const tar = mirrors.open(repo).tar(sha);
  await new Promise((resolve) => tar.once('readable', resolve));
  writeFileSync(join(dirOf(folder), 'damaged'), '');
  commitFiles(bare, { a: '2' });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  assert.ok(existsSync(dirOf(folder, 'g2')));
  const found = await unpack(tar);
  assert.ok(found.get('big')?.content.equals(content));
  assert.equal(found.get('z')?.content.toString(), 'last');
});

test('after a kill in the middle of a fetch, the next one clears up and succeeds', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source, folder } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  commitFiles(bare, { a: '1' });
  await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal });
  const sha = commitFiles(bare, { a: '2' });
  bench.host.setFault({ pathPrefix: '/ada/app.git', status: null, delayMs: 60_000 });
  const program = `
    import { createMirrors } from ${JSON.stringify(new URL('../../src/adapters/git/mirrors.ts', import.meta.url).href)};
    const mirrors = createMirrors({ folder: process.argv[1], allowHttp: true, fetch, log: { warn() {} },
      resolve: async (address) => [{ address, family: 4 }] });
    await mirrors.fetch('${repo}', { url: process.argv[2] }, { want: { branch: 'main' }, signal: AbortSignal.timeout(${hangMs}) });
  `;
  const { url } = source('ada/app');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, folder, url], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const dir = dirOf(folder);
  await until(() => processesShowing(`GIT_DIR=${dir}`).length >= 2, 'the other process to fetch');
  child.kill('SIGKILL');
  await ended;
  for (const name of [
    'shallow.lock',
    'packed-refs.lock',
    'HEAD.lock',
    'objects/pack/tmp_pack_x',
    'refs/mirror/commits/x.lock',
  ])
    writeFileSync(join(dir, name), 'half');
  mkdirSync(join(folder, 'mirrors', repo, 'new-half', 'objects'), { recursive: true });
  bench.host.setFault({ pathPrefix: '/ada/app.git', status: null });
  assert.equal((await mirrors.fetch(repo, source('ada/app'), { want: 'default', signal })).commit.sha, sha);
  // What the fetch itself started may take a moment to be gone; those of the killed one would wait for a minute.
  await until(() => processesShowing(`GIT_DIR=${dir}`).length === 0, 'nobody to be left');
  assert.deepEqual(setup.warnings, []);
  assert.deepEqual(readdirSync(join(folder, 'mirrors', repo)).sort(), ['g1', 'used']);
  assert.deepEqual(
    readdirSync(join(dir, 'objects', 'pack')).filter((name) => name.startsWith('tmp')),
    [],
  );
});
