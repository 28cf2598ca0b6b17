/** Every operation of the document, asked for by each role: what it declares is what it takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/store/sql.ts';
import { newPerson } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { newTeam } from '../support/workspaces.ts';
import { send } from './send.ts';
import { type Operation, surfaceOf } from './surface.ts';

const none = '01a1df82-0000-7000-8000-000000000000';
const mayDo: Readonly<Record<string, readonly string[]>> = {
  viewer: ['read'],
  member: ['read', 'deploy', 'change'],
  admin: ['read', 'deploy', 'change', 'manage', 'read_secrets'],
  owner: ['read', 'deploy', 'change', 'manage', 'read_secrets', 'own'],
};

async function scene() {
  const service = await sharedTestApp();
  const all = surfaceOf().filter(({ path }) => path.startsWith('/api/v1/'));
  // Somebody who looks after the installation is there already.
  await newPerson(service);
  return { service, operations: all.filter(({ isPublic }) => !isPublic) };
}

test('whoever may only look finds no operation that does more for them', async () => {
  const { service, operations } = await scene();
  const { owner: person, workspaceId } = await newTeam(service);
  const kinds = new Set(operations.map(({ permission }) => permission));
  assert.deepEqual([...kinds].sort(), [
    'account',
    'change',
    'deploy',
    'manage',
    'operator',
    'own',
    'read',
    'read_secrets',
  ]);
  const tried = new Map<string, number>();
  for (const [role, allowed] of Object.entries(mayDo)) {
    await service.app.store.db.run(sql`
      update memberships set role = ${role} where account_id = ${person.accountId}`);
    for (const operation of operations) {
      // Whoever has signed out cannot go on; who is removed decides over removing, not the role alone.
      if (operation.name === 'logout' || operation.name === 'deleteMember') continue;
      const answer = await ask(operation);
      const may = operation.permission === 'account' || allowed.includes(operation.permission);
      if (!may) assertProblem(answer, 403, 'forbidden');
      else assert.notEqual(answer.status, 403, `${operation.name} as ${role}: ${answer.text}`);
      tried.set(role, (tried.get(role) ?? 0) + 1);
    }
  }
  for (const role of Object.keys(mayDo)) assert.ok((tried.get(role) ?? 0) > 80, role);

  /** Of nothing that is there, so that what is allowed does nothing either. */
  function ask(operation: Operation) {
    const isWorkspace = operation.path.startsWith('/api/v1/workspaces/{id}');
    const ids = {
      id: isWorkspace ? workspaceId : none,
      accountId: none,
      invitationId: none,
      repo: 'ada/none',
      key: 'NONE',
      provider: 'github',
      hookId: none,
    };
    return send(service.url, operation, ids, { token: person.token });
  }
});

test('whoever may only look is offered nothing but looks', async () => {
  const { operations } = await scene();
  const changing = operations.filter(({ method, permission }) => method !== 'GET' && permission === 'read');
  // Of one's own, and no more than one may do oneself.
  assert.deepEqual(
    changing.map(({ name }) => name),
    ['createApiToken', 'deleteApiToken', 'deleteMember'],
  );
  // These fetch, store or hand out what is more than a look.
  const more: Readonly<Record<string, string>> = {
    analyzeRepository: 'change',
    downloadBackup: 'read_secrets',
  };
  for (const [name, permission] of Object.entries(more))
    assert.equal(operations.find((each) => each.name === name)?.permission, permission, name);
});

test('whoever may only look opens streams with a ticket, and others’ streams not at all', async () => {
  const { service, operations } = await scene();
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const { db } = service.app.store;
  await db.run(sql`update memberships set role = 'viewer' where account_id = ${grace.accountId}`);
  const theirs = await db.one<{ id: string }>(sql`
    select workspace_id as id from memberships where account_id = ${ada.accountId}`);
  const events = operations.find(({ path }) => path === '/api/v1/events');
  assert.ok(events?.isStream);
  const ticketOf = async () => {
    const { body } = await service.call('POST', '/auth/stream-ticket', { token: grace.token });
    return String(body.ticket);
  };
  const ticket = await ticketOf();
  const query = `?ticket=${encodeURIComponent(ticket)}`;
  assert.equal((await send(service.url, events, {}, { query })).status, 200);
  assert.equal((await send(service.url, events, {}, { query })).status, 401, 'a ticket is one stream’s');
  const elsewhere = await fetch(`${service.url}/api/v1/events?ticket=${await ticketOf()}`, {
    headers: { 'slipway-workspace': theirs?.id ?? '' },
  });
  assert.equal(elsewhere.status, 404);
  await elsewhere.body?.cancel();
  // A ticket is for streams alone.
  const list = await service.call('GET', `/servers?ticket=${await ticketOf()}`);
  assert.equal(list.status, 401, list.text);
});
