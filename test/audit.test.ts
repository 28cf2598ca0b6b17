import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actingAs, noteOperation, pruneAudit } from '../src/events/audit.ts';
import { newId, type WorkspaceId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { callApi } from './support/app.ts';
import type { Person } from './support/people.ts';
import { text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { login, tokensOf } from './support/steps.ts';
import { bareEnvironment, bareProject, join, newTeam } from './support/workspaces.ts';

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly actor: {
    readonly kind: string;
    readonly name: string;
    readonly accountId: string;
    readonly tokenId: string;
  };
  readonly subject: { readonly type: string; readonly id: string } | null;
  readonly changes: { readonly asked?: object; readonly before?: object } | null;
  readonly ip: string;
  readonly requestId: string;
}

async function scene() {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const headers = { 'slipway-workspace': team.workspaceId };
  const ask = (token: string, method: string, path: string, body?: unknown) =>
    service.call(method, path, { token, headers, ...(body !== undefined && { body }) });
  const log = async (query = ''): Promise<Entry[]> => {
    const { body, status, text: shown } = await ask(team.owner.token, 'GET', `/audit${query}`);
    assert.equal(status, 200, shown);
    return [...Object(body.items)];
  };
  return { service, team, ask, log, owner: team.owner };
}

test('each change has one entry: who, what, about what, from where; a look and a refusal have none', async () => {
  const { service, team, ask, log, owner } = await scene();
  const projectId = await bareProject(service, team.workspaceId);
  const environmentId = await bareEnvironment(service, projectId);
  const begin = (await log()).length;
  const secret = `secret-${newId()}`;
  const variables = [{ key: 'API_KEY', value: secret, secret: true }];
  const answer = await callApi(service.url, 'POST', `/environments/${environmentId}/variables`, {
    token: owner.token,
    headers: { 'x-request-id': 'my-request-1' },
    body: { variables },
  });
  assert.equal(answer.status, 200, answer.text);
  await ask(owner.token, 'GET', '/projects');
  assertProblem(await ask(owner.token, 'POST', '/domains', { hostname: 'no name' }), 400, 'invalid_input');
  assertProblem(await ask(owner.token, 'DELETE', `/projects/${newId()}`), 404, 'not_found');
  const [entry, ...more] = (await log()).slice(0, -begin);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [entry?.action, entry?.actor.kind, entry?.actor.name, entry?.subject, entry?.requestId, entry?.ip],
    [
      'setVariables',
      'person',
      owner.email,
      { type: 'environment', id: environmentId },
      'my-request-1',
      '127.0.0.1',
    ],
  );
  assert.deepEqual(entry?.changes, { asked: { variables: [{ key: 'API_KEY', value: '…', secret: true }] } });
  const rows = await service.app.store.db.rows(sql`select * from audit_entries`);
  assert.ok(!JSON.stringify(rows).includes(secret));
});

test('what was made is named by its id, what was changed with what was there before', async () => {
  const { service, team, ask, log, owner } = await scene();
  const member = await join(service, team, { role: 'admin' });
  const path = `/workspaces/${team.workspaceId}`;
  assert.equal(
    (await ask(owner.token, 'PATCH', `${path}/members/${member.accountId}`, { role: 'viewer' })).status,
    200,
  );
  const server = {
    name: 'one',
    host: '127.0.0.1',
    port: 1,
    auth: { type: 'password', password: 'do not log' },
  };
  const made = await ask(owner.token, 'POST', '/servers', { ...server, auth: { type: 'generated' } });
  assert.equal(made.status, 201, made.text);
  const [registered, changed, joined, invited] = (await log('?actor=person')).filter(({ action }) =>
    ['registerServer', 'updateMember', 'acceptInvitation', 'createInvitation'].includes(action),
  );
  assert.deepEqual(registered?.subject, { type: 'server', id: made.body.id });
  assert.deepEqual(changed?.subject, { type: 'member', id: member.accountId });
  assert.deepEqual(changed?.changes, {
    asked: { role: 'viewer' },
    before: { role: 'admin', projects: null },
  });
  assert.equal(joined?.actor.name, member.email);
  assert.equal(invited?.subject?.type, 'invitation');
});

test('sign-ins are in the log of the workspaces that somebody is in; a token is an actor of its own', async () => {
  const { service, team, ask, log, owner } = await scene();
  const member = await join(service, team, { role: 'member' });
  const { token } = tokensOf(await login(service, member));
  const [signIn] = await log('?action=signIn');
  assert.deepEqual([signIn?.actor.kind, signIn?.actor.accountId], ['person', member.accountId]);
  const made = await ask(token, 'POST', '/api-tokens', { name: 'CI', abilities: ['change'] });
  const byToken = await service.call('POST', '/domains', {
    token: text(made.body.token),
    body: { hostname: `a-${newId()}.example.org` },
  });
  assert.equal(byToken.status, 201, byToken.text);
  const [entry] = await log(`?actor=${made.body.id}`);
  assert.deepEqual(
    [entry?.actor.kind, entry?.actor.name, entry?.actor.accountId, entry?.action],
    ['token', 'CI', member.accountId, 'registerDomain'],
  );
  assert.ok(!(await log(`?actor=${owner.email}`)).some(({ actor }) => actor.kind === 'token'));
});

test('work that nobody’s request began has its own actor', async () => {
  const { service, team, log } = await scene();
  const { db } = service.app.store;
  const workspaceId = team.workspaceId as WorkspaceId;
  const subject = { type: 'environment', id: newId() };
  await db.transaction((tx) => noteOperation(tx, workspaceId, { kind: 'environment_start', subject }));
  await actingAs({ kind: 'schedule', name: 'backups' }, () =>
    db.transaction((tx) => noteOperation(tx, workspaceId, { kind: 'backup_make', subject })),
  );
  await actingAs({ kind: 'push', name: 'github' }, () =>
    db.transaction((tx) => noteOperation(tx, workspaceId, { kind: 'deployment', subject })),
  );
  const about = await log(`?subject=${subject.id}`);
  assert.deepEqual(
    about.map(({ action, actor }) => [action, actor.kind, actor.name]),
    [
      ['deployment', 'push', 'github'],
      ['backup_make', 'schedule', 'backups'],
      ['environment_start', 'service', null],
    ],
  );
});

test('a change that is rolled back leaves no entry, and an entry that cannot be written lets no change through', async () => {
  const { service, ask, log, owner } = await scene();
  const { db } = service.app.store;
  const before = (await log()).length;
  await db.raw('alter table audit_entries rename to audit_entries_away');
  const hostname = `b-${newId()}.example.org`;
  const failed = await ask(owner.token, 'POST', '/domains', { hostname });
  await db.raw('alter table audit_entries_away rename to audit_entries');
  assert.equal(failed.status, 500, failed.text);
  assert.equal((await log()).length, before);
  assert.equal((await ask(owner.token, 'POST', '/domains', { hostname })).status, 201, 'it was not there');
});

test('nobody changes or deletes an entry, but the retention those that are old', async () => {
  const { service, log, team } = await scene();
  const { db } = service.app.store;
  const [{ id = '' } = {}] = await log();
  for (const statement of [
    `update audit_entries set action = 'nothing' where id = '${id}'`,
    `delete from audit_entries where id = '${id}'`,
    'truncate audit_entries',
  ])
    await assert.rejects(db.raw(statement), /only written to/);
  const old = newId();
  await db.run(sql`
    insert into audit_entries (id, workspace_id, at, actor_kind, action)
    values (${old}, ${team.workspaceId}, now() - interval '400 days', 'service', 'old')`);
  await pruneAudit(db, new Date(Date.now() - 365 * 24 * 60 * 60_000));
  const actions = (await log()).map((each) => each.action);
  assert.ok(!actions.includes('old') && actions.length > 0);
});

test('it is read by who manages the workspace alone, in pages, filtered, and as a file', async () => {
  const { service, team, ask, log, owner } = await scene();
  const people: Person[] = [
    await join(service, team, { role: 'member' }),
    await join(service, team, { role: 'viewer' }),
  ];
  for (const { token } of people)
    for (const path of ['/audit', '/audit/export'])
      assertProblem(await ask(token, 'GET', path), 403, 'forbidden');
  const stranger = await newTeam(service);
  const theirs = await service.call('GET', '/audit', { token: stranger.owner.token });
  assert.ok(!theirs.text.includes(team.workspaceId));
  await service.app.store.db.run(sql`
    insert into audit_entries (id, workspace_id, at, actor_kind, action)
    select gen_random_uuid(), ${team.workspaceId}, now(), 'service', 'many' from generate_series(1, 2500)`);
  const page = await ask(owner.token, 'GET', '/audit?limit=100&action=many');
  assert.equal(Object(page.body.items).length, 100);
  const next = await ask(owner.token, 'GET', `/audit?limit=100&action=many&cursor=${page.body.nextCursor}`);
  const ids = (body: Record<string, unknown>): string[] => Object(body.items).map(({ id }: Entry) => id);
  assert.equal(new Set([...ids(page.body), ...ids(next.body)]).size, 200);
  const exported = await fetch(`${service.url}/api/v1/audit/export?action=many`, {
    headers: { authorization: `Bearer ${owner.token}` },
  });
  assert.match(exported.headers.get('content-type') ?? '', /ndjson/);
  const lines = (await exported.text())
    .trimEnd()
    .split('\n')
    .map((line) => Object(JSON.parse(line)).action);
  assert.deepEqual([lines.length, [...new Set(lines)]], [2500, ['many']]);
  const soon = new Date(Date.now() + 60_000).toISOString();
  assert.deepEqual(await log(`?from=${soon}`), []);
  assertProblem(await ask(owner.token, 'GET', '/audit?from=yesterday'), 400, 'invalid_input');
});

test('whoever asks for secrets and is refused was handed none, and is not in the log', async () => {
  const { service, team, ask, log, owner } = await scene();
  const environmentId = await bareEnvironment(service, await bareProject(service, team.workspaceId));
  const bid = newId();
  await service.app.store.db.run(sql`
    insert into backups (workspace_id, id, environment_id, environment_name, trigger, status, verify, created_at, finished_at)
    values (${team.workspaceId}, ${bid}, ${environmentId}, 'production', 'manual', 'failed', false, now(), now())`);
  for (const id of [bid, newId()])
    assert.ok(
      (await ask(owner.token, 'GET', `/environments/${environmentId}/backups/${id}/download`)).status >= 400,
    );
  assert.deepEqual(await log('?action=downloadBackup'), []);
});
