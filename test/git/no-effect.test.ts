import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../../lab/services/git/test-bench.ts';
import {
  commitFiles,
  plainFile as file,
  git,
  openMirrors,
  hostileRepo as repo,
  signal,
  unpack,
  withTree,
  writeTree,
} from './support.ts';

test('attributes neither rewrite nor leave out files, and name no program that is run', async (t) => {
  const setup = await openMirrors(t);
  const traces = tempFolder(t);
  const attributes =
    '* filter=evil diff=evil merge=evil\nhidden export-ignore\nv export-subst\nc text eol=crlf\n';
  const { sha, bare } = await withTree(setup, (dir) =>
    writeTree(dir, [
      file('.gitattributes', attributes),
      file('.gitconfig', `[filter "evil"]\n\tsmudge = touch ${traces}/smudge\n`),
      file('c', 'a\nb\n'),
      file('hidden', 'h'),
      file('v', '$Format:%H$'),
    ]),
  );
  const mirror = setup.mirrors.open(repo);
  const tar = await unpack(mirror.tar(sha));
  assert.deepEqual([...tar.keys()], ['.gitattributes', '.gitconfig', 'c', 'hidden', 'v']);
  assert.equal(tar.get('v')?.content.toString(), '$Format:%H$');
  assert.equal(tar.get('c')?.content.toString(), 'a\nb\n');
  const other = commitFiles(bare, { '.gitattributes': attributes, v: '2' });
  await setup.mirrors.fetch(repo, setup.source('ada/app'), { want: 'default', signal });
  assert.ok((await mirror.changedPaths(sha, other))?.includes('v'));
  assert.deepEqual(readdirSync(traces), []);
});

test('hooks and settings that get into a mirror’s folder are not run', async (t) => {
  const setup = await openMirrors(t, { limits: { maxPacks: 1 } });
  const traces = tempFolder(t);
  const { sha, bare } = await withTree(setup, (dir) =>
    writeTree(dir, [file('.gitattributes', '* filter=evil diff=evil\n'), file('a')]),
  );
  const dir = join(setup.folder, 'mirrors', repo, 'g1');
  mkdirSync(join(dir, 'hooks'));
  for (const hook of [
    'reference-transaction',
    'post-checkout',
    'pre-auto-gc',
    'post-rewrite',
    'fsmonitor-watchman',
  ])
    writeFileSync(join(dir, 'hooks', hook), `#!/bin/sh\ntouch '${traces}/${hook}'\n`, { mode: 0o755 });
  writeFileSync(
    join(dir, 'config'),
    `[core]\n\trepositoryformatversion = 0\n\tbare = true\n\thooksPath = ${dir}/hooks\n\tfsmonitor = touch ${traces}/fsmonitor\n` +
      `\tsshCommand = touch ${traces}/ssh\n[credential]\n\thelper = "!touch ${traces}/helper"\n` +
      `[filter "evil"]\n\tsmudge = touch ${traces}/smudge\n[diff "evil"]\n\tcommand = touch ${traces}/diff\n\ttextconv = touch ${traces}/textconv\n`,
  );
  const other = commitFiles(bare, { '.gitattributes': '* filter=evil diff=evil\n', a: '2' });
  await setup.mirrors.fetch(repo, setup.source('ada/app'), { want: 'default', signal });
  const mirror = setup.mirrors.open(repo);
  assert.deepEqual(await mirror.changedPaths(sha, other), ['a']);
  assert.equal((await unpack(mirror.tar(other))).size, 2);
  assert.deepEqual(setup.warnings, []);
  assert.deepEqual(readdirSync(traces), []);
});

test('nothing of a repository is ever checked out', async (t) => {
  const setup = await openMirrors(t);
  await withTree(setup, (dir) => writeTree(dir, [file('marker-of-a-checkout', 'unique content of a file')]));
  const found = readdirSync(setup.folder, { recursive: true }).filter((name) =>
    String(name).includes('marker'),
  );
  assert.deepEqual(found, []);
  assert.ok(!existsSync(join(setup.folder, 'mirrors', repo, 'g1', 'index')));
  assert.equal(git(join(setup.folder, 'mirrors', repo, 'g1'), ['config', 'core.bare']), 'true');
});
