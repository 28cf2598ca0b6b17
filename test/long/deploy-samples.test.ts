import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

// The other slow builds are those of generated-images.test.ts, and what is done with an image is the same for all.
test('from nothing, through the API alone, samples whose builds take long are deployed and opened', async (t) => {
  const scene = await startDeployScene(t, lab);

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
});
