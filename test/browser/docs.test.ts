/** The page of the API, in a real browser: `Watched` fails where it asks another origin or breaks its own policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser, openTab } from '../support/browser.ts';
import { sharedTestApp } from '../support/shared-app.ts';

test('the operations are seen before the reference is loaded, and the reference takes their place', async (t) => {
  const service = await sharedTestApp();
  const context = await openBrowser(t, service);
  const { page } = await openTab(t, context, service);
  // Held back, as on a slow line: what is seen meanwhile is seen without it.
  const held = Promise.withResolvers<void>();
  await page.route('**/reference.js', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto('/api/docs', { waitUntil: 'commit' });
  const outline = page.locator('#outline');
  await outline.getByRole('heading', { name: 'Deployments' }).waitFor();
  await outline.getByText('POST /api/v1/environments/{id}/deployments', { exact: true }).waitFor();
  held.resolve();
  await outline.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Slipway', exact: true }).waitFor();
  const shown = await page.locator('#reference').innerText();
  assert.doesNotMatch(shown, /Default Response/);
  const at = ['Accounts', 'Servers', 'Projects', 'Environments', 'Deployments', 'Domains', 'Backups'].map(
    (tag) => shown.indexOf(`\n${tag}\n`),
  );
  assert.ok(!at.includes(-1), shown.slice(0, 2_000));
  assert.deepEqual(
    at,
    at.toSorted((one, other) => one - other),
    'tags in the order of a journey',
  );
  assert.equal(await page.title(), 'Slipway API');
  const icon = await page.locator('link[rel=icon]').getAttribute('href');
  assert.equal((await fetch(new URL(icon ?? '', service.url))).status, 200);
});
