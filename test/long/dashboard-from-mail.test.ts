/** Where links in mails lead: into a workspace, and to a new password. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, openBrowser, openTab, signIn } from '../support/browser.ts';
import { newEmail, newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { bareProject, newTeam } from '../support/workspaces.ts';

test('someone is invited to one project, makes an account by the link, and sees that project alone', async (t) => {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const [shown, hidden] = [
    await bareProject(service, team.workspaceId),
    await bareProject(service, team.workspaceId),
  ];
  const { page: owner } = await openTab(t, await openBrowser(t, service), service);
  await signIn(owner, team.owner);
  await owner.goto('/workspace/members');
  await owner.getByText('Nobody is invited now.').waitFor();
  await owner.getByRole('button', { name: 'Invite someone' }).click();
  const dialog = owner.getByRole('dialog', { name: 'Invite someone' });
  const email = newEmail();
  await dialog.getByLabel('E-mail').fill(email);
  await dialog.getByLabel('Only some projects').check();
  await dialog.getByLabel(shown).selectOption('viewer');
  await assertAccessible(owner);
  // Owners and admins reach everything: there is nothing to choose for them.
  await dialog.getByLabel('As').selectOption('admin');
  await dialog.getByLabel('Only some projects').waitFor({ state: 'detached' });
  await dialog.getByLabel('As').selectOption('viewer');
  await dialog.getByLabel('Only some projects').check();
  await dialog.getByLabel(shown).selectOption('viewer');
  await dialog.getByRole('button', { name: 'Send the invitation' }).click();
  await owner.getByRole('row', { name: `${email} viewer in 1 project only` }).waitFor();

  const token = await service.mailbox.invitationToken(email);
  const { page } = await openTab(t, await openBrowser(t, service, { width: 390 }), service);
  await page.goto(`/invitation#token=${token}`);
  await page.getByRole('heading', { name: 'Join a workspace' }).waitFor();
  await assertAccessible(page);
  await page.getByRole('link', { name: 'create one' }).click();
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill('a long enough password');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await page.getByLabel('Code').fill(await service.mailbox.code(email));
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('link', { name: shown, exact: true }).waitFor();
  assert.equal(await page.getByText(hidden).count(), 0);
  assert.doesNotMatch(page.url(), /token/);
  assert.equal(await page.getByRole('alert').count(), 0, await page.locator('body').innerText());
});

test('an invitation is taken by the account that it was sent to, and by no other', async (t) => {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const [other, invited] = [await newPerson(service), await newPerson(service)];
  const sent = await service.call('POST', `/workspaces/${team.workspaceId}/invitations`, {
    token: team.owner.token,
    body: { email: invited.email, role: 'member' },
  });
  assert.equal(sent.status, 201, sent.text);
  const token = await service.mailbox.invitationToken(invited.email);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await signIn(page, other);
  await page.goto(`/invitation#token=${token}`);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByRole('alert').getByText('for another address').waitFor();
  await page.getByRole('button', { name: 'Use another account' }).click();
  await page.getByLabel('E-mail').fill(invited.email);
  await page.getByLabel('Password').fill(invited.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText(invited.email).waitFor();
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  // In the workspace that they have just joined.
  await page.getByRole('combobox', { name: 'Workspace' }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Workspace' }).inputValue(), team.workspaceId);
  await page.goto('/invitation');
  await page.getByText('This link is incomplete.').waitFor();
});

test('a new password is set by the link, once; the sign-in takes it', async (t) => {
  const service = await sharedTestApp();
  const person = await newPerson(service);
  const { page } = await openTab(t, await openBrowser(t, service), service);
  await page.goto('/forgot-password');
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
  const link = `/reset-password#token=${await service.mailbox.resetToken(person.email)}`;
  await page.goto(link);
  await page.getByLabel('New password').fill('password1234');
  await page.getByRole('button', { name: 'Set the password' }).click();
  // The service holds it for too common, and says so at the field.
  await page.getByRole('alert').waitFor();
  await assertAccessible(page);
  await page.getByLabel('New password').fill('another long password');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('heading', { name: 'Your password is set' }).waitFor();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('E-mail').fill(person.email);
  await page.getByLabel('Password').fill('another long password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Nothing is deployed yet' }).waitFor();

  await page.goto('/');
  await page.goto(link);
  await page.getByLabel('New password').fill('yet another password');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('alert').waitFor();
  await page.goto('/reset-password');
  await page.getByText('This link is incomplete.').waitFor();
  assert.equal(
    await page.getByRole('button', { name: 'Set the password' }).getAttribute('aria-disabled'),
    'true',
  );
});
