/**
 * Repositories made to hurt: each must end in an answer or a clear fault, while the process that asks does nothing but
 * wait. That an answer came within the limits of processor time and memory, the process of the analysis has seen to.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { analyse } from '../../src/analysis/analysis.ts';
import { Analyst } from '../../src/analysis/process/analyst.ts';
import { type FileTree, MemoryTree, type TreeEntry } from '../../src/analysis/tree.ts';
import { Fault } from '../../src/fault.ts';
import { BusyLoop } from '../support/busy-loop.ts';
import { hangMs } from '../support/until.ts';

const server = "require('express')().listen(process.env.PORT || 3000)";
const manifest = JSON.stringify({ scripts: { start: 'node a.js' }, dependencies: { express: '4' } });
/** Of processor time in one go. What hurts does so for seconds and minutes; handing files on takes hundredths. */
const mostStillMs = 1_000;
const signal = () => AbortSignal.timeout(hangMs);
const analyst = new Analyst();
after(() => analyst.close());

function look(files: Record<string, string | Buffer>, links: readonly string[] = []) {
  return lookAt(new MemoryTree(files, links));
}

function lookAt(tree: FileTree, rootDirectory = '') {
  return analyst.analyse('owner', tree, rootDirectory, signal());
}

/** A tree of any size without its weight. */
function madeTree(entries: Iterable<TreeEntry>, contents: Readonly<Record<string, string>> = {}): FileTree {
  return {
    async list(most) {
      const listed: TreeEntry[] = [];
      for (const entry of entries) {
        if (listed.length === most) return { entries: listed, isComplete: false };
        listed.push(entry);
      }
      return { entries: listed, isComplete: true };
    },
    async read(paths) {
      return new Map(
        paths.flatMap((path) => {
          const text = contents[path];
          return text === undefined ? [] : [[path, Buffer.from(text)] as const];
        }),
      );
    },
  };
}

async function withHeartbeat<T>(work: () => Promise<T>): Promise<{ value: T; longestMs: number }> {
  const busy = new BusyLoop();
  try {
    const value = await work();
    return { value, longestMs: busy.longestMs() };
  } finally {
    busy.stop();
  }
}

test('a package.json of 100 MB is listed, never read, and said', async () => {
  const asked: string[] = [];
  const files = { 'a.js': server };
  const entries: TreeEntry[] = [
    { path: 'package.json', type: 'file', size: 100 * 1024 * 1024 },
    { path: 'a.js', type: 'file', size: server.length },
  ];
  const tree = madeTree(entries, files);
  const watching: FileTree = {
    list: tree.list,
    read: (paths, abort) => {
      asked.push(...paths);
      return tree.read(paths, abort);
    },
  };
  const result = await lookAt(watching);
  assert.ok(!asked.includes('package.json'));
  assert.ok(result.warnings.some(({ code, file }) => code === 'file_too_large' && file === 'package.json'));
});

test('a million entries are cut at the limit, and the event loop keeps its turns', async () => {
  function* many(): Generator<TreeEntry> {
    yield { path: 'package.json', type: 'file', size: manifest.length };
    for (let at = 0; at < 1_000_000; at += 1)
      yield { path: `d${at % 5_000}/e${at % 7}/f${at}.txt`, type: 'file', size: 10 };
  }
  const tree = madeTree(many(), { 'package.json': manifest });
  const { value, longestMs } = await withHeartbeat(() => lookAt(tree));
  assert.ok(value.warnings.some(({ code }) => code === 'too_many_files'));
  assert.equal(value.apps[0]?.framework, 'express');
  // The list itself is made in one go by the test.
  assert.ok(longestMs < mostStillMs, `the loop stood still for ${Math.round(longestMs)} ms`);
});

test('folders nested beyond the limit are left out, with a warning', async () => {
  const deep = `${'a/'.repeat(5_000)}package.json`;
  const result = await look({ 'package.json': manifest, 'a.js': server, [deep]: manifest });
  assert.equal(result.apps.length, 1);
  assert.ok(result.warnings.some(({ code }) => code === 'too_deep'));
});

test('whoever wants to stop the service with a pattern of stars cannot', async () => {
  const folder = 'a'.repeat(200);
  const stars = 'packages/*a*a*a*a*a*a*a*a*b';
  const files = {
    'package.json': JSON.stringify({
      workspaces: [stars, `!${stars}`, 'packages/**/{a,b}{a,b}{a,b}*a*a*a*b'],
    }),
    'pnpm-workspace.yaml': `packages: ["${stars}"]`,
    'Cargo.toml': `[workspace]\nmembers = ["${stars}"]\nexclude = ["${stars}"]`,
    [`packages/${folder}/package.json`]: manifest,
    [`packages/${folder}/a.js`]: server,
    [`packages/${folder}/Cargo.toml`]: '[package]\nname = "a"',
  };
  const { value, longestMs } = await withHeartbeat(() => look(files));
  assert.deepEqual(
    value.apps.map(({ path }) => path),
    [`packages/${folder}`],
  );
  assert.ok(longestMs < mostStillMs, `the loop stood still for ${Math.round(longestMs)} ms`);
});

test('whoever wants to hold the loop with a long line of a Dockerfile cannot', async () => {
  for (const line of ['#', ' ', '\\', '"', 'RUN ', 'ENV a=', '${', '<<']) {
    const Dockerfile = `${line.repeat(120_000 / line.length)}\nFROM node\nCMD ["node", "a.js"]\n`;
    const { longestMs } = await withHeartbeat(() =>
      look({ Dockerfile, 'package.json': manifest, 'a.js': server }),
    );
    assert.ok(longestMs < mostStillMs, `the loop stood still for ${Math.round(longestMs)} ms on ${line}`);
  }
});

test('links are names: a link that points at itself or at a file is not followed', async () => {
  const links = ['loop', 'other/package.json', 'a/loop'];
  const result = await look(
    {
      'package.json': manifest,
      'a.js': server,
      loop: 'loop',
      'other/package.json': '../package.json',
      'a/loop': '..',
    },
    links,
  );
  assert.deepEqual(
    result.apps.map(({ path }) => path),
    ['.'],
  );
});

test('bytes that are no UTF-8 spoil nothing but their own file', async () => {
  const noise = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc3, 0x28, 0xf0, 0x28, 0x8c, 0xbc]);
  const result = await look({
    'package.json': manifest,
    'a.js': Buffer.concat([Buffer.from(`// `), noise, Buffer.from(`\n${server}`)]),
    '.env.example': Buffer.concat([noise, Buffer.from('\nAPI_TOKEN=\n')]),
    Dockerfile: noise,
    'lerna.json': noise,
    'pyproject.toml': noise,
    'go.mod': noise,
  });
  assert.equal(result.apps[0]?.startCommand, 'npm start');
});

test('aliases that unfold to billions are refused', async () => {
  const lines = ['a0: &a0 ["x","x","x","x","x","x","x","x","x"]'];
  for (let at = 1; at < 12; at += 1)
    lines.push(
      `a${at}: &a${at} [${Array(9)
        .fill(`*a${at - 1}`)
        .join(',')}]`,
    );
  const bomb = `${lines.join('\n')}\npackages: *a11\nservices: *a11\n`;
  const names = ['pnpm-workspace.yaml', 'docker-compose.yml', 'render.yaml', 'app.yaml', '.do/app.yaml'];
  const files = Object.fromEntries(names.map((name) => [name, bomb]));
  const result = await look({ ...files, 'package.json': manifest, 'a.js': server });
  assert.ok(result.warnings.some(({ code }) => code === 'unreadable_file'));
  assert.equal(result.apps.length, 1);
});

const nestings: Readonly<Record<string, readonly [string, string]>> = {
  JSON: ['package.json', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  'JSON with a comment': ['package.json', `// x\n${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  YAML: ['compose.yaml', `services: ${'['.repeat(50_000)}${']'.repeat(50_000)}`],
  'block YAML': ['compose.yaml', Array.from({ length: 1_200 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')],
  TOML: ['fly.toml', `a = ${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  'parentheses in JavaScript': ['a.js', `process.env.A;${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
  'arrow functions': ['vite.config.js', `export default ${'a=>'.repeat(60_000)}a`],
  additions: ['a.js', `process.env.A + ${'1+'.repeat(100_000)}1`],
  'objects in configuration': [
    'vite.config.ts',
    `export default ${'{a:'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  ],
  XML: ['pom.xml', `${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}`],
  'a schema': ['prisma/schema.prisma', `${'model A {'.repeat(50_000)}`],
};
for (const [what, [path, text]] of Object.entries(nestings)) {
  test(`${what} nested without end does not end the service`, async () => {
    const { value, longestMs } = await withHeartbeat(() =>
      look({ 'b/package.json': manifest, 'b/a.js': server, [path]: text }),
    );
    assert.ok(value.apps.some((app) => app.path === 'b'));
    assert.ok(longestMs < mostStillMs, `the loop stood still for ${Math.round(longestMs)} ms`);
  });
}

test('lines of 100 kB and more are gone through without going back and forth', async () => {
  const long = 'a'.repeat(400_000);
  const spaces = ' '.repeat(200_000);
  const files = {
    'package.json': JSON.stringify({
      scripts: { start: `node ${long}`, build: `${'a && '.repeat(50_000)}b` },
    }),
    Dockerfile: `FROM node\nRUN ${long.slice(0, 60_000)}\nCMD ${spaces.slice(0, 60_000)}["node"]\n`,
    '.env.example': `A=${long}\n${long}=1\nB="${spaces}`,
    'a.js': `process.env.${'A'.repeat(100_000)}; const x = "${long.slice(0, 100_000)}"; ${server}`,
    'a.py': `x = "${long.slice(0, 200_000)}"\nimport os; os.environ["${long.slice(0, 50_000)}"]`,
    'main.go': `package main // ${long.slice(0, 200_000)}`,
    Procfile: `web:${spaces}${long}`,
    'requirements.txt': `${long}==1\n${spaces}flask`,
    'pom.xml': `<project>${'<a/>'.repeat(50_000)}</project>`,
    Makefile: `${long}:\n\t${spaces}x`,
    'app.rb': `ENV['${long.slice(0, 100_000)}']`,
    'index.php': `<?php getenv('${long.slice(0, 100_000)}');`,
    Gemfile: `gem '${long.slice(0, 100_000)}'`,
    'go.mod': `module ${long}`,
    'docker-compose.yml': `services:\n  a:\n    image: ${long.slice(0, 100_000)}\n`,
  };
  const { longestMs } = await withHeartbeat(() => look(files));
  assert.ok(longestMs < mostStillMs, `the loop stood still for ${Math.round(longestMs)} ms`);
});

/** The wrong type in every place where a value is asked for. */
const wrong: readonly unknown[] = [null, 5, true, 'x', [], [[]], {}, { a: { b: [] } }, [null, 3, {}], ''];
test('wrong types everywhere are as good as absent', async () => {
  const keys =
    'name scripts dependencies devDependencies engines main packageManager workspaces volta devEngines exports bin type prisma'.split(
      ' ',
    );
  const inner = [
    'start',
    'build',
    'express',
    'node',
    'packages',
    'services',
    'web',
    'release',
    'env',
    'http_service',
  ];
  for (const value of wrong) {
    const shallow = JSON.stringify(Object.fromEntries(keys.map((key) => [key, value])));
    const deep = JSON.stringify(
      Object.fromEntries(keys.map((key) => [key, Object.fromEntries(inner.map((each) => [each, value]))])),
    );
    const other = JSON.stringify(
      Object.fromEntries(
        [
          ...keys,
          ...inner,
          'projects',
          'tasks',
          'imports',
          'processes',
          'builds',
          'databases',
          'deploy',
          'phases',
        ].map((key) => [key, value]),
      ),
    );
    const names =
      'turbo.json nx.json lerna.json rush.json angular.json deno.json vercel.json app.json railway.json railpack.json firebase.json composer.json global.json tsconfig.json project.json'.split(
        ' ',
      );
    const yamls =
      'docker-compose.yml render.yaml pnpm-workspace.yaml pubspec.yaml shard.yml mkdocs.yml _config.yml stack.yaml app.yaml heroku.yml'.split(
        ' ',
      );
    const files = Object.fromEntries([...names, ...yamls].map((name) => [name, other]));
    for (const text of [shallow, deep, JSON.stringify(value)]) {
      const result = await look({ ...files, 'package.json': text, 'a.js': server });
      const failed = result.warnings.filter(({ code }) => code === 'detector_failed');
      assert.deepEqual(failed, [], JSON.stringify(value));
    }
  }
});

function crowdOf(packages: number): Record<string, string> {
  const files: Record<string, string> = {
    'package.json': JSON.stringify({
      workspaces: [...Array(500).keys()].map((at) => `p${at}/**/{a,b,c}*`).concat('p*/**', 'p*'),
    }),
    '.env.example': [...Array(20_000).keys()].map((at) => `KEY_${at}=x`).join('\n'),
  };
  for (let at = 0; at < packages; at += 1) {
    const use = Object.fromEntries(
      [...Array(20).keys()].map((other) => [`p${(at + other + 1) % packages}`, '*']),
    );
    files[`p${at}/package.json`] = JSON.stringify({
      name: `p${at}`,
      scripts: { build: 'tsc', start: 'node a.js' },
      dependencies: use,
    });
    files[`p${at}/a.js`] = server;
  }
  return files;
}

test('hundreds of manifests, variables and workspace patterns stay within the bounds', async () => {
  const { value, longestMs } = await withHeartbeat(() => look(crowdOf(300)));
  assert.equal(value.apps.length, 300);
  assert.ok(value.variables.length <= 500);
  assert.ok(longestMs < mostStillMs, `the loop stood still for ${Math.round(longestMs)} ms`);
});

test('whoever wants to swamp the service with findings cannot: more than it could show fails, and says so', async () => {
  const { value: error, longestMs } = await withHeartbeat(() =>
    look(crowdOf(1_500)).catch((failed) => failed),
  );
  assert.ok(error instanceof Fault && error.code === 'analysis_stopped', String(error));
  assert.match(error.message, /4194304 bytes of findings\.$/);
  assert.ok(longestMs < mostStillMs, `the loop stood still for ${Math.round(longestMs)} ms`);
});

test('work that is cancelled stops and says so', async () => {
  const controller = new AbortController();
  const files = Object.fromEntries([...Array(3_000).keys()].map((at) => [`d${at}/package.json`, manifest]));
  const running = analyst.analyse('owner', new MemoryTree(files), '', controller.signal);
  controller.abort(new Error('cancelled'));
  await assert.rejects(running, /cancelled/);
});

test('when the time is over there is an answer with a warning', async () => {
  const files = Object.fromEntries([...Array(2_000).keys()].map((at) => [`d${at}/package.json`, manifest]));
  const result = await analyse(new MemoryTree(files), { signal: signal(), limits: { timeMs: 1 } });
  assert.ok(result.warnings.some(({ code }) => code === 'time_over'));
});

test('a folder that is not there is a fault of the one who named it', async () => {
  for (const rootDirectory of ['nowhere', '../up', 'a/../..', '__proto__'])
    await assert.rejects(
      lookAt(new MemoryTree({ 'package.json': manifest }), rootDirectory),
      (error: unknown) => error instanceof Fault && error.code === 'invalid_input',
    );
});

test('the folder that is named is the root, and workspaces above it still count', async () => {
  const files = {
    'package.json': JSON.stringify({ private: true, workspaces: ['examples/*', 'apps/*'] }),
    'package-lock.json': '{}',
    'apps/other/package.json': manifest,
    'examples/web/package.json': manifest,
    'examples/web/a.js': server,
  };
  const result = await lookAt(new MemoryTree(files), './examples/web/');
  assert.deepEqual(
    result.apps.map(({ path, packageManager }) => [path, packageManager?.lockFile]),
    [['examples/web', 'package-lock.json']],
  );
  assert.deepEqual(result.monorepo?.members, ['apps/other', 'examples/web']);
});
