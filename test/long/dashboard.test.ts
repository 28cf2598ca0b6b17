/** From an empty installation to a live app on a real server, by clicking and typing alone. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openBrowser, openTab } from '../support/browser.ts';
import { startGitScene } from '../support/git.ts';
import { openLab } from '../support/lab.ts';
import { newEmail } from '../support/people.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const slowMs = 600_000;

const files = {
  Dockerfile: 'FROM node:24-slim\nCOPY server.js /server.js\nEXPOSE 8080\nCMD ["node", "/server.js"]\n',
  'server.js': `require('node:http').createServer((_, answer) => answer.end('hello from the slipway')).listen(8080);`,
};

test('the first run leads from the registration to an app that answers', async (t) => {
  const { service, repository, host, gitToken } = await startGitScene(t, { isOwn: true });
  await repository('hello', files);
  const { about } = await lab.fresh(t, 'provisioned');
  const { page } = await openTab(t, await openBrowser(t, service), service);
  page.setDefaultTimeout(slowMs);
  const email = newEmail();

  await page.goto('/register');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill('a long enough password');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await page.getByLabel('Code').fill(await service.mailbox.code(email));
  await page.getByRole('button', { name: 'Confirm' }).click();

  await page.getByRole('link', { name: 'Deploy the first app' }).click();
  await page.getByLabel('Token').fill(gitToken);
  await page.getByRole('region', { name: 'From an account' }).getByLabel('Address').fill(host.url);
  await page.getByRole('button', { name: 'Check and connect' }).click();
  await page.getByRole('button', { name: /ada\/hello/ }).click();

  await page.getByLabel('Name').fill('web-1');
  await page.getByLabel('Address').fill(about.address);
  await page.getByLabel('SSH port').fill(String(about.port));
  await page.getByLabel('User').fill(about.user);
  await page.getByLabel('Sign in with').selectOption('key');
  await page.getByLabel('Private key').fill(readFileSync(about.keyFile ?? '', 'utf8'));
  await page.getByRole('button', { name: 'Add and test' }).click();
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText('Everything is in order.').waitFor();
  await page.getByRole('button', { name: 'Go on' }).click();

  await page.getByRole('button', { name: 'Deploy it' }).click();
  await page.getByRole('heading', { name: '#1 succeeded' }).waitFor();
  await page.getByRole('heading', { name: 'production running' }).waitFor();
  assert.match(await page.getByRole('log').innerText(), /\S/);
  const address = await page.getByRole('link', { name: `${about.address}:` }).getAttribute('href');
  const text = await until(async () => (await fetch(String(address))).text());
  assert.equal(text, 'hello from the slipway');
});
