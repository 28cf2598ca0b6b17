/** Getting in and out of the dashboard, in a real browser against the real service. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startTestApp } from '../support/app.ts';
import { assertAccessible, openBrowser, openTab, signIn } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { newGuarded, totpCode } from '../support/second-factors.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';
import { until } from '../support/until.ts';

test('a newcomer registers with the code from the mail, and is told what to do next', async (t) => {
  const service = await sharedTestApp();
  const { page } = await openTab(t, await openBrowser(t, service), service);
  const email = newEmail();
  await page.goto('/');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill('a long enough password');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await page.getByLabel('Code').fill(await service.mailbox.code(email));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('heading', { name: 'Nothing is deployed yet' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
});

test('a wrong password is told as a sentence, and what was typed stays', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await page.goto('/');
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  const told = await page.getByRole('alert').innerText();
  assert.doesNotMatch(told, /invalid_credentials/, 'a sentence, not a code');
  assert.equal(await page.getByLabel('E-mail').inputValue(), person.email);
});

test('an account with a second factor is asked for it, by the code of an app or by a recovery code', async (t) => {
  const service = await sharedTestApp();
  const guarded = await newGuarded(service);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  const password = async () => {
    await page.goto('/');
    await page.getByLabel('E-mail').fill(guarded.email);
    await page.getByLabel('Password').fill(guarded.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Second factor' }).waitFor();
  };
  await password();
  await page.getByLabel('Code').fill('000000');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Code').fill(totpCode(service, guarded.secret));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Nothing is deployed yet' }).waitFor();
  await page.context().clearCookies();
  await password();
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(guarded.recoveryCodes[0] ?? '');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Nothing is deployed yet' }).waitFor();
});

/** Passkeys know a service by its name, so this one is reached as localhost. */
async function startAtLocalhost(t: TestContext) {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const service = await startTestApp(t, { env: { SLIPWAY_PORT: String(port), SLIPWAY_PUBLIC_URL: url } });
  return { service, at: { url } };
}

test('second factors are set up in the profile, sign in, are asked for anew, and can be required of all', async (t) => {
  const { service, at } = await startAtLocalhost(t);
  const person = await newPerson(service);
  const { page } = await openTab(t, await openBrowser(t, at), at);
  const devices = await page.context().newCDPSession(page);
  await devices.send('WebAuthn.enable');
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await signIn(page, person);
  await page.goto('/profile');

  // An app: the secret is shown, and a wrong code turns nothing on.
  await page.getByRole('button', { name: 'Set up an app' }).click();
  const app = page.getByRole('dialog', { name: 'Set up an authenticator app' });
  await app.getByRole('img', { name: 'QR code of the secret' }).waitFor();
  const secret = await app.locator('.copy-row code').innerText();
  await app.getByRole('textbox', { name: 'Code' }).fill('000000');
  await app.getByRole('button', { name: 'Turn it on' }).click();
  await app.getByRole('alert').waitFor();
  await app.getByRole('textbox', { name: 'Code' }).fill(totpCode(service, secret));
  await app.getByRole('button', { name: 'Turn it on' }).click();
  const codes = page.getByRole('dialog', { name: 'Recovery codes, this once' });
  await codes.getByRole('listitem').nth(9).waitFor();
  await assertAccessible(page);
  await codes.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByText('10 of 10 recovery codes left').waitFor();

  // A passkey beside it, which then signs in.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Laptop');
  await page.getByRole('button', { name: 'Make the passkey' }).click();
  await page.getByRole('row', { name: /Laptop passkey/ }).waitFor();
  await page.getByRole('button', { name: 'Rename Laptop' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Work laptop');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await page.getByRole('row', { name: /Work laptop passkey/ }).waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('row', { name: /Work laptop passkey/ }).waitFor();

  // The same device has one already, and that is said in words.
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Again');
  await page.getByRole('button', { name: 'Make the passkey' }).click();
  await page.getByText('This device has a passkey of your account already.').waitFor();
  await page.getByRole('button', { name: 'Not now' }).click();

  // What asks for a fresh proof after ten minutes is given one by the passkey, and is then done.
  service.clock.advance(11 * minutes);
  await page.goto('/workspace/settings');
  await page.getByRole('button', { name: 'Require a second factor' }).click();
  await page.getByText('Every member has one').waitFor();
  await page.getByRole('button', { name: 'Require it', exact: true }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('Required: there is nothing here').waitFor();
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('button', { name: 'Turn it off' }).click();
  await page.getByRole('row', { name: /Authenticator app/ }).waitFor({ state: 'detached' });

  // Whoever removes their last one is shut out of it, and told where to go.
  await page.getByRole('button', { name: 'Remove Work laptop' }).click();
  await page.getByLabel('To confirm, type Work laptop').fill('Work laptop');
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByText('None yet: whoever knows your password is you.').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('alert').getByRole('link', { name: 'Set up a second factor' }).first().click();
  await page.getByRole('heading', { name: 'Profile' }).waitFor();
});

test('who signs in at a deep link is led there, and a reload stays signed in by the cookie alone', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const context = await openBrowser(t, service);
  const { page, requests } = await openTab(t, context, service);
  await page.goto('/servers');
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'No server yet' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'No server yet' }).waitFor();
  const kept: unknown = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  );
  assert.doesNotMatch(String(kept), /eyJ|refresh/, 'no token lies where a script could read it');
  assert.equal(
    requests.filter((each) => each.includes('/api/v1/events')).length,
    2,
    'one stream for each load',
  );
});

test('two tabs of one browser come back at the same moment, and both stay signed in', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const context = await openBrowser(t, service);
  const [one, other] = [await openTab(t, context, service), await openTab(t, context, service)];
  await signIn(one.page, person);
  await Promise.all([one.page.goto('/profile'), other.page.goto('/profile')]);
  for (const { page } of [one, other]) await page.getByRole('heading', { name: 'Profile' }).waitFor();
  await one.page.getByRole('heading', { name: 'Where you are signed in' }).waitFor();
});

test('a session that ends elsewhere shows the sign-in, with the reason, and leads back', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  await page.goto('/backups');
  await page.getByRole('heading', { name: 'No backup yet' }).waitFor();
  const ended = await service.call('DELETE', '/auth/sessions', { token: person.token });
  assert.equal(ended.status, 204, ended.text);
  await page.getByText('Your session has ended').waitFor();
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'No backup yet' }).waitFor();
});

test('signing out ends the session at the service too', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, person);
  const count = async () => {
    const { body } = await service.call('GET', '/auth/sessions', { token: person.token });
    return Array.isArray(body.items) ? body.items.length : 0;
  };
  const before = await count();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out').waitFor();
  await until(async () => (await count()) === before - 1);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

for (const theme of ['light', 'dark'] as const)
  test(`the gates are accessible in the ${theme} theme`, async (t) => {
    const service = await sharedTestApp();
    const { page } = await openTab(t, await openBrowser(t, service, { theme }), service);
    for (const path of ['/', '/register', '/confirm?email=ada%40example.com', '/forgot-password']) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await assertAccessible(page);
    }
  });
