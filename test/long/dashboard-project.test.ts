/** What is changed of a project and of its environments in one browser, and seen at once in another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServices } from '../../src/areas/services/credentials.ts';
import { assertAccessible, openBrowser, openTab, signIn } from '../support/browser.ts';
import { seedDashboard } from '../support/dashboard-scene.ts';
import { startEnvironmentScene } from '../support/environments.ts';
import { until } from '../support/until.ts';

test('a project is renamed, another branch looked at, and who is told of it chosen; another browser sees it', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { service, person, projectId, ask } = scene;
  const connector = await ask('POST', '/notification-connectors', {
    type: 'email',
    name: 'On call',
    config: { to: [person.email] },
  });
  assert.equal(connector.status, 201, connector.text);
  const [one, other] = [
    await openTab(t, await openBrowser(t, service), service),
    await openTab(t, await openBrowser(t, service, { theme: 'dark', width: 390 }), service),
  ];
  for (const { page } of [one, other]) {
    await signIn(page, person);
    await page.goto(`/projects/${projectId}`);
    await page.getByRole('heading', { name: 'Shop active' }).waitFor();
    await page.getByRole('form', { name: 'Who is told' }).getByLabel('On call').waitFor();
  }
  const { page } = one;
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Change Shop' });
  // The branches that the host knows are offered; any other can be typed.
  await dialog.locator('datalist option[value="main"]').waitFor({ state: 'attached' });
  await dialog.getByLabel('Name').fill('Bookshop');
  await dialog.getByLabel('Folder').fill('../outside');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Bookshop', 'what was typed stays');
  await dialog.getByLabel('Folder').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await other.page.getByRole('heading', { name: 'Bookshop active' }).waitFor();

  const told = page.getByRole('form', { name: 'Who is told' });
  await told.getByLabel('On call').check();
  await told.getByLabel('Of this project they tell other things').check();
  await told.getByLabel('Backup failed').check();
  await assertAccessible(page);
  await told.getByRole('button', { name: 'Save' }).click();
  const stored = async () => (await ask('GET', `/notification-connectors/project/${projectId}`)).body;
  await page.getByRole('status').getByText('Saved.').waitFor();
  assert.deepEqual(await stored(), {
    projectId,
    connectorIds: [connector.body.id],
    events: ['deployment_failed', 'environment_degraded', 'backup_failed'],
  });

  await page.getByRole('button', { name: 'Its Dockerfile' }).click();
  const file = page.getByRole('dialog', { name: 'Dockerfile' });
  await file.getByText(/^FROM /m).waitFor();
  await file.getByText('Why it is so').click();
  await assertAccessible(page);
});

test('an environment gets another name and hears of some folders only; how to reach its database is shown', async (t) => {
  const scene = await startEnvironmentScene(t);
  await seedDashboard(scene);
  const { service, person, environmentId, workspaceId, ask } = scene;
  const [one, other] = [
    await openTab(t, await openBrowser(t, service), service),
    await openTab(t, await openBrowser(t, service), service),
  ];
  for (const { page } of [one, other]) {
    await signIn(page, person);
    await page.goto(`/environments/${environmentId}/settings`);
    await page.getByRole('form', { name: 'Name and branch' }).waitFor();
  }
  const form = one.page.getByRole('form', { name: 'Name and branch' });
  await form.getByLabel('Name').fill('live');
  await form.getByLabel('Only where a push changes').fill('/etc');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').waitFor();
  await form.getByLabel('Only where a push changes').fill('apps/web, packages/*/src');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Saved.').waitFor();
  await other.page.getByRole('heading', { name: 'live running' }).waitFor();
  const { body } = await ask('GET', `/environments/${environmentId}`);
  assert.deepEqual(body.watchPaths, ['apps/web', 'packages/*/src']);

  const running = one.page.getByRole('form', { name: 'Processes and volumes' });
  await running.getByRole('button', { name: 'Add a process' }).click();
  const worker = running.getByRole('group', { name: /^Process/ });
  await worker.getByLabel('Name').fill('worker');
  await worker.getByLabel('Command').fill('node worker.js');
  await worker.getByLabel('Schedule').fill('now and then');
  await running.getByRole('button', { name: 'Add a volume' }).click();
  const uploads = running.getByRole('group', { name: /^Volume/ });
  await uploads.getByLabel('Name').fill('uploads');
  await uploads.getByLabel('Folder').fill('/srv/uploads');
  await running.getByRole('button', { name: 'Save' }).click();
  await running.getByRole('alert').getByText('settings.processes.worker.schedule').first().waitFor();
  await worker.getByLabel('Schedule').fill('');
  await running.getByRole('button', { name: 'Add a process' }).click();
  await worker.last().getByLabel('Name').fill('worker');
  await running.getByRole('button', { name: 'Save' }).click();
  await running.getByText('Two processes have the name worker.').waitFor();
  await worker.last().getByRole('button', { name: 'Take this process out' }).click();
  await running.getByRole('button', { name: 'Save' }).click();
  await running.getByText('Saved.').waitFor();
  const how = one.page.getByRole('form', { name: 'How it runs' });
  await how.getByText('More', { exact: true }).click();
  await how.getByLabel('Seconds for the last requests').fill('45');
  await how.getByLabel('Seconds until the first good answer').fill('1');
  await how.getByRole('button', { name: 'Save' }).click();
  await how.getByText('must be at least 5').first().waitFor();
  await how.getByLabel('Seconds until the first good answer').fill('120');
  await how.getByRole('button', { name: 'Save' }).click();
  await how.getByText('Saved.').waitFor();
  const { settings } = (await ask('GET', `/environments/${environmentId}`)).body;
  const { processes, volumes, drainSeconds, health } = Object(settings);
  assert.deepEqual(
    [processes, volumes, drainSeconds, health],
    [
      { worker: { command: 'node worker.js' } },
      [{ name: 'uploads', path: '/srv/uploads' }],
      45,
      { startSeconds: 120 },
    ],
  );
  await how.getByLabel('Seconds until the first good answer').fill('');
  await how.getByRole('button', { name: 'Save' }).click();
  await until(async () => {
    const { body: now } = await ask('GET', `/environments/${environmentId}`);
    return Object(now.settings).health === undefined;
  }, 'the health check to be as usual again');
  await assertAccessible(one.page);
  await running.getByRole('button', { name: 'Take this volume out' }).click();
  await running.getByRole('button', { name: 'Save' }).click();
  await until(async () => {
    const { body: now } = await ask('GET', `/environments/${environmentId}`);
    return Object(now.settings).volumes?.length === 0;
  }, 'the volume to be taken out');

  const wanted = await ask('POST', `/environments/${environmentId}/services`, {
    services: [{ kind: 'postgres' }],
  });
  assert.equal(wanted.status, 202, wanted.text);
  const { page } = other;
  await page.goto(`/environments/${environmentId}/services`);
  const shown = page.getByRole('dialog', { name: 'How to reach postgres' });
  // Its first start makes them, which may have begun by now; the server of this scene does not answer.
  const { db, sealer } = service.app.store;
  await db.transaction((tx) => openServices(tx, sealer, workspaceId, environmentId));
  await page.getByRole('button', { name: 'How to reach it: postgres' }).click();
  await shown.getByText(/^postgresql:\/\/.+@postgres:5432/).waitFor();
  await shown.getByText('slipway connect --service postgres').waitFor();
  await assertAccessible(page);
});
