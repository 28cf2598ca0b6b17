/** The end of a workspace, on a real server: nothing of it is left there, and what is not its own is as it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { plainApp, plainSettings } from '../support/plain-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('a workspace takes what runs of it, its data and its way in along from the servers, and nothing else', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { server } = scene;
  const services = [{ kind: 'redis', memoryMb: 64 }];
  const { deployment, environmentId } = await scene.deployed({
    files: plainApp(),
    settings: plainSettings,
    services,
  });
  succeeded(deployment);
  await scene.page(environmentId);
  await server.ssh('docker volume create not-ours');
  const ours = async () => ({
    containers: (await server.ssh('docker ps --all --quiet')).trim(),
    volumes: (await server.ssh('docker volume ls --quiet')).trim(),
    networks: (await server.ssh("docker network ls --filter type=custom --format '{{.Name}}'")).trim(),
    units: (await server.ssh("systemctl list-units --all --plain --no-legend 'slipway-*.timer'")).trim(),
  });
  const before = await ours();
  assert.ok(before.containers !== '' && before.volumes.split('\n').length > 1, JSON.stringify(before));

  const { workspaces } = await scene.call('GET', '/auth/me');
  const workspace = `/workspaces/${Object(workspaces)[0].id}`;
  const { id } = await scene.call('DELETE', `${workspace}?deleteData=true`);
  const ended = await until(async () => {
    const found = await scene.call('GET', `/operations/${id}`);
    return found.finishedAt === null ? undefined : found;
  }, 'the workspace to be gone');
  assert.equal(ended.status, 'succeeded', JSON.stringify(ended.fault));

  assert.deepEqual(await ours(), { containers: '', volumes: 'not-ours', networks: '', units: '' });
  assert.doesNotMatch(await server.ssh('cat /root/.ssh/authorized_keys || true'), /slipway/i);
  assert.equal((await scene.call('GET', workspace)).status, 'removed');
});
