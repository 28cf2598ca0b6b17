import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { root } from '../scripts/commands.ts';
import { until } from './support/until.ts';

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, Manifest & { readonly integrity?: string }>>;
}

const folder = join(root, 'lab/apps');
const apps = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .sort();
/** What an install or a build leaves behind. */
const left = /(^|\/)(node_modules|dist|\.next|\.venv|__pycache__)(\/|$)/;
const files = globSync('**/*', { cwd: folder, exclude: (name) => left.test(String(name)) });
const manifests = files.filter((name) => name.endsWith('package.json'));
const locks = files.filter((name) => /(package-lock\.json|pnpm-lock\.yaml)$/.test(name));

const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const has = (name: string) => existsSync(join(folder, name));
const manifestIn = (name: string): Manifest => JSON.parse(read(name));
const dependenciesOf = (manifest: Manifest) => ({ ...manifest.dependencies, ...manifest.devDependencies });

const promised: Readonly<Record<string, RegExp>> = {
  start: /^(?!vite-spa$|fastify-monorepo$|.+\/packages\/)/,
  build: /^(build-secret|fastify-monorepo(\/.+)?|nextjs|vite-spa)$/,
  migrate: /^express-postgres$/,
};

test('the table of the apps names every one of them and no other', () => {
  const rows = [...read('README.md').matchAll(/^\| \[([a-z-]+)\]\(([a-z-]+)\) \|/gm)];
  assert.deepEqual(rows.map(([, name]) => name).sort(), apps);
  for (const [, name, link] of rows) assert.equal(link, name);
});

for (const app of apps) {
  test(`${app} has a README of three lines under its name, and a .gitignore`, () => {
    const lines = read(`${app}/README.md`).split('\n').filter(Boolean);
    assert.equal(lines.length, 3);
    assert.equal(lines[0], `# ${app}`);
    const ignored = read(`${app}/.gitignore`).split('\n');
    if (has(`${app}/package.json`)) assert.ok(ignored.includes('node_modules/'));
  });
}

test('only the app that is about it brings a Dockerfile', () => {
  const found = files.filter((name) =>
    /(^|\/)(Dockerfile|Containerfile|compose\.ya?ml|Procfile)$/i.test(name),
  );
  assert.deepEqual(found, ['dockerfile-app/Dockerfile']);
  assert.match(
    read('dockerfile-app/Dockerfile'),
    /^FROM [\s\S]+^FROM [\s\S]+^USER (?!root)[\s\S]+^EXPOSE 8080$/m,
  );
});

test('every app shows APP_VERSION, except the one that nothing builds or runs', () => {
  const shown = files.filter((name) => /\.(js|tsx?|py|go)$/.test(name) && /\bAPP_VERSION\b/.test(read(name)));
  const silent = apps.filter((app) => !shown.some((name) => name.startsWith(`${app}/`)));
  assert.deepEqual(silent, ['static-page']);
});

test('the static page needs no build, and what it links to is there', () => {
  assert.ok(!has('static-page/package.json'));
  for (const page of ['index.html', '404.html']) {
    const sheet = /<link rel="stylesheet" href="\/([^"]+)">/.exec(read(`static-page/${page}`))?.[1];
    assert.ok(sheet && has(`static-page/${sheet}`), page);
  }
});

test('every package has the scripts it promises, and they name files and scripts that are there', () => {
  for (const [script, those] of Object.entries(promised)) {
    const having = manifests.filter((name) => manifestIn(name).scripts?.[script]);
    const promising = manifests.filter((name) => those.test(dirname(name)));
    assert.deepEqual(having, promising, script);
  }
  for (const name of manifests) {
    const { scripts = {} } = manifestIn(name);
    for (const command of Object.values(scripts)) {
      const source = /\bnode (?:--watch )?(\S+)/.exec(command)?.[1]?.replace(/^dist\/(.+)\.js$/, 'src/$1.ts');
      if (source) assert.ok(has(join(dirname(name), source)), `${name}: ${command}`);
      const called = /\bnpm run (\S+)/.exec(command)?.[1];
      if (called) assert.ok(scripts[called], `${name}: ${command}`);
    }
  }
});

test('an app with dependencies is locked to exactly what its package.json asks for', () => {
  const alone = manifests.filter((name) => !name.startsWith('fastify-monorepo/'));
  const asking = alone.filter((name) => Object.keys(dependenciesOf(manifestIn(name))).length > 0);
  assert.ok(asking.length >= 5, `${asking}`);
  for (const name of asking) {
    const lock: Lock = JSON.parse(read(join(dirname(name), 'package-lock.json')));
    const { '': own = {}, ...others } = lock.packages;
    assert.deepEqual(dependenciesOf(own), dependenciesOf(manifestIn(name)), name);
    for (const [path, { integrity }] of Object.entries(others)) {
      assert.match(integrity ?? '', /^sha512-/, `${name}: ${path}`);
    }
    for (const needed of Object.keys(dependenciesOf(own)))
      assert.ok(others[`node_modules/${needed}`], needed);
  }
});

test('the workspace is locked by the package manager that it names', () => {
  assert.match(read('fastify-monorepo/package.json'), /"packageManager": "pnpm@\d+\.\d+\.\d+"/);
  const lock = read('fastify-monorepo/pnpm-lock.yaml');
  const importers = lock.slice(lock.indexOf('\nimporters:'), lock.indexOf('\npackages:'));
  for (const member of ['apps/api', 'apps/web', 'packages/shared']) {
    const [, after = ''] = importers.split(`\n  ${member}:\n`);
    const [entry = ''] = after.split(/\n {2}\S/);
    for (const [name, range] of Object.entries(
      dependenciesOf(manifestIn(`fastify-monorepo/${member}/package.json`)),
    )) {
      assert.ok(entry.includes(`${name}'`) || entry.includes(`${name}:`), `${member}: ${name}`);
      assert.ok(entry.includes(`specifier: ${range}\n`), `${member}: ${name} ${range}`);
    }
  }
});

test('no lock file says from where packages are fetched', () => {
  assert.ok(locks.length >= 6, `${locks}`);
  for (const name of locks) {
    const text = read(name);
    assert.doesNotMatch(text, /"resolved"|tarball:/, name);
    // A project may say where to send it money; that is no place to fetch from.
    for (const [line, host = ''] of text.matchAll(/^.*https?:\/\/([^/"\s]+).*$/gm)) {
      assert.match(line, /^\s*"url": /, `${name}: ${line}`);
      assert.doesNotMatch(host, /registry|npm|artifactory|nexus|localhost|\d+\.\d+\.\d+\.\d+/, name);
    }
  }
});

test('nothing that an install or a build leaves behind would be committed', (t) => {
  if (!existsSync(join(root, '.git'))) return t.skip('this is not a clone');
  const git = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(git.status, 0, git.stderr);
  const committed = git.stdout.trim().split('\n');
  assert.ok(committed.includes('express-postgres/server.js'));
  for (const name of committed) assert.doesNotMatch(name, left);
});

test('all their JavaScript parses', () => {
  const scripts = files.filter((name) => name.endsWith('.js'));
  assert.ok(scripts.length >= 9, `${scripts}`);
  for (const name of scripts) {
    const check = spawnSync(process.execPath, ['--check', join(folder, name)], { encoding: 'utf8' });
    assert.equal(check.status, 0, check.stderr);
  }
});

/** One that needs no install, in a process of its own, heard on loopback only. */
function start(t: TestContext, cwd: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['server.js'], {
    cwd,
    env: { HOST: '127.0.0.1', PORT: '0', APP_VERSION: 'v7', ...env },
  });
  const exited = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const app = { child, exited, stdout: '', stderr: '', get: async (path: string) => get(await port(), path) };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (data) => {
      app[stream] += data;
    });
  }
  async function port(): Promise<string> {
    await until(() => app.stdout.includes('\n') || child.exitCode !== null);
    const [, number] = /^Listening on port (\d+)/.exec(app.stdout) ?? [];
    return number ?? assert.fail(`it does not listen: ${app.stdout}${app.stderr}`);
  }
  return app;
}

async function get(port: string, path: string): Promise<readonly [status: number, text: string]> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return [answer.status, await answer.text()];
}

test('never-healthy serves, is never healthy, and stops when told to', async (t) => {
  const app = start(t, join(folder, 'never-healthy'));
  assert.deepEqual(await app.get('/'), [200, 'never-healthy v7\n']);
  assert.deepEqual(await app.get('/healthz'), [503, 'unhealthy\n']);
  app.child.kill('SIGTERM');
  assert.deepEqual(await app.exited, [0, null]);
});

test('crashes-after-a-minute is healthy before that minute is over, and stops when told to', async (t) => {
  const app = start(t, join(folder, 'crashes-after-a-minute'));
  assert.deepEqual(await app.get('/'), [200, 'crashes-after-a-minute v7\n']);
  assert.deepEqual(await app.get('/healthz'), [200, 'ok\n']);
  assert.match(app.stdout, /crashes in 60000 ms/);
  app.child.kill('SIGTERM');
  assert.deepEqual(await app.exited, [0, null]);
});

test('crashes-after-a-minute crashes with code 1 and a stack trace when its time has come', async (t) => {
  const app = start(t, join(folder, 'crashes-after-a-minute'), { CRASH_AFTER_MS: '20' });
  assert.deepEqual(await app.exited, [1, null]);
  assert.match(app.stdout, /^Listening on port \d+/);
  assert.match(app.stderr, /TypeError: [\s\S]+\n {4}at refreshCache \(file:.+server\.js:\d+:\d+\)/);
});

test('ignores-sigterm serves on after SIGTERM, until it is killed', async (t) => {
  const app = start(t, join(folder, 'ignores-sigterm'));
  assert.deepEqual(await app.get('/'), [200, 'ignores-sigterm v7\n']);
  app.child.kill('SIGTERM');
  await until(() => app.stdout.includes('SIGTERM: ignored'));
  assert.deepEqual(await app.get('/healthz'), [200, 'ok\n']);
  app.child.kill('SIGKILL');
  assert.deepEqual(await app.exited, [null, 'SIGKILL']);
});

test('build-secret does not build without its secret, and keeps only a fingerprint of it', async (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'build-secret-'));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(join(folder, 'build-secret'), copy, { recursive: true });
  const build = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, ['build.js'], { cwd: copy, env, encoding: 'utf8' });
  const refused = build({});
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /needs the secret BUILD_TOKEN/);
  assert.ok(!existsSync(join(copy, 'dist')));
  const built = build({ BUILD_TOKEN: 'correct horse' });
  assert.equal(built.status, 0, built.stderr);
  const prefix = createHash('sha256').update('correct horse').digest('hex').slice(0, 12);
  assert.deepEqual(readdirSync(join(copy, 'dist')), ['build.json']);
  assert.equal(readFileSync(join(copy, 'dist/build.json'), 'utf8'), `{"tokenSha256":"${prefix}"}\n`);
  assert.doesNotMatch(built.stdout + built.stderr, /correct horse/);
  const page = `build-secret v7\ntoken sha256 ${prefix}\ntoken visible at run time: no\n`;
  assert.deepEqual(await start(t, copy).get('/'), [200, page]);
});
