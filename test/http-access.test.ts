import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Access } from '../src/http/access.ts';
import { sql } from '../src/store/sql.ts';
import { callApi, type TestApp } from './support/app.ts';
import { createBareServer, startBareServer } from './support/bare-server.ts';
import { newPerson, type Person, text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';

test('a route that does not declare who may call it does not start', async (t) => {
  const service = await sharedTestApp();
  const server = await createBareServer(service);
  t.after(() => server.close());
  assert.throws(() => server.get('/open', () => 'anyone'), /GET \/open does not declare/);
  assert.throws(() => server.post('/open', { config: {} }, () => 'anyone'), /POST \/open does not declare/);
  server.get('/declared', { config: { access: { kind: 'public' } } }, () => 'anyone');
  await server.ready();
});

const needs: Record<string, Access> = {
  read: { kind: 'workspace', permission: 'read' },
  change: { kind: 'workspace', permission: 'change' },
  manage: { kind: 'workspace', permission: 'manage' },
};

/** Routes that answer with the workspace they were let into. */
function startWorkspaceServer(t: Parameters<typeof startBareServer>[0], service: TestApp): Promise<string> {
  return startBareServer(t, service, (server) => {
    for (const [name, access] of Object.entries(needs)) {
      server.post(`/${name}`, { config: { access } }, async ({ scope }) => ({
        workspaceId: scope?.workspaceId,
      }));
    }
    const streamable: Access = { kind: 'account', ticket: true };
    server.get('/stream', { config: { access: streamable } }, async ({ principal }) => ({
      id: principal?.accountId,
    }));
  });
}

async function workspaceOf(service: TestApp, person: Person): Promise<string> {
  const { body } = await service.call('GET', '/auth/me', { token: person.token });
  return text(Object(body.workspaces)[0].id);
}

test('a role allows what it allows and nothing more, from the moment it is given', async (t) => {
  const service = await sharedTestApp();
  const url = await startWorkspaceServer(t, service);
  const ada = await newPerson(service);
  const workspaceId = await workspaceOf(service, ada);
  const allowed: Record<string, string[]> = {
    viewer: ['read'],
    member: ['read', 'change'],
    admin: ['read', 'change', 'manage'],
    owner: ['read', 'change', 'manage'],
  };
  for (const [role, permissions] of Object.entries(allowed)) {
    await service.app.store.db.run(
      sql`update memberships set role = ${role} where account_id = ${ada.accountId}`,
    );
    for (const permission of Object.keys(needs)) {
      const answer = await callApi(url, 'POST', `//${permission}`, { token: ada.token });
      if (permissions.includes(permission)) {
        assert.deepEqual([answer.status, answer.body], [200, { workspaceId }], `${role} ${permission}`);
      } else {
        assertProblem(answer, 403, 'forbidden');
      }
    }
  }
});

test('a workspace one is not in does not exist, and neither does one that is none', async (t) => {
  const service = await sharedTestApp();
  const url = await startWorkspaceServer(t, service);
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const [adas, graces] = [await workspaceOf(service, ada), await workspaceOf(service, grace)];
  const strange = [
    graces,
    grace.accountId,
    '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b',
    '*',
    '',
    `${adas}, ${graces}`,
    "' or 1=1 --",
  ];
  for (const workspace of strange) {
    const headers = { 'slipway-workspace': workspace };
    assertProblem(await callApi(url, 'POST', '//read', { token: ada.token, headers }), 404, 'not_found');
  }
  const own = await callApi(url, 'POST', '//read', {
    token: ada.token,
    headers: { 'slipway-workspace': adas },
  });
  assert.deepEqual(own.body, { workspaceId: adas });
});

test('one who is in two workspaces names the one that is meant, with the role they have there', async (t) => {
  const service = await sharedTestApp();
  const url = await startWorkspaceServer(t, service);
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const [adas, graces] = [await workspaceOf(service, ada), await workspaceOf(service, grace)];
  await service.app.store.db.run(sql`
    insert into memberships (workspace_id, account_id, role, created_at)
    values (${graces}, ${ada.accountId}, 'viewer', ${new Date(service.clock.now().getTime() + 1000)})`);
  const call = (permission: string, workspace: string) =>
    callApi(url, 'POST', `//${permission}`, {
      token: ada.token,
      headers: { 'slipway-workspace': workspace },
    });
  assert.deepEqual((await call('read', graces)).body, { workspaceId: graces });
  assertProblem(await call('manage', graces), 403, 'forbidden');
  assert.deepEqual((await call('manage', adas)).body, { workspaceId: adas });
  const unnamed = await callApi(url, 'POST', '//manage', { token: ada.token });
  assert.deepEqual(unnamed.body, { workspaceId: adas });
  await service.app.store.db.run(
    sql`delete from memberships where workspace_id = ${graces} and role = 'viewer'`,
  );
  assertProblem(await call('read', graces), 404, 'not_found');
});

test('without a token a workspace route tells nothing but that', async (t) => {
  const service = await sharedTestApp();
  const url = await startWorkspaceServer(t, service);
  for (const permission of Object.keys(needs)) {
    assertProblem(await callApi(url, 'POST', `//${permission}`), 401, 'unauthenticated');
  }
});

test('a stream takes a ticket once in place of the header; other routes take none', async (t) => {
  const service = await sharedTestApp();
  const url = await startWorkspaceServer(t, service);
  const ada = await newPerson(service);
  const newTicket = async () =>
    text((await service.call('POST', '/auth/stream-ticket', { token: ada.token })).body.ticket);
  const ticket = await newTicket();
  const first = await callApi(url, 'GET', `//stream?ticket=${ticket}`);
  assert.deepEqual([first.status, first.body], [200, { id: ada.accountId }]);
  assertProblem(await callApi(url, 'GET', `//stream?ticket=${ticket}`), 401, 'unauthenticated');
  assertProblem(await callApi(url, 'POST', `//read?ticket=${await newTicket()}`), 401, 'unauthenticated');
  assert.equal((await callApi(url, 'GET', '//stream', { token: ada.token })).status, 200);
});
