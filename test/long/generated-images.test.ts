import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appFiles, deploy, endsOnSigterm, isHealthy } from '../analysis/dockerfile/lab-deploy.ts';
import { smallApps } from '../analysis/dockerfile/small-apps.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

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
