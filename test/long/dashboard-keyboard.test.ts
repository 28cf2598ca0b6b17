/** The first run without a pointer: from no account to a first deployment by the keys of the keyboard alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { sql } from '../../src/store/sql.ts';
import { openBrowser, openTab } from '../support/browser.ts';
import { startGitScene } from '../support/git.ts';
import { newEmail } from '../support/people.ts';
import { expressApp } from '../support/projects.ts';
import { until } from '../support/until.ts';

/** What has the focus, as a screen reader would name it, and whether one sees that it has it. */
const focused = `(() => {
  const at = document.activeElement;
  if (!at || at === document.body) return { name: '', isSeen: true };
  const name = at.getAttribute('aria-label') ?? at.labels?.[0]?.innerText ?? at.innerText ?? '';
  const look = getComputedStyle(at);
  // A place that a link leads to, and no key: the page itself shows it.
  const isSeen = at.tabIndex < 0 || look.outlineStyle !== 'none' || look.boxShadow !== 'none';
  return { name: name.replace(/\\s+/g, ' ').trim(), isSeen };
})()`;

/** More than any page has to stop at. */
const mostTabs = 120;

async function tabTo(page: Page, wanted: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let tabs = 0; tabs < mostTabs; tabs += 1) {
    const { name, isSeen } = Object(await page.evaluate(focused));
    assert.ok(isSeen, `«${name}» has the focus, and nobody sees it`);
    if (typeof wanted === 'string' ? name === wanted : wanted.test(name)) return;
    passed.push(name);
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab never comes to ${wanted}: ${passed.join(', ')}`);
}

async function press(page: Page, wanted: string | RegExp): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press('Enter');
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.type(text);
}

test('an account, a repository, a server and a deployment by the keyboard alone', async (t) => {
  const { service, host, gitToken, repository } = await startGitScene(t);
  await repository('shop', expressApp);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  const email = newEmail();
  await page.goto('/');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await press(page, 'Create an account');
  await page.getByRole('heading', { name: 'Create an account' }).waitFor();
  await type(page, 'E-mail', email);
  await type(page, 'Password', 'correct horse battery');
  await page.keyboard.press('Enter');
  await page.getByLabel('Code').waitFor();
  await type(page, 'Code', await service.mailbox.code(email));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Nothing is deployed yet' }).waitFor();

  // What is everywhere can be passed over.
  await press(page, 'Skip to the page');
  await press(page, 'Deploy the first app');
  await page.getByRole('heading', { name: 'From an account' }).waitFor();
  await type(page, 'Token', gitToken);
  await page.keyboard.press('Tab');
  await type(page, 'Address', host.url);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /ada\/shop/ }).waitFor();
  await press(page, /^ada\/shop/);

  await page.getByRole('heading', { name: 'A server that it runs on' }).waitFor();
  await type(page, 'Name', 'ams-1');
  await page.keyboard.press('Tab');
  await type(page, 'Address', '127.0.0.1');
  await press(page, 'Add and test');
  await page.getByRole('region', { name: 'Connection test' }).waitFor();
  await press(page, 'Test the connection');
  await page.getByText('It does not work yet.').waitFor();
  await press(page, 'Go on');

  const deploy = page.getByRole('button', { name: 'Deploy it' });
  await deploy.waitFor();
  await tabTo(page, 'Deploy it');
  await page
    .getByText(/is being set up|could not be reached|has not been/)
    .first()
    .waitFor();
  // Nothing is behind it here; the lab shows the rest.
  await service.app.store.db.run(sql`
    update servers set status = 'ready', provisioned_at = now(), problem = null where name = 'ams-1'`);
  await page.reload();
  await deploy.waitFor();
  await until(async () => (await deploy.getAttribute('aria-disabled')) === 'false', 'the server to be ready');
  if ((await page.getByLabel('SESSION_SECRET').count()) > 0) await type(page, 'SESSION_SECRET', 'not told');
  await press(page, 'Deploy it');
  await page.getByRole('article', { name: 'Deployment 1' }).waitFor();
});
