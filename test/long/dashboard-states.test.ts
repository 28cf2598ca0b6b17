/** Each page while it loads, where that fails, and where there is nothing yet: what it says, and what one can do then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { openBrowser, openTab, signIn } from '../support/browser.ts';
import { startEnvironmentScene } from '../support/environments.ts';
import { newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';
import { bareProject, join, newTeam } from '../support/workspaces.ts';

/** What the page loads, and what it says where there is nothing. */
type State = readonly [path: string, call: RegExp, empty: string];

const ofWorkspace: readonly State[] = [
  ['/', /\/api\/v1\/projects\?/, 'Nothing is deployed yet'],
  ['/servers', /\/api\/v1\/servers\?/, 'No server yet'],
  ['/domains', /\/api\/v1\/domains\?/, 'No name yet'],
  ['/backups', /\/api\/v1\/backups\?/, 'No backup yet'],
  ['/connectors', /\/notification-connectors\?/, 'Nobody is told yet'],
  ['/git', /\/git-providers\?/, 'No account connected'],
  ['/workspace/members', /\/invitations\?/, 'Nobody is invited now.'],
  ['/workspace/tokens', /\/api-tokens\?/, 'No token yet'],
  ['/workspace/audit', /\/api\/v1\/audit\?/, 'sign in'],
  ['/workspace/settings', /\/workspaces\/[^/]+$/, 'Require a second factor'],
  ['/profile', /\/auth\/sessions\?/, 'Last used'],
  ['/start/code', /\/git-providers\?/, 'Connect one to choose from your repositories'],
  ['/start/server', /\/api\/v1\/servers\?/, 'A server that it runs on'],
];

const ofEnvironment: readonly State[] = [
  ['', /\/deployments\?/, 'Nothing has been deployed here'],
  ['/variables', /\/variables\?/, 'The app is told nothing yet'],
  ['/services', /\/api\/v1\/environments\/[^/]+\/services$/, 'No database here'],
  ['/domains', /\/api\/v1\/environments\/[^/]+\/domains/, 'No domain leads here yet'],
  ['/backups', /\/environments\/[^/]+\/backups\?/, 'No backup yet'],
];

const refusal = {
  type: 'about:blank',
  title: 'Internal error',
  status: 500,
  code: 'internal_error',
  detail: 'Something went wrong here.',
  hint: 'Its log has the rest.',
  requestId: 'req-1',
};

/** Held, then refused, then answered: as the person before it sees it. */
async function assertStates(page: Page, path: string, call: RegExp, empty: string): Promise<void> {
  const held = Promise.withResolvers<void>();
  const hold = async (route: Route) => {
    await held.promise;
    await route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify(refusal),
    });
  };
  await page.route(call, hold);
  await page.goto(path);
  await page.getByRole('status', { name: 'Loading' }).first().waitFor();
  assert.equal(
    await page.getByText(empty).count(),
    0,
    `${path} does not call empty what it does not know yet`,
  );
  held.resolve();
  const alert = page.getByRole('alert').filter({ hasText: refusal.detail }).first();
  await alert.waitFor();
  const said = await alert.innerText();
  assert.match(said, /Its log has the rest\.[\s\S]*Request req-1/, path);
  assert.doesNotMatch(said, /internal_error/, 'a sentence, not a code');
  await page.unroute(call, hold);
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.getByText(empty).first().waitFor();
  await alert.waitFor({ state: 'detached' });
}

test('each page of an empty workspace: loading, refused, tried again, and what to do next', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  for (const [path, call, empty] of ofWorkspace) await assertStates(page, path, call, empty);
});

test('each side of an environment: loading, refused, tried again, and what to do next', async (t) => {
  // An app that needs nothing, so that nothing is set up for it.
  const files = { 'index.html': '<!doctype html><title>Shop</title>' };
  const { service, person, environmentId } = await startEnvironmentScene(t, {}, files);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  for (const [path, call, empty] of ofEnvironment)
    await assertStates(page, `/environments/${environmentId}${path}`, call, empty);
});

test('what is not there, or not for oneself, is said in words on its page', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  const nobody = '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b';
  for (const path of [
    `/projects/${nobody}`,
    `/environments/${nobody}`,
    `/servers/${nobody}`,
    `/start/analysis?project=${nobody}`,
    '/servers/not-an-id',
  ]) {
    await page.goto(path);
    const alert = page.locator('main').getByRole('alert').first();
    await alert.waitFor();
    assert.doesNotMatch(await alert.innerText(), /_/, `${path}: a sentence, not a code`);
    assert.equal(
      await alert.getByRole('button', { name: 'Try again' }).count(),
      0,
      'it would be the same again',
    );
  }
  await page.goto('/no-such-page');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
});

test('who may only look sees every page without a failure, and each button that is not theirs says why', async (t) => {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const projectId = await bareProject(service, team.workspaceId);
  const everywhere = [
    '/',
    `/projects/${projectId}`,
    '/servers',
    '/domains',
    '/backups',
    '/connectors',
    '/git',
  ];
  const own = ['/workspace/tokens', '/profile'];
  for (const [place, paths] of [
    [{ role: 'viewer' }, [...everywhere, '/workspace/members', '/workspace/settings', ...own]],
    [{ role: 'viewer', projects: [{ projectId, role: 'viewer' }] }, ['/', `/projects/${projectId}`, ...own]],
  ] as const) {
    const viewer = await join(service, team, place);
    const { page } = await openTab(t, await openBrowser(t, service), service);
    await signIn(page, viewer);
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption(team.workspaceId);
    for (const path of paths) {
      await page.goto(path);
      await page.locator('main#main :is(h1, h2)').first().waitFor();
      await until(async () => (await page.locator('.skeleton').count()) === 0, `${path} to be loaded`);
      assert.deepEqual(
        await page.getByRole('alert').allInnerTexts(),
        [],
        `${path} as ${JSON.stringify(place)}`,
      );
      const off = page.locator('main button[aria-disabled=true]');
      for (const button of await off.all()) {
        const note = await button.getAttribute('aria-describedby');
        assert.ok(note, `${await button.innerText()} of ${path} does not say why`);
        assert.match((await page.locator(`[id="${note}"]`).textContent()) ?? '', /\w+ \w+/);
      }
    }
    await page.goto(`/projects/${projectId}`);
    await page.getByRole('button', { name: 'Remove', exact: true }).focus();
    await page.getByText('Your role here is viewer; this needs admin.').first().waitFor();
  }
});
