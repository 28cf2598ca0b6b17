import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { tempFolder } from '../../lab/services/git/test-bench.ts';
import {
  bareOf,
  commitFiles,
  commitTree,
  faultOf,
  plainFile as file,
  type OddEntry,
  openMirrors,
  hostileRepo as repo,
  signal,
  tarNames,
  unpack,
  withTree,
  writeTree,
} from './support.ts';

test('branches with names like options or commands are fetched as what they are', async (t) => {
  const setup = await openMirrors(t);
  const { bench, mirrors, source } = setup;
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  const traces = tempFolder(t);
  const names = [
    '--help',
    '--upload-pack=touch',
    '-x',
    '$(id)',
    '`id`',
    ';id',
    'a"b\'c',
    '@',
    'ü/ö',
    '+main',
    `$(touch${'$'}{IFS}${traces.replaceAll('/', '\\57')})`.replaceAll('\\', ''),
  ];
  for (const branch of names) {
    const sha = commitFiles(bare, { name: branch }, branch);
    const { commit } = await mirrors.fetch(repo, source('ada/app'), { want: { branch }, signal });
    assert.equal(commit.sha, sha, branch);
  }
  assert.deepEqual(
    [...(await mirrors.refs(source('ada/app'), signal)).branches.keys()].sort(),
    [...names].sort(),
  );
  for (const branch of ['a b', 'a:b', 'a..b', '*', '', 'a\nb', '^x', 'a\\b', 'x.lock', '/x'])
    assert.equal(
      (await faultOf(mirrors.fetch(repo, source('ada/app'), { want: { branch }, signal }))).code,
      'commit_not_found',
      branch,
    );
  for (const sha of ['--help', 'main', 'HEAD', 'abc123', `${'a'.repeat(39)}\n`])
    assert.equal(
      (await faultOf(mirrors.fetch(repo, source('ada/app'), { want: { sha }, signal }))).code,
      'commit_not_found',
      sha,
    );
  assert.deepEqual(readdirSync(traces), []);
});

test('names with newlines, quotes or bytes that are not UTF-8 are listed and streamed as they are', async (t) => {
  const setup = await openMirrors(t);
  const odd = Buffer.from([0x66, 0xff, 0xfe, 0x2e, 0x74]);
  const long = `${'long'.repeat(60)}.txt`;
  const { sha } = await withTree(setup, (bare) => {
    const sub = writeTree(bare, [file(odd, 'bytes'), file(long, 'far')]);
    return writeTree(bare, [
      file(' lead', 's'),
      file('-rf', 'dash'),
      file('"q\'`$(id)', 'quotes'),
      file('a\nb\tc', 'lines'),
      { mode: '040000', name: 'dir', content: sub },
      file('ü', 'utf'),
    ]);
  });
  const mirror = setup.mirrors.open(repo);
  const { entries } = await mirror.tree(sha);
  assert.deepEqual(
    entries.map(({ path }) => path).slice(0, 4),
    [' lead', '"q\'`$(id)', '-rf', 'a\nb\tc'].sort(
      (a, b) => entries.findIndex((e) => e.path === a) - entries.findIndex((e) => e.path === b),
    ),
  );
  const raw = entries.find(({ rawPath }) => rawPath !== undefined);
  assert.deepEqual(raw?.rawPath, Buffer.concat([Buffer.from('dir/'), odd]));
  const read = await Array.fromAsync(mirror.readFiles(sha, ['a\nb\tc', '-rf', `dir/${long}`, 'ü']));
  assert.deepEqual(
    read.map(({ content }) => content.toString()),
    ['lines', 'dash', 'far', 'utf'],
  );
  const tar = await buffer(mirror.tar(sha));
  const names = tarNames(tar);
  assert.ok(names.some((name) => name.equals(Buffer.concat([Buffer.from('dir/'), odd]))));
  assert.ok(names.some((name) => name.toString() === `dir/${long}`));
});

test('links out of the tree, in circles, and to devices are links, and are not followed', async (t) => {
  const setup = await openMirrors(t);
  const links = { a: 'b', b: 'a', out: '../../../../etc/passwd', root: '/', null: '/dev/null', self: '.' };
  const { sha } = await withTree(setup, (bare) =>
    writeTree(
      bare,
      Object.entries(links).map(([name, content]): OddEntry => ({ mode: '120000', name, content })),
    ),
  );
  const mirror = setup.mirrors.open(repo);
  assert.ok((await mirror.tree(sha)).entries.every(({ type }) => type === 'symlink'));
  assert.deepEqual(await Array.fromAsync(mirror.readFiles(sha, Object.keys(links))), []);
  const tar = await unpack(mirror.tar(sha));
  assert.deepEqual(Object.fromEntries([...tar].map(([name, { target }]) => [name, target])), links);
});

test('a tree that would unpack somewhere else is not streamed', async (t) => {
  const evil: Record<string, (bare: string) => OddEntry[]> = {
    dotdot: (bare) => [{ mode: '040000', name: '..', content: writeTree(bare, [file('x')]) }],
    slash: () => [file('/etc/x')],
    deep: () => [file('a/../../x')],
    git: (bare) => [{ mode: '040000', name: '.GIT', content: writeTree(bare, [file('config')]) }],
    twice: () => [{ mode: '120000', name: 'a', content: '/etc' }, file('a')],
    below: (bare) => [
      { mode: '120000', name: 'a', content: '/etc' },
      { mode: '040000', name: 'a', content: writeTree(bare, [file('passwd')]) },
    ],
  };
  const setup = await openMirrors(t);
  await setup.bench.host.createRepository({ owner: 'ada', name: 'app' });
  const bare = bareOf(setup, 'ada/app');
  for (const [name, make] of Object.entries(evil)) {
    const sha = commitTree(bare, writeTree(bare, make(bare)), name);
    await setup.mirrors.fetch(repo, setup.source('ada/app'), { want: { branch: name }, signal });
    const fault = await faultOf(buffer(setup.mirrors.open(repo).tar(sha)));
    assert.match(fault.message, /malformed/, name);
  }
});

test('a tree that names itself a billion times is given up at the limit', async (t) => {
  const setup = await openMirrors(t, { limits: { maxEntries: 5_000 } });
  const { sha } = await withTree(setup, (bare) => {
    let tree = writeTree(bare, [file('x')]);
    for (let level = 0; level < 12; level += 1)
      tree = writeTree(
        bare,
        Array.from({ length: 10 }, (_, at): OddEntry => ({ mode: '040000', name: `d${at}`, content: tree })),
      );
    return tree;
  });
  const mirror = setup.mirrors.open(repo);
  const { entries, isComplete } = await mirror.tree(sha);
  assert.equal(entries.length, 5_000);
  assert.ok(!isComplete);
  assert.equal((await faultOf(buffer(mirror.tar(sha)))).code, 'repository_too_large');
  assert.equal(
    (await faultOf(setup.mirrors.gather(repo, setup.source('ada/app'), sha, signal))).code,
    'repository_too_large',
  );
});

test('whoever wants to fill the memory of the service with the paths of a small tree cannot', async (t) => {
  const setup = await openMirrors(t);
  const name = 'a'.repeat(240);
  const { sha } = await withTree(setup, (bare) => {
    let tree = writeTree(bare, [file('x')]);
    for (let level = 0; level < 12; level += 1)
      tree = writeTree(
        bare,
        Array.from(
          { length: 4 },
          (_, at): OddEntry => ({ mode: '040000', name: `${name}${at}`, content: tree }),
        ),
      );
    return tree;
  });
  const { entries, isComplete } = await setup.mirrors.open(repo).tree(sha, { maxEntries: 200_000 });
  assert.ok(!isComplete);
  const bytes = entries.reduce((sum, { path }) => sum + path.length, 0);
  assert.ok(bytes < 33 * 2 ** 20, `${bytes} bytes of paths`);
});

test('a small repository with a huge file is listed, not read, and not streamed beyond the limit', async (t) => {
  const setup = await openMirrors(t, { limits: { maxContentBytes: 10_000_000 } });
  const { sha } = await withTree(setup, (bare) =>
    writeTree(bare, [file('a', 'small'), { mode: '100644', name: 'big', content: Buffer.alloc(40_000_000) }]),
  );
  const mirror = setup.mirrors.open(repo);
  assert.equal((await mirror.tree(sha)).entries.find(({ path }) => path === 'big')?.size, 40_000_000);
  const read = await Array.fromAsync(mirror.readFiles(sha, ['big', 'a']));
  assert.deepEqual(
    read.map(({ path }) => path),
    ['a'],
  );
  assert.equal((await faultOf(buffer(mirror.tar(sha)))).code, 'repository_too_large');
});

test('a huge file is streamed in constant memory', async (t) => {
  const setup = await openMirrors(t);
  const size = 60_000_000;
  const { sha } = await withTree(setup, (bare) =>
    writeTree(bare, [{ mode: '100644', name: 'big', content: Buffer.alloc(size, 7) }]),
  );
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert.ok(typeof collect === 'function');
  const held = () => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  // What was let go is counted until the collector has swept once more: two intervals of what is read.
  const before = held();
  let seen = 0;
  let most = 0;
  for await (const chunk of setup.mirrors.open(repo).tar(sha)) {
    assert.ok(Buffer.isBuffer(chunk));
    const isTime = Math.floor(seen / 4_000_000) < Math.floor((seen + chunk.length) / 4_000_000);
    seen += chunk.length;
    if (isTime) most = Math.max(most, held() - before);
  }
  assert.ok(seen > size);
  assert.ok(most < 20_000_000, `${most} bytes were held`);
});
