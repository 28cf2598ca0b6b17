/** A second factor in the dashboard: after single sign-on, and where something asks who it is again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../support/browser.ts';
import { Browser, RealProvider, settingsFor } from '../support/oidc.ts';
import { newPerson, text } from '../support/people.ts';
import { nextStep, totpCode, turnTotpOn } from '../support/second-factors.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';

test('who comes back from the provider proves the second factor, and again for what weakens protection', async (t) => {
  const provider = await RealProvider.start();
  t.after(() => provider.stop());
  const service = await sharedTestApp(settingsFor(provider.issuer));
  await provider.serve(service.url);
  const owner = await newPerson(service);
  provider.person = { sub: owner.accountId, email: owner.email, email_verified: true };
  const begun = await service.call('POST', '/auth/oidc/link', {
    token: owner.token,
    body: { returnTo: '/healthz' },
  });
  const linking = new Browser();
  const [, value = ''] = /slipway_oidc=([^;]+)/.exec(begun.headers.getSetCookie().join()) ?? [];
  linking.cookies.set(service.url, new Map([['slipway_oidc', value]]));
  assert.equal((await linking.go(text(begun.body.url))).status, 200);
  const { secret } = await turnTotpOn(service, owner);

  const page = await (await openBrowser(t, service)).newPage();
  await page.goto('/workspace/tokens');
  await page.getByRole('button', { name: 'Sign in with Example SSO' }).click();
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/sign-in');
  await page.getByLabel('Code').fill(totpCode(service, secret));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  // Where they wanted to go.
  await page.getByRole('button', { name: 'New token' }).click();
  assert.equal(new URL(page.url()).pathname, '/workspace/tokens');

  service.clock.advance(11 * minutes);
  nextStep(service);
  await page.getByLabel('Name').fill('CI');
  await page.getByLabel('manage').check();
  await page.getByRole('button', { name: 'Make it' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByLabel('Code').fill('000000');
  await proof.getByRole('button', { name: 'Go on' }).click();
  await proof.getByRole('alert').waitFor();
  await proof.getByLabel('Code').fill(totpCode(service, secret));
  await proof.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('dialog', { name: 'The token, this once' }).waitFor();
});
