/** The bundle that the service is started from: when one is made, which are kept, and what its stack traces name. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../scripts/commands.ts';
import { until } from './support/until.ts';

const run = promisify(execFile);
const module = pathToFileURL(`${root}scripts/bundle.mjs`).href;

const files = {
  'main.ts': `import { fail } from './deep/fail.ts';\nif (process.argv[2] === 'fail') fail();\nawait import('./app.ts');\n`,
  'app.ts': `console.log(import.meta.url);\n`,
  'deep/fail.ts': `interface Why {\n  readonly text: string;\n}\n\nexport function fail(): never {\n  const why: Why = { text: 'on purpose' };\n  throw new Error(why.text);\n}\n`,
};

interface Bundle {
  readonly main: string;
  readonly app: string;
  readonly traces: string;
}

function newProject(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bundle-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [source, cache] = [join(folder, 'src'), join(folder, 'cache')];
  mkdirSync(join(source, 'deep'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(source, name), text);
  /** As a start does it: in a process of its own. */
  const make = async (key = 'lock'): Promise<Bundle> => {
    const args = [folder, join(source, 'main.ts'), cache, key].map((each) => JSON.stringify(each)).join(', ');
    const program = `import { bundle } from '${module}'; console.log(JSON.stringify(await bundle(${args})));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
    return JSON.parse(stdout);
  };
  return { source, cache, make, made: () => readdirSync(cache).sort() };
}

test('a bundle is made once for what the source and the lock file are, whatever the tests are', async (t) => {
  const { source, make, made } = newProject(t);
  const first = await make();
  writeFileSync(join(source, 'app.test.ts'), 'throw new Error("no part of the service");\n');
  assert.deepEqual(await make(), first);
  assert.notDeepEqual(await make('another lock'), first);
  writeFileSync(join(source, 'app.ts'), `${files['app.ts']}console.log('changed');\n`);
  const changed = await make();
  assert.notDeepEqual(changed, first);
  assert.equal(made().length, 3);
  const { stdout } = await run(process.execPath, [changed.main]);
  assert.deepEqual(stdout.trim().split('\n'), [pathToFileURL(join(source, 'app.ts')).href, 'changed']);
});

test('starts at the same time make one bundle, and each can run it', async (t) => {
  const { make, made } = newProject(t);
  const [one, other] = await Promise.all([make(), make()]);
  assert.deepEqual(one, other);
  assert.equal(made().length, 1);
  await run(process.execPath, [`--import=${one.traces}`, one.main]);
});

test('the last four are kept, and what a killed start left is cleaned away', async (t) => {
  const { cache, make, made } = newProject(t);
  const folders: string[] = [];
  for (const key of ['a', 'b', 'c', 'd']) folders.push(join((await make(key)).main, '..'));
  for (const [at, folder] of folders.entries()) utimesSync(folder, at + 1, at + 1);
  const [halfNew, halfOld, compiled] = ['half-1', 'half-2', 'v24'].map((name) => join(cache, name));
  for (const folder of [halfNew, halfOld, compiled]) mkdirSync(folder ?? '');
  for (const folder of [halfOld, compiled]) utimesSync(folder ?? '', 1, 1);
  const last = await make('e');
  assert.deepEqual(
    folders.map((folder) => existsSync(folder)),
    [false, true, true, true],
  );
  assert.ok(existsSync(last.main));
  assert.deepEqual(
    made().filter((name) => !name.startsWith('bundle-')),
    ['half-1', 'v24'],
  );
});

test('a stack trace names the line of the source, and without its map the line of the bundle', async (t) => {
  const { source, make } = newProject(t);
  const { main, traces } = await make();
  const stackOf = async () => {
    const failed = await run(process.execPath, [`--import=${traces}`, main, 'fail']).catch(Object);
    return String(failed.stderr);
  };
  const named = await stackOf();
  assert.match(named, /Error: on purpose/);
  assert.ok(named.includes(`at fail (${join(source, 'deep/fail.ts')}:7:9)`), named);
  assert.ok(named.includes(`${join(source, 'main.ts')}:2:`), named);
  rmSync(`${main}.map`);
  const unnamed = await stackOf();
  assert.match(unnamed, /Error: on purpose\n {4}at fail \(file:.*main\.js:\d+:\d+\)/);
});

test('every place of a bundle is found, and what was not looked for takes no memory', async (t) => {
  const { source, make } = newProject(t);
  const rules = Array.from({ length: 20_000 }, (_, at) => `  (x: number) => x * ${at} + x,\n`).join('');
  const body = `export const rules = [\n${rules}];\nexport function far(): never {\n  throw new Error('far down');\n}\n`;
  writeFileSync(join(source, 'deep/fail.ts'), body);
  const main = `import { far, rules } from './deep/fail.ts';
const held = () => {
  gc?.();
  return process.memoryUsage().heapUsed;
};
const before = held();
const stacks: (string | undefined)[] = [];
for (const _ of [1, 2]) {
  try { far(); } catch (error) { stacks.push(Object(error).stack); }
}
stacks.push(new Error('here').stack);
console.log(JSON.stringify({ stacks, grown: held() - before, rules: rules.length }));
`;
  writeFileSync(join(source, 'main.ts'), main);
  const made = await make();
  const { stdout } = await run(process.execPath, ['--expose-gc', `--import=${made.traces}`, made.main]);
  const { stacks, grown } = JSON.parse(stdout);
  const [first, again, here] = stacks.map((stack: string) => stack.split('\n'));
  assert.equal(first[1], `    at far (${join(source, 'deep/fail.ts')}:20004:9)`);
  assert.ok(first[2].endsWith(`${join(source, 'main.ts')}:9:9`), first[2]);
  assert.deepEqual(again, first);
  assert.ok(here[1].endsWith(`${join(source, 'main.ts')}:11:13`), here[1]);
  assert.ok(grown < 2_000_000, `${grown} bytes are kept`);
});

test('to prepare without an entry installs, and makes nothing else', async () => {
  const { stdout, stderr } = await run(process.execPath, ['scripts/run.mjs', '--prepare'], { cwd: root });
  assert.equal(stdout + stderr, '');
});

/** A clone that is installed, with a small service. Its launcher tells that it was asked, which a quick start does not. */
function newClone(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-it's $(here)-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['src', 'scripts', 'bin', 'node_modules/.bin'])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['start.sh', 'run.mjs', 'bundle.mjs', 'source-lines.mjs', 'memory.env'])
    cpSync(join(root, 'scripts', name), join(folder, 'scripts', name));
  for (const name of ['esbuild', '@esbuild', 'node'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  const installed = `${createHash('sha256').update('{}').digest('hex')} run`;
  writeFileSync(join(folder, 'node_modules/.slipway-installed'), installed);
  const launcher = join(folder, 'bin/node');
  writeFileSync(launcher, `#!/bin/sh\necho launched\nexec ${process.execPath} "$@"\n`);
  chmodSync(launcher, 0o755);
  writeFileSync(join(folder, 'src/main.ts'), `await import('./app.ts');\n`);
  writeFileSync(join(folder, 'src/other.ts'), '');
  const write = (says: string) =>
    writeFileSync(join(folder, 'src/app.ts'), `console.log('${says}', process.env.MALLOC_ARENA_MAX);\n`);
  const start = async (env: Record<string, string> = {}) => {
    const { MALLOC_ARENA_MAX: _, ...inherited } = process.env;
    const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
    const { stdout } = await run('sh', ['scripts/start.sh'], {
      cwd: folder,
      env: { ...inherited, PATH, ...env },
    });
    return stdout.trim().split('\n');
  };
  /** What has changed within the last second may change once more in it, and is looked at again. */
  const untilQuick = () =>
    until(async () => {
      const said = await start();
      return said.includes('launched') ? undefined : said;
    }, 'a start without the launcher');
  return { folder, write, start, untilQuick };
}

test('a start that finds all as it was needs no launcher, and has the same settings', async (t) => {
  const { write, start, untilQuick } = newClone(t);
  write('one');
  assert.deepEqual(await start(), ['launched', 'one 2']);
  assert.deepEqual(await untilQuick(), ['one 2']);
  assert.deepEqual(await start({ MALLOC_ARENA_MAX: '7' }), ['one 7'], 'what is set already stays');
});

test('a quick start is refused to whatever has changed, whatever time it claims to be of', async (t) => {
  const { folder, write, start, untilQuick } = newClone(t);
  write('one');
  await start();
  await untilQuick();
  write('two');
  utimesSync(join(folder, 'src/app.ts'), 1, 1);
  assert.deepEqual(await start(), ['launched', 'two 2']);
  const changes: Record<string, () => void> = {
    'a file that is gone': () => rmSync(join(folder, 'src/other.ts')),
    'what is installed': () => chmodSync(join(folder, 'node_modules/.slipway-installed'), 0o600),
    'a bundle that is gone': () => {
      const cache = join(folder, 'node_modules/.cache/slipway');
      for (const name of readdirSync(cache))
        if (name.startsWith('bundle-')) rmSync(join(cache, name), { recursive: true });
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    await untilQuick();
    change();
    assert.deepEqual(await start(), ['launched', 'two 2'], what);
  }
});
