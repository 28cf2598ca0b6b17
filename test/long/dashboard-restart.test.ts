/** What an open page does when the service behind it is killed, and when its token ends. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { callApi, startTestApp } from '../support/app.ts';
import { openBrowser, openTab, signIn } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { newInstance } from '../support/instance.ts';
import { Mailbox } from '../support/mailbox.ts';
import { newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';

const person = { email: 'ada@example.com', password: 'correct horse battery' };

test('the service is killed and started again under an open page: it says so quietly, keeps what was typed, and catches up', async (t) => {
  const { dataDir, start } = newInstance(t);
  // So that it comes back where it was.
  const settings = { SLIPWAY_PORT: String(await freePort()), SLIPWAY_SERVER_NETWORKS: '127.0.0.1' };
  const first = start(settings);
  const url = await first.url();
  await callApi(url, 'POST', '/auth/register', { body: person });
  const code = await new Mailbox(join(dataDir, 'outbox')).code(person.email);
  const { body } = await callApi(url, 'POST', '/auth/verify-otp', { body: { email: person.email, code } });
  const token = String(body.accessToken);
  const addServer = async (name: string) => {
    const wish = { name, host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
    const made = await callApi(url, 'POST', '/servers', { token, body: wish });
    assert.equal(made.status, 201, made.text);
  };
  await addServer('before');
  const { page } = await openTab(t, await openBrowser(t, { url }), { url });
  await signIn(page, person);
  await page.goto('/servers');
  await page.getByRole('link', { name: 'before' }).waitFor();
  await page.locator('.page-head').getByText('Add a server').click();
  await page.getByLabel('Name', { exact: true }).fill('typed by hand');
  const mark = page.getByRole('navigation', { name: 'Pages' }).getByText(/^(Live|Reconnecting)$/);
  await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
  await page.evaluate('window.isTheSamePage = true');

  await first.kill('SIGKILL');
  await page.getByText('Reconnecting').last().waitFor({ state: 'attached' });
  assert.equal(await page.getByRole('alert').count(), 0, 'quietly');
  assert.equal(await page.getByRole('link', { name: 'before' }).count(), 1, 'what was there is still shown');

  assert.equal(await start(settings).url(), url);
  await addServer('meanwhile');
  await page.getByRole('link', { name: 'meanwhile' }).waitFor();
  await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
  assert.equal(await mark.innerText(), 'Live');
  await addServer('afterwards');
  await page.getByRole('link', { name: 'afterwards' }).waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'typed by hand');
  assert.equal(await page.evaluate('window.isTheSamePage'), true, 'nothing was loaded anew');
  assert.equal(await page.getByRole('alert').count(), 0);
});

test('a service that is away when a page is opened is waited for', async (t) => {
  const service = await sharedTestApp();
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await page.route('**/api/v1/**', (route) => route.abort('connectionrefused'));
  await page.goto('/');
  await page.getByRole('heading', { name: 'Slipway does not answer' }).waitFor();
  await page.unroute('**/api/v1/**');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('a token that has ended is renewed by the cookie, for calls and for the stream, and nobody is asked', async (t) => {
  const service = await startTestApp(t);
  const own = await newPerson(service);
  const { page, requests } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, own);
  await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
  const refreshes = () => requests.filter((each) => each.endsWith('/auth/refresh')).length;
  const before = refreshes();
  // The browser's own clock stands still: it learns of the end by a refusal, as after a long sleep.
  service.clock.advance(16 * 60_000);
  await page.getByRole('link', { name: 'Backups', exact: true }).click();
  await page.getByRole('heading', { name: 'No backup yet' }).waitFor();
  assert.equal(refreshes() - before, 1, 'once, however many calls were refused');

  await page.getByRole('link', { name: 'Servers', exact: true }).click();
  service.clock.advance(16 * 60_000);
  service.app.server.server.closeAllConnections();
  const { token } = await signedInAgain(service, own);
  const wish = { name: 'fra-1', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  assert.equal((await service.call('POST', '/servers', { token, body: wish })).status, 201);
  await page.getByRole('link', { name: 'fra-1' }).waitFor();
  await page.getByText('Live', { exact: true }).last().waitFor({ state: 'attached' });
  assert.equal(await page.getByRole('heading', { name: 'Sign in' }).count(), 0);
});

async function signedInAgain(
  service: Awaited<ReturnType<typeof startTestApp>>,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<{ readonly token: string }> {
  const { body, text } = await service.call('POST', '/auth/login', { body: { email, password } });
  assert.equal(typeof body.accessToken, 'string', text);
  return { token: String(body.accessToken) };
}
