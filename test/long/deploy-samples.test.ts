import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('from nothing, through the API alone, the samples whose builds take long are deployed and opened', async (t) => {
  const scene = await startDeployScene(t, lab);

  await t.test('vite-spa: a variable of the build, and the fallback of its routes', async () => {
    const variables = [{ key: 'VITE_API_URL', value: 'https://api.example.test', secret: false }];
    const { environmentId, deployment } = await scene.deployed({ files: sample('vite-spa'), variables });
    succeeded(deployment);
    const page = await scene.page(environmentId, '/about');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? assert.fail(page);
    assert.match(await scene.page(environmentId, script), /https:\/\/api\.example\.test/);
  });

  await t.test('nextjs: rendered for each request, with the variables of today', async () => {
    const variables = [{ key: 'APP_VERSION', value: '7.0', secret: false, target: 'runtime' }];
    const { environmentId, deployment } = await scene.deployed({ files: sample('nextjs'), variables });
    succeeded(deployment);
    assert.match(await scene.page(environmentId), /nextjs 7\.0/);
    await scene.page(environmentId, '/healthz');
  });

  await t.test('fastify-monorepo: the app that was chosen', async () => {
    const files = sample('fastify-monorepo');
    const { environmentId, deployment } = await scene.deployed({ files, app: 'apps/api' });
    succeeded(deployment);
    assert.match(await scene.page(environmentId, '/greeting?name=Ada'), /fastify-monorepo-api/);
  });

  await t.test('fastapi-redis: Python, and its Redis from the analysis', async () => {
    const { environmentId, deployment } = await scene.deployed({ files: sample('fastapi-redis') });
    succeeded(deployment);
    assert.deepEqual(JSON.parse(await scene.page(environmentId, '/hits')), { hits: 1 });
    assert.deepEqual(JSON.parse(await scene.page(environmentId, '/hits')), { hits: 2 });
  });

  await t.test('go-server: compiled', async () => {
    const { environmentId, deployment } = await scene.deployed({ files: sample('go-server') });
    succeeded(deployment);
    assert.match(await scene.page(environmentId), /go-server/);
  });
});
