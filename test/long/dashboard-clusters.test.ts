/** Clusters in the dashboard: made, looked at, changed and deleted by hand, and kept true by events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertPagesGood, openBrowser, openTab, signIn } from '../support/browser.ts';
import { ClusterScene, startClusterScene } from '../support/cluster-scene.ts';
import { startEnvironmentScene } from '../support/environments.ts';
import { until } from '../support/until.ts';

async function open(
  t: Parameters<typeof openTab>[0],
  { service, person }: Pick<ClusterScene, 'service' | 'person'>,
) {
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  return page;
}

test('a cluster is made of servers that are free, says why it failed, and is deleted once its name was typed', async (t) => {
  const scene = await startClusterScene();
  await scene.cluster('shop', [await scene.server('web-1')]);
  for (const name of ['web-2', 'web-3']) await scene.server(name);
  const page = await open(t, scene);
  await page.getByRole('link', { name: 'Clusters' }).click();
  await page.getByRole('row', { name: /shop ready web-1 1 of 1/ }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('make a cluster');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Make a cluster' });
  assert.ok(await dialog.getByLabel('web-1 in a cluster').isDisabled());
  await dialog.getByLabel('Name').fill('store');
  await dialog.getByLabel('web-2').check();
  await dialog.getByLabel('web-3').check();
  await dialog.getByLabel('Private network').fill('10.0.0.5/16');
  await dialog.getByRole('button', { name: 'Check and join' }).click();
  await dialog.getByText('must be an IPv4 network with all its bits').first().waitFor();
  await dialog.getByLabel('Private network').fill('');
  await dialog.getByRole('button', { name: 'Check and join' }).click();
  // Nothing is behind these servers: seen live, without a reload.
  await page.getByRole('heading', { name: 'store failed' }).waitFor();
  await page.getByRole('region', { name: 'Joining' }).getByText('check').first().waitFor();
  await page.getByRole('heading', { name: 'No server in it' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  const asked = page.getByRole('dialog', { name: 'Delete store?' });
  const yes = asked.getByRole('button', { name: 'Delete it' });
  assert.equal(await yes.getAttribute('aria-disabled'), 'true');
  await asked.getByLabel('To confirm, type store').fill('store');
  await yes.click();
  await page.getByRole('heading', { name: 'Clusters' }).waitFor();
  await page.getByRole('link', { name: 'store' }).waitFor({ state: 'detached' });
});

test('members are shown with role, state and what is wrong, live, and are drained by hand; what cannot be taken back wants the name', async (t) => {
  const scene = await startClusterScene();
  const servers = [];
  for (const name of ['web-1', 'web-2', 'web-3']) servers.push(await scene.server(name));
  const id = await scene.cluster('shop', servers);
  const page = await open(t, scene);
  await page.goto(`/clusters/${id}`);
  await page.getByRole('row', { name: /web-1 ready manager, leader/ }).waitFor();
  await page.getByText('3 of 3 managers answer; one more may be lost.').waitFor();
  await scene.looksAt(id, servers.slice(2));
  await page.getByRole('heading', { name: 'shop degraded' }).waitFor();
  await page.getByRole('row', { name: /web-3 down noticed .* manager/ }).waitFor();
  const problem = page.getByRole('alert').filter({ hasText: 'web-3 is down.' });
  await problem.getByText('What ran there runs on the others.').waitFor();

  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('store');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'store degraded' }).waitFor();

  await page.getByRole('button', { name: 'Remove web-3' }).click();
  const removing = page.getByRole('dialog', { name: 'Remove web-3?' });
  await removing.getByLabel('It is gone for good: only forget it').check();
  const remove = removing.getByRole('button', { name: 'Remove it' });
  assert.equal(await remove.getAttribute('aria-disabled'), 'true');
  await removing.getByLabel('To confirm, type web-3').fill('web-3');
  assert.equal(await remove.getAttribute('aria-disabled'), 'false');
  await removing.getByRole('button', { name: 'Keep as it is' }).click();

  // Nothing is behind the servers, so that what is asked for is only seen to be begun.
  await page.getByRole('button', { name: 'Drain web-2' }).click();
  await page.getByRole('dialog', { name: 'Drain web-2?' }).getByRole('button', { name: 'Drain it' }).click();
  const work = page.getByRole('region', { name: 'Draining or activating' });
  await work.getByRole('button', { name: 'Cancel' }).waitFor();
  // One thing at a time, and each button says so.
  const drain = page.getByRole('button', { name: 'Drain web-1' });
  await until(async () => (await drain.getAttribute('aria-disabled')) === 'true', 'the buttons to be off');
  await drain.focus();
  await page.getByRole('note').filter({ hasText: 'The cluster is being changed' }).first().waitFor();
});

test('how replicas are placed is chosen where an environment stands on a cluster, and only there', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { ask, environmentId, projectId } = scene;
  const clusters = new ClusterScene(scene.service, scene.person);
  const clusterId = await clusters.cluster('shop', [await clusters.server('web-1')]);
  const body = { projectId, name: 'wide', placement: { clusterId }, services: [] };
  const made = await ask('POST', '/environments', body);
  assert.equal(made.status, 201, made.text);
  const page = await open(t, scene);
  const settings = page.getByRole('form', { name: 'How it runs' });
  await page.goto(`/environments/${environmentId}/settings`);
  await settings.getByLabel('Replicas', { exact: true }).waitFor();
  assert.equal(await settings.getByLabel('Placement of replicas').count(), 0);
  await page.goto(`/environments/${made.body.id}/settings`);
  await settings.getByLabel('Placement of replicas').selectOption('packed');
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('Saved.').waitFor();
  const shown = (await ask('GET', `/environments/${made.body.id}`)).body;
  assert.equal(Object(shown.settings).spread, 'packed');
});

test('the pages of clusters are accessible in both themes, and not wider than a phone', async (t) => {
  const scene = await startClusterScene();
  await assertPagesGood(t, scene, ['/clusters']);
  const servers = [];
  for (const name of ['web-1', 'web-2', 'web-3']) servers.push(await scene.server(name));
  const id = await scene.cluster('shop', servers);
  await scene.looksAt(id, servers.slice(1, 2));
  await assertPagesGood(t, scene, [
    '/clusters',
    '/clusters?ask=cluster',
    `/clusters/${id}`,
    `/clusters/${id}?ask=servers`,
    `/clusters/${id}?ask=delete`,
  ]);
});
