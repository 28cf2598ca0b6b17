import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { newId } from '../src/ids.ts';
import { version } from '../src/version.ts';
import { startTestApp } from './support/app.ts';
import { newEmail, newPerson, text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { login, me, minutes, newPassword, post, tokensOf } from './support/steps.ts';
import { newTeam } from './support/workspaces.ts';

test('the first account looks after the installation, sees it, changes it, and makes others do so', async (t) => {
  const service = await startTestApp(t);
  const [first, second] = [await newPerson(service), await newPerson(service)];
  const ask = (token: string, method: string, body?: object) =>
    service.call(method, '/installation', { token, ...(body && { body }) });
  assertProblem(await ask(second.token, 'GET'), 403, 'forbidden');
  const seen = await ask(first.token, 'GET');
  assert.equal(seen.status, 200, seen.text);
  assert.deepEqual(
    [seen.body.registration, Object(seen.body.operators).length, seen.body.accounts, seen.body.version],
    ['open', 1, 2, version],
  );
  assert.equal((await ask(first.token, 'PATCH', { registration: 'closed' })).status, 200);
  const registering = { email: newEmail(), password: newPassword() };
  assertProblem(await post(service, '/auth/register', registering), 403, 'registration_closed');
  assert.equal((await ask(first.token, 'PATCH', { registration: null })).body.registration, 'open');
  assert.equal((await post(service, '/auth/register', registering)).status, 201);

  const wrong: [object, string][] = [
    [{}, 'body'],
    [{ registration: 'perhaps' }, 'registration'],
    [{ operatorIds: [] }, 'operatorIds'],
    [{ operatorIds: [first.accountId, newId()] }, 'operatorIds[1]'],
  ];
  for (const [body, path] of wrong) {
    const answer = await ask(first.token, 'PATCH', body);
    assertProblem(answer, 400, 'invalid_input');
    assert.ok(
      Object(answer.body.errors).some((each: { path: string }) => each.path === path),
      answer.text,
    );
  }
  assert.equal((await ask(first.token, 'PATCH', { operatorIds: [second.accountId] })).status, 200);
  assertProblem(await ask(first.token, 'GET'), 403, 'forbidden');
  const mailed = await service.call('POST', '/installation/test-mail', { token: second.token });
  assert.deepEqual([mailed.body.delivered, mailed.body.to], [true, second.email]);
  assert.match((await service.mailbox.next(second.email)).subject, /can send mail/);
});

test('of two who register first at once, one looks after the installation', async (t) => {
  const service = await startTestApp(t);
  const people = await Promise.all([newPerson(service), newPerson(service), newPerson(service)]);
  const answers = await Promise.all(
    people.map(({ token }) => service.call('GET', '/installation', { token })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403]);
});

test('the version is that of the package', () => {
  const { version: published } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  assert.equal(version, published);
});

test('sessions have the names of devices, and all others are ended at once', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  const { email, password } = ada;
  const there = await post(service, '/auth/login', { email, password, refreshTokenIn: 'body' }, headers);
  const { body } = await service.call('GET', '/auth/sessions', { token: ada.token });
  assert.ok(Object(body.items).some(({ device }: { device: string }) => device === 'Firefox on Linux'));
  assert.equal((await service.call('DELETE', '/auth/sessions', { token: ada.token })).status, 204);
  assert.deepEqual([await me(service, ada.token), await me(service, tokensOf(there).token)], [200, 401]);
});

test('what cannot be taken back asks for the password again, unless it was just given', async () => {
  const service = await sharedTestApp();
  const { owner, workspaceId } = await newTeam(service);
  const { token } = tokensOf(await login(service, owner));
  const path = `/workspaces/${workspaceId}?deleteData=true`;
  service.clock.advance(11 * minutes);
  assertProblem(await service.call('DELETE', path, { token }), 403, 'fresh_proof_required');
  const confirm = (password: string) => service.call('POST', '/auth/confirm', { token, body: { password } });
  assertProblem(await confirm('not the password'), 401, 'invalid_credentials');
  assertProblem(await service.call('DELETE', path, { token }), 403, 'fresh_proof_required');
  assert.equal((await confirm(owner.password)).status, 204);
  const deleted = await service.call('DELETE', path, { token });
  assert.equal(deleted.status, 202, deleted.text);
  assert.ok(text(deleted.body.id));
});
