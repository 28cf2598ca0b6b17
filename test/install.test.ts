import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { attempt, run } from '../lab/command.ts';
import { root } from '../scripts/commands.ts';
import { temporaryFolder } from './support/postgres.ts';

interface LockedPackage {
  readonly name: string;
  readonly hasScript: boolean;
  readonly os: readonly string[] | undefined;
  readonly cpu: readonly string[] | undefined;
}

const lockText = readFileSync(`${root}package-lock.json`, 'utf8');
const packages = readPackages(JSON.parse(lockText));
const withScript = packages.filter(({ hasScript }) => hasScript);
/** `true` runs its script, `false` says that it has one which we do without. */
const judged = readJudged(JSON.parse(readFileSync(`${root}package.json`, 'utf8')));
const platforms = [
  { os: 'linux', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
];

function readPackages(lock: unknown): LockedPackage[] {
  return Object.entries(Object(Object(lock).packages))
    .filter(([path]) => path !== '')
    .map(([path, value]) => {
      const { hasInstallScript, os, cpu } = Object(value);
      const name = path.split('node_modules/').at(-1) ?? path;
      return { name, hasScript: hasInstallScript === true, os, cpu };
    });
}

function readJudged(manifest: unknown): string[] {
  const entries = Object.entries(Object(Object(manifest).allowScripts));
  for (const [name, value] of entries) assert.equal(typeof value, 'boolean', `allowScripts: ${name}`);
  return entries.map(([name]) => name);
}

/** As npm reads them: a list of those it runs on, or with `!` of those it does not. */
function fits(list: readonly string[] | undefined, value: string): boolean {
  if (list === undefined || list.length === 0) return true;
  return list.some((each) => each.startsWith('!')) ? !list.includes(`!${value}`) : list.includes(value);
}

function isInstalledSomewhere({ os, cpu }: LockedPackage): boolean {
  return platforms.some((platform) => fits(os, platform.os) && fits(cpu, platform.cpu));
}

test('the lock file names no host, so that any registry can serve the install', () => {
  assert.doesNotMatch(lockText, /"resolved"/);
  assert.doesNotMatch(lockText, /"(version|[^"]*dependencies)": *"(git|http|file)/i);
});

test('every package in the lock file is pinned by its content', () => {
  const entries = Object.entries(Object(JSON.parse(lockText).packages)).filter(([path]) => path !== '');
  const open = entries.filter(([, value]) => !/^sha512-/.test(String(Object(value).integrity)));
  assert.deepEqual(
    open.map(([path]) => path),
    [],
  );
});

test('a package that runs a script when it is installed is allowed or refused by name, or is for another platform', () => {
  const refused = withScript.filter((each) => isInstalledSomewhere(each) && !judged.includes(each.name));
  assert.deepEqual(
    refused.map(({ name }) => name),
    [],
  );
});

test('no script is judged that nothing brings', () => {
  const needed = withScript.filter(isInstalledSomewhere).map(({ name }) => name);
  assert.deepEqual(
    judged.filter((name) => !needed.includes(name)),
    [],
  );
});

test('who waits for the installation at a terminal sees how far it is, and nothing is left of that', async (t) => {
  const folder = temporaryFolder('install');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'scripts'));
  cpSync(join(root, 'scripts/run.mjs'), join(folder, 'scripts/run.mjs'));
  // Packages of this machine, so that nobody's registry is asked.
  const names = ['one', 'two', 'three'];
  for (const name of names) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    await run('npm', ['pack', '--silent', `./${name}`], { cwd: folder });
  }
  const dependencies = Object.fromEntries(names.map((name) => [name, `file:${name}-1.0.0.tgz`]));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'here', version: '1.0.0', dependencies }),
  );
  await run('npm', ['install', '--package-lock-only', '--offline', '--silent'], { cwd: folder });

  const command = `${process.execPath} scripts/run.mjs --prepare`;
  const install = () => attempt('script', ['-qefc', command, '/dev/null'], { cwd: folder });
  const first = await install();
  assert.equal(first.code, 0, first.stdout);
  assert.match(first.stdout, /Installing dependencies \(run time only\): [0-3] of 3, \d+ s/);
  assert.ok(first.stdout.endsWith('\r\u001b[K'), 'the line is cleared in the end');
  assert.doesNotMatch(first.stdout, /\n/, 'one line, written over and over');
  assert.ok(existsSync(join(folder, 'node_modules/three/package.json')));
  assert.equal((await install()).stdout, '', 'what is installed is not installed again');

  rmSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { four: '1.0.0' } }));
  const failed = await install();
  assert.equal(failed.code, 1, failed.stdout);
  assert.match(failed.stdout, /four@1\.0\.0[\s\S]*could not install its dependencies: `npm ci` failed/);
});
