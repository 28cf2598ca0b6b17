import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { recipes } from './all.ts';
import { keyOf } from './recipe.ts';

const rootfs = fileURLToPath(new URL('../rootfs/', import.meta.url));
const files = readdirSync(rootfs, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const scripts = files.filter((file) => readFileSync(file, 'utf8').startsWith('#!'));

test('no tag is claimed by two recipes', () => {
  const claimed = recipes.flatMap(({ name, tags }) => tags.map((tag) => `${name}:${tag}`));
  assert.deepEqual(claimed.sort(), [...new Set(claimed)].sort());
});

test('a parent is a Debian tree or a recipe that comes earlier', () => {
  const known = new Set(['debian-trixie', 'debian-bookworm']);
  for (const recipe of recipes) {
    assert.ok(known.has(recipe.parent), `${keyOf(recipe)} is built on ${recipe.parent}`);
    known.add(keyOf(recipe));
  }
});

test('every folder of files is used, and every folder that is named exists', () => {
  const named = recipes.flatMap((recipe) => recipe.rootfs ?? []);
  assert.deepEqual(readdirSync(rootfs).sort(), [...new Set(named)].sort());
});

test('the entrypoint of an image is among its files', () => {
  for (const recipe of recipes) {
    const entrypoint = recipe.config.Entrypoint?.[0];
    if (!entrypoint) continue;
    const place = entrypoint.startsWith('/') ? entrypoint : `/usr/local/bin/${entrypoint}`;
    assert.ok(recipe.rootfs, keyOf(recipe));
    assert.ok(scripts.includes(join(rootfs, recipe.rootfs, place)), keyOf(recipe));
  }
});

test('every script of an image is executable and is valid shell', () => {
  assert.notEqual(scripts.length, 0);
  for (const script of scripts) {
    assert.equal(statSync(script).mode & 0o111, 0o111, script);
    const shell = readFileSync(script, 'utf8').startsWith('#!/bin/sh') ? 'sh' : 'bash';
    assert.equal(spawnSync(shell, ['-n', script]).status, 0, script);
  }
});

test('every setup script is valid shell', () => {
  for (const recipe of recipes) {
    const { status, stderr } = spawnSync('sh', ['-n'], { input: recipe.setup ?? '', encoding: 'utf8' });
    assert.equal(status, 0, `${keyOf(recipe)}: ${stderr}`);
  }
});

/** What the entrypoint of an image runs, one word a line, when `program` is the only command of the image. */
function started(image: string, program: string, args: readonly string[], t: test.TestContext): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-recipes-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, program), `#!/bin/sh\nprintf '%s\\n' ${program} "$@"\n`, { mode: 0o755 });
  const script = join(rootfs, image, 'usr/local/bin/docker-entrypoint.sh');
  const { stdout, stderr, status } = spawnSync('/bin/sh', [script, ...args], {
    env: { PATH: folder },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout.trimEnd().split('\n');
}

test('HAProxy stays in the foreground with a master, whichever way it is started', (t) => {
  const whole = ['haproxy', '-W', '-db', '-f', 'a b.cfg'];
  assert.deepEqual(started('haproxy', 'haproxy', ['-f', 'a b.cfg'], t), whole);
  assert.deepEqual(started('haproxy', 'haproxy', ['haproxy', '-f', 'a b.cfg'], t), whole);
});

test('a command that is not HAProxy is run as it is', (t) => {
  assert.deepEqual(started('haproxy', 'other', ['other', '$(id)'], t), ['other', '$(id)']);
});

test('options and names that are no command are meant for node', (t) => {
  assert.deepEqual(started('node', 'node', ['--version'], t), ['node', '--version']);
  assert.deepEqual(started('node', 'node', ['server.js', 'a b'], t), ['node', 'server.js', 'a b']);
});

test('a command that the node image has is run as it is', (t) => {
  assert.deepEqual(started('node', 'npm', ['npm', 'ci'], t), ['npm', 'ci']);
});
