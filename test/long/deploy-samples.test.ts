import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
/** Nobody visits these apps while they are replaced. */
const quick = { drainSeconds: 1, stopSeconds: 2 };

test('from nothing, through the API alone, more samples are deployed and opened', async (t) => {
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

  await t.test('go-server: compiled', async () => {
    const { environmentId, deployment } = await scene.deployed({ files: sample('go-server') });
    succeeded(deployment);
    assert.match(await scene.page(environmentId), /go-server/);
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

  await t.test('build-secret: the build sees its secret, and nobody else does', async () => {
    const token = 'canary-of-the-build-4711';
    const variables = [{ key: 'BUILD_TOKEN', value: token, secret: true, target: 'build' }];
    const made = await scene.deployed({ files: sample('build-secret'), variables });
    const { environmentId, deployment } = made;
    succeeded(deployment);
    const page = await scene.page(environmentId);
    const fingerprint = createHash('sha256').update(token).digest('hex').slice(0, 12);
    assert.match(page, new RegExp(`token sha256 ${fingerprint}`));
    assert.match(page, /token visible at run time: no/);
    assert.doesNotMatch((await scene.lines(environmentId, deployment.id)).join('\n'), new RegExp(token));
    const images = `$(docker images -q --filter label=slipway.environment=${environmentId})`;
    const inspected = await scene.server.ssh(
      `docker history --no-trunc ${images}; docker inspect ${images}; docker save ${images} | grep -c ${token} || true`,
    );
    assert.doesNotMatch(inspected, new RegExp(token));
    assert.equal(inspected.trim().split('\n').at(-1), '0');
    assert.equal(await scene.server.ssh('ls -A /var/lib/slipway/builds 2>/dev/null || true'), '');
  });

  await t.test('ignores-sigterm: replaced although the old one has to be killed', async () => {
    const made = await scene.deployed({ files: sample('ignores-sigterm'), settings: quick });
    const { environmentId, deployment } = made;
    succeeded(deployment);
    const variables = [{ key: 'APP_VERSION', value: '2', secret: false, target: 'runtime' }];
    await scene.call('POST', `/environments/${environmentId}/variables`, { variables });
    const second = await scene.deploy(environmentId);
    succeeded(second);
    assert.match(await scene.page(environmentId), /ignores-sigterm 2/);
    const left = await until(async () => {
      const names = await scene.server.ssh(
        `docker ps -a --format '{{.Names}}' --filter label=slipway.environment=${environmentId}`,
      );
      return names.trim().split('\n').length === 1 && names;
    }, 'the old one to be gone');
    assert.match(left, new RegExp(String(second.id)));
  });
});
