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
  const spentMs = Array.from({ length: 5 }, () => processorMs(desk.entry));
  assert.ok(Math.min(...spentMs) < 150, `a start takes ${spentMs.join(', ')} ms of processor time`);
});

/** Of a start, by the shell that waits for it: however busy the machine is, that stays nearly the same. */
function processorMs(entry: string): number {
  const start = ['-c', '"$@" > /dev/null; times', 'sh', process.execPath, entry, '--help'];
  const [, children = ''] = execFileSync('sh', start, { encoding: 'utf8' }).split('\n');
  const spent = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  return spent.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1_000,
    0,
  );
}

/** The lines that the recipes run, without what starts the program. */
function recipeLines(): string[] {
  const guide = readFileSync(join(root, 'docs/guides/ci.md'), 'utf8');
  const lines = guide.matchAll(/(?:^|--package "\$SLIPWAY_PACKAGE" )slipway ([^)\n]+)/gm);
  return [...lines].map(([, line = '']) => line);
}

test('the recipes for a CI use commands and flags that there are', () => {
  const lines = recipeLines();
  assert.equal(lines.length, 6);
  for (const line of lines) assert.ok(parse(line.replaceAll(/"[^"]*"/g, 'x').split(' ')).command, line);
});
