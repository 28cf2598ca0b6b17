/** The real page allows a real `slipway login`, in a terminal and in a chromium. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { version } from '../../cli/command.ts';
import { Desk, type Watched } from '../cli/support.ts';
import { assertAccessible, openBrowser, openTab } from '../support/browser.ts';
import { newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';

async function shownCode(screen: Watched): Promise<string> {
  await screen.sees('Waiting for you to allow it.');
  return /type this code: +(\S+)$/m.exec(screen.screen)?.[1] ?? assert.fail(screen.screen);
}

test('who opens the page signs in, types the code, sees what asks, and allows it with a fresh proof', async (t) => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const desk = new Desk(t);
  const { page, requests } = await openTab(t, await openBrowser(t, service, { width: 390 }), service);
  await page.goto('/device');
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Allow a program to sign in' }).waitFor();
  await assertAccessible(page);
  service.clock.advance(11 * minutes);

  const screen = desk.watch(t, ['login', service.url, '--name', 'here']);
  const code = await shownCode(screen);
  const field = page.getByLabel('Code');
  await field.fill('BCDF-GHJK');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').getByText('No program waits with this code.').waitFor();
  await field.fill(code.toLowerCase().replace('-', ' '));
  await page.getByRole('button', { name: 'Continue' }).click();
  const asks = page.getByRole('region', { name: 'What asks' });
  for (const shown of [hostname(), `slipway-cli/${version} node/${process.versions.node}`, '127.0.0.1'])
    await asks.getByText(shown, { exact: true }).waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Allow' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByLabel('Password').fill(ada.password);
  await proof.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('Allowed. Go back to the terminal').waitFor();
  assert.equal(await screen.ended, 0, screen.screen);
  assert.match(screen.screen, new RegExp(`Signed in to here as ${ada.email}\\.$`));
  assert.equal((await desk.run(['status'])).code, 0);
  assert.ok(!requests.some((each) => each.includes(code.slice(0, 4))), 'no code in an address');
});

test('what asks from another network is warned of, and refused it gets nothing', async (t) => {
  const service = await sharedTestApp({ SLIPWAY_TRUSTED_PROXIES: '127.0.0.1' });
  const ada = await newPerson(service);
  const begun = await service.call('POST', '/auth/device-codes', {
    body: { deviceName: 'your-laptop' },
    headers: { 'x-forwarded-for': '203.0.113.7' },
  });
  const { page } = await openTab(t, await openBrowser(t, service, { theme: 'dark' }), service);
  await page.goto('/device');
  await page.getByLabel('E-mail').fill(ada.email);
  await page.getByLabel('Password').fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Code').fill(String(begun.body.userCode));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('203.0.113.7').waitFor();
  await page.getByRole('alert').getByText('from another network than the one you are in now').waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Refuse' }).click();
  await page.getByText('Refused. The program is told so, and gets nothing.').waitFor();
});
