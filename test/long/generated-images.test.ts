import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { root } from '../../scripts/commands.ts';
import { analyse } from '../../src/analysis/analysis.ts';
import {
  type GeneratedBuild,
  type GenerateOptions,
  generateDockerfile,
} from '../../src/analysis/dockerfile/generate-dockerfile.ts';
import { MemoryTree } from '../../src/analysis/tree.ts';
import { repositoryOf } from '../analysis/dockerfile/cases.ts';
import { buildImage, type Files, filesOf } from '../analysis/dockerfile/lab-build.ts';
import { languageApps } from '../analysis/dockerfile/language-apps.ts';
import { smallApps } from '../analysis/dockerfile/small-apps.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { hangMs, until } from '../support/until.ts';

const lab = await openLab();

interface Wanted {
  readonly name: string;
  readonly files?: Files;
  /** The app's folder, where the repository has several. */
  readonly path?: string;
  readonly variables?: GenerateOptions['buildVariables'];
  /** Further options of `docker build`. */
  readonly options?: readonly string[];
}

interface Running {
  readonly url: string;
  readonly build: GeneratedBuild;
  readonly log: string;
}

const appFiles = (name: string) => filesOf(join(root, 'lab/apps', name));

/** From the files of a repository to a container that answers; nothing is told that the analysis does not find. */
async function deploy(t: TestContext, server: TestServer, wanted: Wanted): Promise<Running> {
  const { name, files = appFiles(name), path = '.', variables = [] } = wanted;
  const { apps, monorepo } = await analyse(new MemoryTree(files), { signal: AbortSignal.timeout(hangMs) });
  const app = apps.find((each) => each.path === path);
  assert.ok(app, `there is no app at ${path}`);
  const texts = Object.fromEntries(
    Object.entries(files).map(([each, content]) => [each, content.toString()]),
  );
  const options = { buildVariables: variables, files: repositoryOf(texts), cacheScope: 'lab' };
  const build = generateDockerfile(app, monorepo, options);
  const ssh = server.sshArguments;
  const { seconds, log } = await buildImage(ssh, { files, build, tag: name, options: wanted.options ?? [] });
  const container = `docker run --detach --name ${name} --publish 0:${build.port} --health-interval 1s ${name}`;
  await server.ssh(container);
  t.after(() => server.trySsh(`docker rm --force ${name}`));
  const port = (await server.ssh(`docker port ${name} ${build.port}`))
    .trim()
    .split('\n')[0]
    ?.split(':')
    .at(-1);
  const url = `http://${server.about.address}:${port}`;
  const ask = async () => (await fetch(`${url}/`).catch(() => undefined))?.ok;
  await until(ask, `${name} to answer`).catch(async (error) => {
    const { stdout, stderr } = await server.trySsh(`docker logs ${name}`);
    throw new Error(`${error.message}\n${stdout}${stderr}`);
  });
  await isUnprivileged(server, name);
  const size = Number(await server.ssh(`docker image inspect --format '{{.Size}}' ${name}`));
  t.diagnostic(`${name}: ${(size / 1e6).toFixed(0)} MB, built in ${seconds.toFixed(0)} s`);
  return { url, build, log };
}

/** By the kernel: no process of the container is root. */
async function isUnprivileged(server: TestServer, name: string): Promise<void> {
  const lines = (await server.ssh(`docker top ${name} -eo pid,uid`)).trim().split('\n').slice(1);
  const users = lines.map((line) => line.trim().split(/\s+/)[1]);
  assert.ok(users.length > 0 && users.every((user) => Number(user) > 0), `${name} runs as ${users}`);
}

/** Docker's own view, from the HEALTHCHECK of the image. */
async function isHealthy(server: TestServer, name: string): Promise<void> {
  const ask = async () =>
    (await server.ssh(`docker inspect --format '{{.State.Health.Status}}' ${name}`)).trim();
  await until(async () => (await ask()) === 'healthy', `${name} to be healthy`);
}

async function endsOnSigterm(server: TestServer, name: string, codes: readonly number[]): Promise<void> {
  // One that had to be killed in the end would tell that: 137 is in nobody's list.
  await server.ssh(`docker stop --time ${hangMs / 1000} ${name}`);
  const code = Number(await server.ssh(`docker inspect --format '{{.State.ExitCode}}' ${name}`));
  assert.ok(codes.includes(code), `it ended with ${code}`);
}

test('generated Dockerfiles build what the analysis found: it answers, is not root, and stops when told', async (t) => {
  const server = await lab.fresh(t, 'docker');

  await t.test('npm', async (t) => {
    await deploy(t, server, { name: 'websocket-echo' });
    await isHealthy(server, 'websocket-echo');
    await endsOnSigterm(server, 'websocket-echo', [0]);
  });

  for (const manager of ['pnpm', 'yarn', 'berry'] as const) {
    await t.test(`${manager}, with production dependencies only`, async (t) => {
      const name = `small-${manager}`;
      const { url } = await deploy(t, server, { name, files: smallApps[manager] });
      assert.deepEqual(await (await fetch(url)).json(), { found: ['ws'] });
      await endsOnSigterm(server, name, [0]);
    });
  }

  await t.test('a change of code installs nothing again', async (t) => {
    const files = { ...smallApps.pnpm, 'server.js': `${smallApps.pnpm['server.js']}// changed\n` };
    const { log } = await deploy(t, server, { name: 'small-changed', files });
    assert.match(log, /CACHED/);
    assert.doesNotMatch(log, /Progress: resolved/);
  });

  await t.test('a member of a pnpm workspace, with what it uses and nothing else', async (t) => {
    const { url } = await deploy(t, server, { name: 'fastify-monorepo', path: 'apps/api' });
    assert.equal((await fetch(`${url}/greeting`)).status, 200);
    const modules = await server.ssh('docker exec fastify-monorepo ls /app/node_modules/.pnpm');
    assert.match(modules, /fastify/);
    assert.doesNotMatch(modules, /typescript/);
  });

  await t.test('Next.js', async (t) => {
    const { url } = await deploy(t, server, { name: 'nextjs' });
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    // Next.js drains, and then ends with the number of the signal.
    await endsOnSigterm(server, 'nextjs', [143]);
  });

  await t.test('a single-page app: fallback, cache headers, compression', async (t) => {
    const { url } = await deploy(t, server, {
      name: 'vite-spa',
      variables: [{ key: 'VITE_API_URL', secret: false }],
      options: ['--build-arg', 'VITE_API_URL=https://api.lab.test'],
    });
    const page = await fetch(`${url}/about`);
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('cache-control'), 'no-cache');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? '';
    const asset = await fetch(`${url}${script}`, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(asset.headers.get('content-encoding'), 'gzip');
    assert.match(await asset.text(), /https:\/\/api\.lab\.test/);
    assert.equal((await fetch(`${url}/assets/gone-Ab3dEf9h.js`)).status, 404, 'a missing file is no page');
    assert.equal((await fetch(`${url}/.env`)).status, 404);
    await isHealthy(server, 'vite-spa');
    await endsOnSigterm(server, 'vite-spa', [0]);
  });

  await t.test('pages as they are, with their own page for what is missing', async (t) => {
    const { url } = await deploy(t, server, { name: 'static-page' });
    const missing = await fetch(`${url}/nowhere`);
    assert.equal(missing.status, 404);
    assert.equal(await missing.text(), appFiles('static-page')['404.html']?.toString());
  });

  await t.test('Python', async (t) => {
    await deploy(t, server, { name: 'fastapi-redis' });
    await isHealthy(server, 'fastapi-redis');
    await endsOnSigterm(server, 'fastapi-redis', [0]);
  });

  await t.test('Go', async (t) => {
    // The lab's image has the standard library compiled already, where the cache of the build hides it.
    const cache = '--mount=type=cache,id=lab-go-build,target=/cache';
    const seed = `FROM golang:1.24\nRUN ${cache} cp -r /root/.cache/go-build/. /cache/\n`;
    await server.ssh('docker build --quiet -', seed);
    await deploy(t, server, { name: 'go-server' });
    await isHealthy(server, 'go-server');
    await endsOnSigterm(server, 'go-server', [0]);
  });
});

test('so do those of PHP, Ruby and Java, with what their languages bring', async (t) => {
  const server = await lab.fresh(t, 'docker');

  await t.test('PHP behind Apache, with the rules of its .htaccess and an extension', async (t) => {
    const { url } = await deploy(t, server, { name: 'pages-php', files: languageApps.php });
    assert.deepEqual(await (await fetch(`${url}/any/path`)).json(), { path: '/any/path', sum: '3', user: 33 });
    // Only the folder of pages is served.
    assert.equal((await (await fetch(`${url}/composer.json`)).json()).path, '/composer.json');
    // The image's own signal lets Apache finish what it has begun.
    await endsOnSigterm(server, 'pages-php', [0]);
  });

  await t.test('Ruby, by Bundler from its lock file', async (t) => {
    const { url } = await deploy(t, server, { name: 'pages-ruby', files: languageApps.ruby });
    assert.deepEqual(await (await fetch(`${url}/x`)).json(), { path: '/x', env: 'production' });
    await endsOnSigterm(server, 'pages-ruby', [0]);
  });

  await t.test('Java, by Maven, as one archive', async (t) => {
    const { url } = await deploy(t, server, { name: 'pages-java', files: languageApps.java });
    assert.deepEqual(await (await fetch(`${url}/x`)).json(), { path: '/x' });
    assert.equal((await server.ssh('docker exec pages-java ls /app')).trim(), 'app.jar');
    // A JVM that is told to stop ends with the number of the signal.
    await endsOnSigterm(server, 'pages-java', [143]);
  });
});

test('the oldest Docker that is taken knows every instruction, with caches and secrets', async (t) => {
  const server = await lab.fresh(t, 'bookworm');
  // Its BuildKit asks the lab's mirror by HTTPS only; Docker itself does not, and then the images are there.
  await server.ssh('docker pull --quiet node:24-slim');
  await server.ssh('umask 077; cat > /dev/shm/token', 'canary');
  await deploy(t, server, {
    name: 'small-yarn',
    files: smallApps.yarn,
    variables: [{ key: 'BUILD_TOKEN', secret: true }],
    options: ['--secret', 'id=BUILD_TOKEN,src=/dev/shm/token'],
  });
  await isHealthy(server, 'small-yarn');
});
