import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

test('a page of files is deployed and served', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { environmentId, deployment } = await scene.deployed({ files: sample('static-page') });
  console.log((await scene.lines(environmentId, deployment.id)).slice(-30).join('\n'));
  succeeded(deployment);
  assert.match(await scene.page(environmentId), /<html/);
});
