/** From an empty installation to a live app, and on from there, by clicking and typing in a browser and nothing else. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/commands.ts';
import { openBrowser, openTab } from '../support/browser.ts';
import { sample } from '../support/deployments.ts';
import { freePort } from '../support/free-port.ts';
import { Hands } from '../support/hands.ts';
import { newInstance } from '../support/instance.ts';
import { openLab, rootPassword } from '../support/lab.ts';
import { Mailbox } from '../support/mailbox.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const { about, client } = lab;
const { SLIPWAY_SMTP_URL: _, SLIPWAY_MAIL_FROM: __, SLIPWAY_PUBLIC_URL: ___, ...settings } = about.settings;
const email = 'ada@example.com';
/** What a newcomer has to do until the app runs: at nine seconds each, three minutes of their own time. */
const mostActs = 20;

test('from an empty installation to a live app, a push, a rollback and a proven backup', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const password = await rootPassword(server);
  const name = `journey-${process.pid}`;
  const repository = `/git/repositories/${about.git.login}/${name}`;
  await client.call('POST', '/git/repositories', {
    owner: about.git.login,
    name,
    private: true,
    from: join(root, 'lab/apps/express-postgres'),
  });
  const { dataDir, start } = newInstance(t);
  // On one port throughout: it is killed on the way, and comes back where it was.
  const own = { ...settings, SLIPWAY_PORT: String(await freePort()) };
  const service = start(own);
  const url = await service.url();
  const context = await openBrowser(t, { url });
  const { page } = await openTab(t, context, { url });
  const hands = new Hands(page);
  /** Where one fails, those behind it make no sense. */
  const step = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (cause) {
      const shown = await page.locator('body').innerText();
      throw new Error(`not done: ${what}. The page says:\n${shown}`, { cause });
    }
  };
  const visit = async () => {
    const opening = context.waitForEvent('page');
    await hands.follow(new RegExp(server.about.address.replaceAll('.', '\\.')));
    const app = await opening;
    await app.locator('body').waitFor();
    const text = await app.locator('body').innerText();
    const address = app.url();
    await app.close();
    return { text, address };
  };

  await step('an account, by the code from the mail', async () => {
    await page.goto('/');
    await hands.follow('Create an account');
    await hands.type('E-mail', email);
    await hands.type('Password', 'correct horse battery');
    await hands.press('Send the code');
    await hands.type('Code', await new Mailbox(join(dataDir, 'outbox')).code(email));
    await hands.press('Confirm');
    await hands.sees('heading', 'Nothing is deployed yet');
    await hands.follow('Deploy the first app');
  });

  await step('a Git account, and a repository of it', async () => {
    const account = page.getByRole('region', { name: 'From an account' });
    await hands.type('Token', about.git.token, account);
    await hands.type('Address', about.git.url, account);
    await hands.press('Check and connect');
    await hands.press(new RegExp(`/${name}`), account);
  });

  await step('a server, with its connection tested while one looks', async () => {
    await hands.type('Name', 'web-1');
    await hands.type('Address', server.about.address);
    await hands.choose('Sign in with', 'a password, used once to install a key');
    await hands.type('Password', password);
    await hands.press('Add and test');
    const tested = page.getByRole('region', { name: 'Connection test' });
    for (const what of ['tcp', 'host key', 'authenticate', 'docker'])
      await tested.getByText(what, { exact: true }).waitFor();
    await tested.getByText('Everything is in order.').waitFor();
    assert.equal(await page.getByText('authorized_keys').count(), 0, 'the password has installed the key');
    await hands.press('Go on');
  });

  await step('what the analysis found, each value with the file that told it', async () => {
    const app = await hands.sees('article', /express-postgres|journey/);
    await app.getByText('npm ci').waitFor();
    await app.getByText('why').first().click();
    await app
      .getByText(/package(-lock)?\.json/)
      .first()
      .waitFor();
    await page.getByRole('article', { name: 'Needs' }).getByText('postgres', { exact: true }).waitFor();
  });

  await step('the first deployment, with its log while it goes on, and the app', async () => {
    const deploy = page.getByRole('button', { name: 'Deploy it' });
    // It waits for the server, and says so.
    await until(async () => (await deploy.getAttribute('aria-disabled')) === 'false', 'web-1 to be set up');
    await hands.press('Deploy it');
    await hands.sees('article', 'Deployment 1');
    await page.getByRole('log').locator('.log-block').first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Cancel' }).count(), 1, 'lines come before the end');
    await hands.sees('heading', '#1 succeeded');
    await hands.sees('heading', 'production running');
    assert.match((await visit()).text, /^express-postgres/);
    t.diagnostic(`the person did ${hands.acts} things until the app ran`);
    assert.ok(hands.acts <= mostActs, `${hands.acts} acts`);
  });

  await step(
    'a push deploys by itself, and a kill of the service in the middle stops neither it nor the page',
    async () => {
      await hands.follow('Settings');
      await page.getByLabel('Deploy each push to it').check();
      await page.getByText('deploys each push').waitFor();
      await hands.follow('Deployments');
      const text = sample('express-postgres')['server.js']?.replace('`express-postgres', '`second');
      await client.call('POST', `${repository}/commits`, {
        branch: 'main',
        message: 'Say second',
        files: { 'server.js': text },
      });
      await hands.follow(/#2/);
      await page.getByText('Say second').first().waitFor();
      await page.getByRole('log').locator('.log-block').first().waitFor();

      // In the middle of it, which neither the deployment nor the page is lost by.
      await service.kill('SIGKILL');
      await page.getByText('Reconnecting').last().waitFor({ state: 'attached' });
      assert.equal(await start(own).url(), url);
      await hands.sees('heading', '#2 succeeded');
      await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
      assert.equal(await page.getByRole('alert').count(), 0);
      assert.match((await visit()).text, /^second/);
    },
  );

  await step('a rollback says what it does, and puts the first release back', async () => {
    await hands.follow(/#1 /);
    await hands.press('Go back to this');
    const asked = page.getByRole('dialog', { name: 'Go back to #1?' });
    await asked.getByText(/nothing is built/i).waitFor();
    await hands.press('Go back to #1', asked);
    await hands.follow(/#3/);
    await hands.sees('heading', '#3 succeeded');
    assert.match((await visit()).text, /^express-postgres/);
  });

  await step('a backup that was restored and checked', async () => {
    const { address } = await visit();
    const kept = await fetch(`${address}notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'kept' }),
    });
    assert.equal(kept.status, 201);
    await hands.follow('Backups', page.getByRole('navigation', { name: 'Environment' }));
    await hands.press('Back up now');
    const row = await hands.sees('row', /succeeded .*restored and checked/);
    assert.match(await row.innerText(), /postgres/);
    assert.equal(await page.getByRole('alert').count(), 0);
  });
});
