import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { root } from '../scripts/commands.ts';

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
