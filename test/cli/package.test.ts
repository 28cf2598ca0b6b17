import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from '../../cli/arguments.ts';
import { version } from '../../cli/command.ts';
import { root } from '../../scripts/commands.ts';
import { Desk } from './support.ts';

test('the package runs in an empty folder, with nothing beside it', async (t) => {
  const desk = new Desk(t);
  const made = join(desk.folder, 'made');
  execFileSync(process.execPath, [join(root, 'scripts/pack-cli.ts'), made]);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', desk.folder], { cwd: made, env: desk.env });
  const there = join(desk.folder, 'there');
  mkdirSync(there);
  execFileSync('tar', ['-xzf', join(desk.folder, `slipway-${version}.tgz`), '-C', there]);
  const unpacked = join(there, 'package');
  assert.deepEqual(readdirSync(unpacked).sort(), ['LICENSE', 'README.md', 'bin', 'package.json']);
  const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
  assert.equal(manifest.dependencies, undefined);
  assert.deepEqual(globSync('**/*.node', { cwd: unpacked }), []);
  desk.entry = join(unpacked, manifest.bin.slipway);
  const told = await desk.run(['--version'], { cwd: there });
  assert.deepEqual(told, { code: 0, out: `slipway ${version}\n`, err: '' });
  assert.match((await desk.run(['deploy', '--help'], { cwd: there })).out, /--commit SHA/);
  assert.equal((await desk.run(['status'], { cwd: there })).code, 3);
});

/** The lines that the recipes run, without what starts the program. */
function recipeLines(): string[] {
  const guide = readFileSync(join(root, 'docs/guides/ci.md'), 'utf8');
  return [...guide.matchAll(/^ *(?:- run: |- |)(?:npx --yes )?slipway (.+)$/gm)].map(([, line = '']) => line);
}

test('the recipes for a CI use commands and flags that there are', () => {
  const lines = recipeLines();
  assert.equal(lines.length, 7);
  for (const line of lines) assert.ok(parse(line.replaceAll(/"[^"]*"/g, 'x').split(' ')).command, line);
});
