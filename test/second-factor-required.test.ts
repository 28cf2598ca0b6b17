import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/store/sql.ts';
import { send } from './attack/send.ts';
import { surfaceOf } from './attack/surface.ts';
import type { Answer, TestApp } from './support/app.ts';
import { type Person, text } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { turnTotpOn } from './support/second-factors.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { openStream } from './support/sse.ts';
import { bareProject, join, newTeam } from './support/workspaces.ts';

const none = '01a1df82-0000-7000-8000-000000000000';

async function scene() {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const { owner, workspaceId } = team;
  const headers = { 'slipway-workspace': workspaceId };
  const ask = (token: string, method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, headers, ...(body !== undefined && { body }) });
  const require = (who: Person, requiresSecondFactor: unknown = true) =>
    ask(who.token, 'PATCH', `/workspaces/${workspaceId}`, { requiresSecondFactor });
  return { service, team, owner, workspaceId, headers, ask, require };
}

async function tokenOf(service: TestApp, token: string, headers: Record<string, string>): Promise<string> {
  const body = { name: 'CI', abilities: ['manage', 'read_secrets'] };
  const made = await service.call('POST', '/api-tokens', { token, headers, body });
  assert.equal(made.status, 201, made.text);
  return text(made.body.token);
}

test('an owner with a second factor requires one; nobody else does, and nobody shuts themselves out', async () => {
  const { service, team, owner, ask, require, headers, workspaceId } = await scene();
  const admin = await turnTotpOn(service, await join(service, team, { role: 'admin' }));
  assertProblem(await require(admin), 403, 'forbidden');
  assertProblem(await require(owner), 409, 'no_second_factor');
  await turnTotpOn(service, owner);
  const apiToken = await tokenOf(service, owner.token, headers);
  const byToken = await ask(apiToken, 'PATCH', `/workspaces/${workspaceId}`, { requiresSecondFactor: true });
  assertProblem(byToken, 403, 'forbidden');
  assertInvalid(await require(owner, 'yes'), 'requiresSecondFactor');
  const on = await require(owner);
  assert.deepEqual([on.status, on.body.requiresSecondFactor], [200, true], on.text);
  assert.equal((await ask(admin.token, 'GET', '/projects')).status, 200);
  const renamed = await ask(admin.token, 'PATCH', `/workspaces/${workspaceId}`, { name: 'Shop team' });
  assert.deepEqual([renamed.body.name, renamed.body.requiresSecondFactor], ['Shop team', true]);
  const audited = await ask(owner.token, 'GET', '/audit?action=updateWorkspace');
  const [, entry] = Object(audited.body.items);
  assert.deepEqual(entry.changes, {
    asked: { requiresSecondFactor: true },
    before: { name: on.body.name, requiresSecondFactor: false },
  });
  const off = await require(owner, false);
  assert.deepEqual([off.status, off.body.requiresSecondFactor], [200, false]);
});

test('whoever lacks one, and their API tokens, can do nothing there but see why and leave; with one, everything as before', async () => {
  const { service, team, owner, ask, require, headers, workspaceId } = await scene();
  const grace = await join(service, team, { role: 'admin' });
  const graceToken = await tokenOf(service, grace.token, headers);
  // So that calls which name no workspace are about this one.
  await service.app.store.db.run(sql`
    delete from memberships where account_id = ${grace.accountId} and workspace_id <> ${workspaceId}`);
  await turnTotpOn(service, owner);
  const ownerToken = await tokenOf(service, owner.token, headers);
  assert.equal((await require(owner)).status, 200);

  const operations = surfaceOf().filter(
    ({ permission, isPublic }) =>
      !isPublic && !['account', 'operator', 'monitor', 'probe', 'public'].includes(permission),
  );
  assert.ok(operations.length > 80);
  const open: string[] = [];
  for (const token of [grace.token, graceToken])
    for (const operation of operations) {
      const answer = await send(service.url, operation, { id: workspaceId, accountId: none }, { token });
      if (answer.body.code !== 'second_factor_missing') open.push(`${operation.name} ${answer.status}`);
      else assert.equal(answer.status, 403);
    }
  // Not for tokens: what only people may do. A member who is none cannot be removed.
  const onlyPeople = /^(createApiToken|listApiTokens|deleteApiToken|deleteWorkspace) 403$/;
  assert.deepEqual(
    open.filter((each) => !onlyPeople.test(each)),
    ['getWorkspace 200', 'deleteMember 404', 'getWorkspace 200', 'deleteMember 403'],
  );
  const refused = await ask(graceToken, 'GET', '/projects');
  assert.match(refused.text, /whoever made this API token has none/);
  assert.match(text(refused.body.hint), /\/auth\/totp/);
  // What is of the account is as before.
  assert.equal((await ask(grace.token, 'GET', '/workspaces')).status, 200);
  assert.equal((await ask(ownerToken, 'GET', '/projects')).status, 200);
  const members = await ask(owner.token, 'GET', `/workspaces/${workspaceId}/members`);
  const lacking = Object(members.body.items).filter((each: { secondFactor: boolean }) => !each.secondFactor);
  assert.deepEqual(
    lacking.map((each: { account: { id: string } }) => each.account.id),
    [grace.accountId],
  );

  await turnTotpOn(service, grace);
  for (const token of [grace.token, graceToken])
    assert.equal((await ask(token, 'GET', '/projects')).status, 200);
  assert.equal((await service.call('DELETE', '/auth/totp', { token: grace.token })).status, 204);
  for (const token of [grace.token, graceToken])
    assertProblem(await ask(token, 'GET', '/projects'), 403, 'second_factor_missing');
  const left = await ask(grace.token, 'DELETE', `/workspaces/${workspaceId}/members/${grace.accountId}`);
  assert.equal(left.status, 204, left.text);
});

test('it holds for whoever joins later, also limited to some projects', async () => {
  const { service, team, owner, ask, require, workspaceId } = await scene();
  await turnTotpOn(service, owner);
  assert.equal((await require(owner)).status, 200);
  const projectId = await bareProject(service, workspaceId);
  const place = { role: 'member', projects: [{ projectId, role: 'member' }] };
  for (const member of [await join(service, team, { role: 'viewer' }), await join(service, team, place)]) {
    assertProblem(await ask(member.token, 'GET', '/projects'), 403, 'second_factor_missing');
    await turnTotpOn(service, member);
    assert.equal((await ask(member.token, 'GET', '/projects')).status, 200);
  }
});

test('a stream ends in the moment in which a factor is missing', async () => {
  const { service, team, owner, require, headers } = await scene();
  const [grace, joan] = [
    await join(service, team, { role: 'viewer' }),
    await turnTotpOn(service, await join(service, team, { role: 'viewer' })),
  ];
  await turnTotpOn(service, owner);
  const ends: readonly (readonly [Person, () => Promise<Answer>])[] = [
    [grace, () => require(owner)],
    [joan, () => service.call('DELETE', '/auth/totp', { token: joan.token })],
  ];
  for (const [{ token }, end] of ends) {
    const stream = await openStream(`${service.url}/api/v1/events`, { token, headers });
    assert.equal(stream.status, 200);
    assert.ok((await end()).status < 300);
    for await (const event of stream.events()) assert.fail(`came after its end: ${event.event}`);
  }
});
