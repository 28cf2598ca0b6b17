/** What someone sees first waits for the style alone: neither for a script nor for an answer of the API. */
import { test } from 'node:test';
import { openBrowser, openTab } from '../support/browser.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';

test('the page is painted before its scripts are there, and they put the dashboard in its place', async (t) => {
  const service = await sharedTestApp();
  const { page } = await openTab(t, await openBrowser(t, service), service);
  const { promise: painted, resolve: go } = Promise.withResolvers<void>();
  await page.route('**/*.js', async (route) => {
    await painted;
    await route.continue();
  });
  await page.goto('/', { waitUntil: 'commit' });
  await until(
    () => page.evaluate("performance.getEntriesByName('first-contentful-paint').length > 0").then(Boolean),
    'something to be painted',
  );
  await page.getByText('Slipway', { exact: true }).waitFor();
  go();
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  await page.locator('.starting').waitFor({ state: 'detached' });
});
