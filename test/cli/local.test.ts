/** `slipway deploy --local`: which files are sent, and that they arrive as they are. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { tarOf } from '../../cli/tar.ts';
import { listTree } from '../../cli/working-tree.ts';
import { sql } from '../../src/store/sql.ts';
import { newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { bareEnvironment, bareProject } from '../support/workspaces.ts';
import { Desk } from './support.ts';

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    encoding: 'utf8',
  });

/** A working tree with something of everything. */
function repository(t: TestContext): string {
  const folder = join(new Desk(t).folder, 'shop');
  write(folder, {
    '.gitignore': 'node_modules/\n*.log\n!keep.log\n',
    'packages/.gitignore': '/dist\n',
    'server.js': 'one',
    'removed.js': 'gone',
    'tracked.log': 'known all the same',
  });
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  git(folder, 'add', '--force', '.');
  git(folder, 'commit', '--quiet', '--message', 'First');
  rmSync(join(folder, 'removed.js'));
  write(folder, {
    'server.js': 'two, not committed',
    'new.js': 'not added',
    'debug.log': 'x',
    'keep.log': 'x',
    'node_modules/a/index.js': 'x',
    'packages/dist/out.js': 'x',
    'packages/src/dist/in.js': 'x',
    'vendor/inner.js': 'x',
    'vendor/.gitignore': 'local.txt\n',
    'vendor/local.txt': 'x',
  });
  git(join(folder, 'vendor'), 'init', '--quiet');
  return folder;
}

const sent = [
  '.gitignore',
  'keep.log',
  'new.js',
  'packages/.gitignore',
  'packages/src/dist/in.js',
  'server.js',
  'tracked.log',
  'vendor/.gitignore',
  'vendor/inner.js',
];

test('what Git knows or would add is sent; what is ignored, removed or of Git itself is not', async (t) => {
  const folder = repository(t);
  assert.deepEqual((await listTree(folder)).sort(), sent);
  // The same files where there is no repository: what was ignored and known is then only ignored.
  rmSync(join(folder, '.git'), { recursive: true });
  assert.deepEqual(
    (await listTree(folder)).sort(),
    sent.filter((path) => path !== 'tracked.log'),
  );
});

test('the archive has what is there: long names, links, what can be run, and nothing that grew meanwhile', async (t) => {
  const desk = new Desk(t);
  const [from, to] = [join(desk.folder, 'from'), join(desk.folder, 'to')];
  const long = `${'a long folder/'.repeat(12)}${'ü'.repeat(60)}.txt`;
  write(from, { [long]: 'deep', 'run.sh': '#!/bin/sh\n', empty: '', exact: 'x'.repeat(1024) });
  chmodSync(join(from, 'run.sh'), 0o755);
  symlinkSync(long, join(from, 'link'));
  mkdirSync(to);
  const archive = join(desk.folder, 'a.tar');
  await pipeline(
    Readable.from(tarOf(from, [long, 'run.sh', 'empty', 'exact', 'link'])),
    createWriteStream(archive),
  );
  execFileSync('tar', ['-xf', archive, '-C', to]);
  execFileSync('diff', ['--recursive', '--no-dereference', from, to]);
  assert.equal(statSync(join(to, 'run.sh')).mode & 0o111, 0o111);
  assert.equal(readFileSync(join(to, 'link'), 'utf8'), 'deep');

  write(from, { shrinking: 'x'.repeat(3 * 65_536) });
  const packing = tarOf(from, ['shrinking'])[Symbol.asyncIterator]();
  await packing.next();
  await packing.next();
  truncateSync(join(from, 'shrinking'), 65_536);
  await assert.rejects(
    async () => {
      while (!(await packing.next()).done);
    },
    { message: 'shrinking became shorter while it was sent.' },
  );
});

async function scene(t: TestContext) {
  const service = await sharedTestApp({ SLIPWAY_LIMIT_UPLOAD_MB: '1', SLIPWAY_LIMIT_TRIGGERS: '1000000' });
  const person = await newPerson(service);
  const { db, folder } = service.app.store;
  const { body: me } = await service.call('GET', '/auth/me', { token: person.token });
  const workspaceId = String(Object(me.workspaces)[0]?.id);
  const environmentId = await bareEnvironment(service, await bareProject(service, workspaceId));
  const server = { name: 'one', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const { body: made } = await service.call('POST', '/servers', { token: person.token, body: server });
  const id = String(made.id);
  await db.run(sql`update servers set status = 'ready', provisioned_at = now() where id = ${id}`);
  await db.run(sql`update environments set server_id = ${id} where id = ${environmentId}`);
  const desk = new Desk(t);
  const env = { SLIPWAY_URL: service.url, SLIPWAY_TOKEN: person.token };
  /** Of the commit that an upload became. */
  const uploaded = (sha: string) => {
    const holds = (dir: string) =>
      existsSync(join(dir, 'HEAD')) &&
      git(dir, 'cat-file', '--batch-all-objects', '--batch-check').includes(sha);
    const dir = globSync('*/*/*', { cwd: folder.uploadsDir })
      .map((each) => join(folder.uploadsDir, each))
      .find(holds);
    assert.ok(dir, 'no such upload');
    const files = git(dir, 'ls-tree', '-r', '--name-only', sha).trim().split('\n');
    return { files: files.sort(), message: git(dir, 'log', '-1', '--format=%s', sha).trim() };
  };
  const run = (cwd: string, ...args: string[]) => desk.run(['deploy', '--local', ...args], { cwd, env });
  return { desk, env, run, uploaded };
}

test('a working tree is sent from wherever one stands in it, and deployed as what it is', async (t) => {
  const { desk, env, run, uploaded } = await scene(t);
  const folder = repository(t);
  const begun = await run(join(folder, 'packages'), '--detach', '--json', '--message', 'Try the prices');
  assert.equal(begun.code, 0, begun.out + begun.err);
  const { source, commit } = JSON.parse(begun.out);
  assert.equal(source, 'upload');
  assert.deepEqual(uploaded(commit.sha), { files: sent, message: 'Try the prices' });

  // It is followed like any other: the server is not there, so it fails.
  const followed = await run(folder);
  assert.equal(followed.code, 5, followed.out + followed.err);
  const [first, ...steps] = followed.out.split('\n');
  assert.equal(first, `Sent ${sent.length} files of ${folder}, 1 kB.`);
  assert.match(steps.join('\n'), /^> plan\n(.*\n)*Failed at plan: /m);
  const { out } = await desk.run(['deployments', '--json'], { env });
  const shown: { source: string; commit: { message: string } }[] = JSON.parse(out);
  assert.deepEqual([shown.length, shown.every((each) => each.source === 'upload')], [2, true]);
  assert.match(shown[0]?.commit.message ?? '', /^Working tree at [0-9a-f]{7} \(main\), 6 changes$/);
});

test('what the service does not take is told in its words, also while there is more to send', async (t) => {
  const { desk, env, run } = await scene(t);
  const folder = repository(t);
  symlinkSync('/etc/passwd', join(folder, 'passwd'));
  const link = await run(folder);
  assert.equal(link.code, 1);
  assert.match(link.err, /^Error: .*«passwd».*\n(.*\n)*archive_invalid, request /);
  rmSync(join(folder, 'passwd'));
  execFileSync('dd', ['if=/dev/urandom', `of=${join(folder, 'large')}`, 'bs=1M', 'count=40', 'status=none']);
  const large = await run(folder);
  assert.equal(large.code, 1, large.err);
  assert.match(large.err, /SLIPWAY_LIMIT_UPLOAD_MB(.*\n)*.*payload_too_large, request /);
  const nothing = join(desk.folder, 'nothing');
  mkdirSync(nothing);
  assert.match((await run(nothing)).err, /^Error: There is nothing to send in /);
  for (const args of [
    ['deploy', '--local', '--branch', 'x'],
    ['deploy', '--local', '--commit', 'x'],
  ])
    assert.deepEqual(await desk.run(args, { env }), {
      code: 2,
      out: '',
      err: 'Error: Say one of --commit, --branch and --local.\n',
    });
  const without = await desk.run(['deploy', '--message', 'x'], { env });
  assert.deepEqual([without.code, without.err.split(':')[1]], [2, ' --message goes with --local']);
});
