/** What the dashboard shows of an environment while it is deployed, and that others see it at the same time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { assertPagesGood, openBrowser, openTab, signIn } from '../support/browser.ts';
import { buildLines, seedDashboard } from '../support/dashboard-scene.ts';
import { tellDeployment } from '../support/deployment-story.ts';
import { startEnvironmentScene } from '../support/environments.ts';

const esc = '\x1b';

const commit = {
  sha: 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00',
  message: 'Sort by price',
  author: 'Ada Lovelace',
  branch: 'main',
};

test('a deployment is seen live in two browsers: its steps, its log in colour, and its end', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { serverId } = await seedDashboard(scene);
  const { service, person } = scene;
  const tabs = [];
  for (const theme of ['light', 'dark'] as const)
    tabs.push(await openTab(t, await openBrowser(t, service, { theme }), service));
  for (const { page } of tabs) {
    await signIn(page, person);
    await page.getByRole('link', { name: 'production', exact: true }).click();
    await page.getByRole('article', { name: 'Deployment 2' }).waitFor();
  }
  const story = await tellDeployment(scene, serverId, commit);
  await story.step('fetch');
  for (const { page } of tabs) {
    await page.getByRole('link', { name: /#3/ }).click();
    await page.getByRole('article', { name: 'Deployment 3' }).waitFor();
  }
  await story.step('build');
  await story.lines('build', ...buildLines);
  for (const { page } of tabs) {
    const steps = page.getByRole('list', { name: 'Steps' });
    await steps.getByText('build', { exact: true }).waitFor();
    const green = page.locator('.log .ansi-green', { hasText: 'added 212 packages' });
    await green.waitFor();
    await page.getByRole('heading', { name: 'production deploying' }).waitFor();
    const shown = await page.getByRole('log').innerText();
    assert.ok(!shown.includes(esc) && !shown.includes('[32m'), 'no control sequence is shown');
  }
  await story.step('health');
  await story.end({ state: 'succeeded' });
  for (const { page } of tabs) {
    await page.getByRole('heading', { name: '#3 succeeded' }).waitFor();
    await page.getByRole('heading', { name: 'production running' }).waitFor();
  }
  // Before one goes to another release, what would be different is said.
  const [{ page }] = tabs as [(typeof tabs)[number]];
  await page.getByRole('button', { name: 'Go back to this' }).click();
  const asked = page.getByRole('dialog', { name: 'Go back to #3?' });
  await asked
    .getByRole('row', { name: /commit 4f2a9c1d Show the basket.* c0ffee00 Sort by price/ })
    .waitFor();
  await asked.getByRole('button', { name: 'Keep as it is' }).click();
});

test('a failed deployment says where, why, what would help and what shows it; its log can be searched', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { failed } = await seedDashboard(scene);
  const { service, person, environmentId } = scene;
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  await page.goto(`/environments/${environmentId}/deployments/${failed.id}`);
  const alert = page.getByRole('alert').filter({ hasText: 'It failed at: health' });
  await alert.waitFor();
  assert.match(await alert.innerText(), /did not become healthy[\s\S]*answered with 500/);
  await alert.getByText('What shows it').click();
  assert.match(await alert.innerText(), /relation "catalogue" does not exist/);
  await page.getByLabel('Search the log').fill('npm');
  await page.getByText('1 of 2').waitFor();
  await page.getByLabel('Search the log').press('Enter');
  await page.getByText('2 of 2').waitFor();
  await page.getByRole('button', { name: 'Jump to the failure' }).click();
  assert.ok(await page.getByText('GET / answered 500 after 31 ms').isVisible());
  // A button that may not be pressed says why.
  const back = page.getByRole('button', { name: 'Go back to this' });
  assert.equal(await back.getAttribute('aria-disabled'), 'true');
  await back.focus();
  assert.match(
    await page.getByRole('note').filter({ hasText: 'never was live' }).innerText(),
    /no release to go back to/,
  );
});

test('a variable is stored, shown at once in another browser, and a secret never comes back', async (t) => {
  const scene = await startEnvironmentScene(t);
  await seedDashboard(scene);
  const { service, person, environmentId } = scene;
  const [one, other] = [
    await openTab(t, await openBrowser(t, service), service),
    await openTab(t, await openBrowser(t, service), service),
  ];
  for (const { page } of [one, other]) {
    await signIn(page, person);
    await page.goto(`/environments/${environmentId}/variables`);
    await page.getByRole('cell', { name: 'LOG_LEVEL', exact: true }).waitFor();
  }
  await one.page.getByRole('button', { name: 'Edit as .env' }).click();
  await one.page.getByLabel('Lines of KEY=value').fill('LOG_LEVEL=debug\nAPI_KEY="k e y"\nnot a line');
  await one.page.getByText('Line 3 is not KEY=value.').first().waitFor();
  await one.page.getByLabel('Lines of KEY=value').fill('LOG_LEVEL=debug\nAPI_KEY="k e y"');
  await one.page.getByText('Changed: LOG_LEVEL, New: API_KEY').waitFor();
  await one.page.getByRole('button', { name: 'Save 2' }).click();
  await one.page.getByText('Saved.').waitFor();
  for (const { page } of [one, other]) {
    await page.getByRole('row', { name: /API_KEY secret/ }).waitFor();
    await page.getByRole('row', { name: /LOG_LEVEL debug/ }).waitFor();
  }
  assert.doesNotMatch(await other.page.content(), /k e y/);
});

test('work on a server is followed on its page, and a hardening is undone once its name was typed', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { serverId } = await seedDashboard(scene);
  const { service, person, workspaceId } = scene;
  const { db } = service.app.store;
  const hardened = newId();
  const input = JSON.stringify({ serverId, plan: { version: 1, steps: [] } });
  await db.run(sql`
    insert into operations (workspace_id, id, kind, subject_type, subject_id, server_id, input, state, created_at,
      started_at, finished_at)
    values (${workspaceId}, ${hardened}, 'server_harden', 'server', ${serverId}, ${serverId}, ${input}::jsonb,
      'succeeded', now(), now(), now())`);
  await db.run(sql`
    insert into operation_steps (workspace_id, operation_id, name, place, status, attempt, started_at, finished_at)
    values (${workspaceId}, ${hardened}, 'firewall', 0, 'done', 1, now(), now())`);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  await page.goto(`/servers/${serverId}`);
  const done = page.getByRole('region', { name: 'Hardening', exact: true });
  await done.getByRole('list', { name: 'Steps' }).getByText('firewall').waitFor();
  await done.getByRole('button', { name: 'Undo the hardening' }).click();
  const asked = page.getByRole('dialog', { name: 'Undo the hardening?' });
  const undo = asked.getByRole('button', { name: 'Undo it' });
  assert.equal(await undo.getAttribute('aria-disabled'), 'true');
  await asked.getByLabel('To confirm, type ams-1').fill('ams-1');
  await undo.click();
  // The new work takes its place without a reload.
  await page.getByRole('region', { name: 'Undoing the hardening' }).waitFor();
  await done.waitFor({ state: 'detached' });
});

test('what is looked at most is accessible in both themes, and not wider than a phone', async (t) => {
  const scene = await startEnvironmentScene(t);
  await seedDashboard(scene);
  await assertPagesGood(t, scene, ['/', `/environments/${scene.environmentId}`, '/servers?ask=server']);
});

test('connections that are cut under an open page come back by themselves, and nothing that happened is missed', async (t) => {
  const scene = await startEnvironmentScene(t, { isOwn: true });
  const { serverId } = await seedDashboard(scene);
  const { service, person, environmentId } = scene;
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  await page.goto(`/environments/${environmentId}`);
  await page.getByRole('article', { name: 'Deployment 2' }).waitFor();
  service.app.server.server.closeAllConnections();
  await (await tellDeployment(scene, serverId, commit)).step('fetch');
  await page.getByRole('link', { name: /#3/ }).waitFor();
  await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
});

test('the palette reaches any place and any action with the keyboard alone', async (t) => {
  const scene = await startEnvironmentScene(t);
  await seedDashboard(scene);
  const { page, requests } = await openTab(t, await openBrowser(t, scene.service), scene.service);
  await signIn(page, scene.person);
  await page.getByRole('link', { name: 'production', exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Go to' });
  await field.waitFor();
  await page.getByRole('option', { name: /Shop \/ production \/ variables/ }).waitFor();
  await field.fill('shpvar');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'LOG_LEVEL', exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await field.fill('prod deploy');
  await page.keyboard.press('Enter');
  // It asks, and does nothing by itself: neither here nor for whoever is sent the link.
  const asked = page.getByRole('dialog', { name: 'Deploy production?' });
  await asked.waitFor();
  await page.reload();
  await asked.getByRole('button', { name: 'Keep as it is' }).click();
  await asked.waitFor({ state: 'detached' });
  assert.doesNotMatch(page.url(), /ask=/);
  assert.deepEqual(
    requests.filter((each) => /^POST .*\/deployments$/.test(each)),
    [],
  );
});
