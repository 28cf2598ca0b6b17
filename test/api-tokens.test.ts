import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiToken } from '../src/areas/accounts/api-tokens/api-token.ts';
import { newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import type { TestApp } from './support/app.ts';
import { newPerson, type Person, text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { openStream } from './support/sse.ts';
import { days, minutes } from './support/steps.ts';

async function make(service: TestApp, person: Person, body: object, headers: Record<string, string> = {}) {
  return service.call('POST', '/api-tokens', { token: person.token, body, headers });
}

async function tokenOf(service: TestApp, person: Person, abilities: readonly string[], more: object = {}) {
  const made = await make(service, person, { name: 'a program', abilities, ...more });
  assert.equal(made.status, 201, made.text);
  return { token: text(made.body.token), id: text(made.body.id) };
}

/** A project that is nothing but a row. */
async function newProject(service: TestApp, person: Person, name: string): Promise<string> {
  const id = newId();
  const { db } = service.app.store;
  await db.run(sql`
    insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, root_directory, status,
      analysis_status, created_at, updated_at)
    select workspace_id, ${id}, ${name}, ${id}, 'url', 'ada/shop', 'https://git.example.com/ada/shop', '', 'ready',
      'succeeded', now(), now()
    from memberships where account_id = ${person.accountId} and role = 'owner'`);
  return id;
}

async function newEnvironment(service: TestApp, projectId: string): Promise<string> {
  const id = newId();
  await service.app.store.db.run(sql`
    insert into environments (workspace_id, id, project_id, name, slug, branch, status, created_at, updated_at)
    select workspace_id, ${id}, id, 'production', ${id}, 'main', 'idle', now(), now() from projects where id = ${projectId}`);
  return id;
}

test('a token is shown once, works like an access token, tells when it was used, and is dead once revoked', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const made = await make(service, ada, { name: 'CI', abilities: ['read', 'read'] });
  assert.equal(made.status, 201, made.text);
  const token = text(made.body.token);
  assert.match(token, /^slw_[0-9A-Za-z]{38}$/);
  assert.ok(isApiToken(token));
  assert.deepEqual(made.body.abilities, ['read']);
  assert.equal(made.body.start, token.slice(0, 8));
  const listed = await service.call('GET', '/api-tokens', { token: ada.token });
  assert.ok(!listed.text.includes(token));
  const [first] = Object(listed.body.items);
  assert.equal(first.lastUsedAt, null);
  assert.deepEqual(first.createdBy, { id: ada.accountId, email: ada.email });
  const rows = await service.app.store.db.rows(
    sql`select * from api_tokens where id = ${text(made.body.id)}`,
  );
  assert.ok(!JSON.stringify(rows).includes(token), 'only its hash is stored');

  const list = await service.call('GET', '/projects', { token });
  assert.equal(list.status, 200, list.text);
  const profile = await service.call('GET', '/auth/me', { token });
  assert.equal(profile.body.email, ada.email);
  const used = await service.call('GET', '/api-tokens', { token: ada.token });
  assert.equal(Object(used.body.items)[0].lastUsedAt, service.clock.now().toISOString());

  const path = `/api-tokens/${text(made.body.id)}`;
  assert.equal((await service.call('DELETE', path, { token: ada.token })).status, 204);
  assertProblem(await service.call('GET', '/projects', { token }), 401, 'unauthenticated');
  assertProblem(await service.call('DELETE', path, { token: ada.token }), 404, 'not_found');
});

test('what is no whole token is refused before anybody is asked', async () => {
  const service = await sharedTestApp();
  const { token } = await tokenOf(service, await newPerson(service), ['read']);
  const last = token.at(-1) === 'a' ? 'b' : 'a';
  for (const wrong of [
    `${token.slice(0, -1)}${last}`,
    token.slice(0, -1),
    `${token}a`,
    'slw_',
    `slw_${'0'.repeat(38)}`,
  ]) {
    const answer = await service.call('GET', '/projects', { token: wrong });
    assertProblem(answer, 401, 'unauthenticated');
    assert.match(text(answer.body.detail), /checksum/);
  }
  const [, body = ''] = token.split('_');
  const lower = await service.call('GET', '/projects', { token: `SLW_${body}` });
  assertProblem(lower, 401, 'unauthenticated');
});

test('bad input is named: abilities, expiry, names, projects of others', async () => {
  const service = await sharedTestApp();
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const theirs = await newProject(service, grace, 'Theirs');
  const wrong: [object, number, string][] = [
    [{ name: 'x', abilities: [] }, 400, 'abilities'],
    [{ name: 'x', abilities: ['own'] }, 400, 'abilities[0]'],
    [{ name: 'x', abilities: ['read'], expiresAt: '2001-01-01T00:00:00Z' }, 400, 'expiresAt'],
    [{ name: 'x', abilities: ['read'], expiresAt: 'tomorrow' }, 400, 'expiresAt'],
    [{ name: '', abilities: ['read'] }, 400, 'name'],
    [{ name: ' ', abilities: ['read'] }, 400, 'name'],
    [{ name: 'a\nb', abilities: ['read'] }, 400, 'name'],
    [{ abilities: ['read'] }, 400, 'name'],
    [{ name: 'x', abilities: ['read'], projectId: 'all' }, 400, 'projectId'],
  ];
  for (const [body, status, path] of wrong) {
    const answer = await make(service, ada, body);
    assertProblem(answer, status, 'invalid_input');
    assert.ok(
      Object(answer.body.errors).some((each: { path: string }) => each.path === path),
      answer.text,
    );
  }
  for (const projectId of [theirs, newId()])
    assertProblem(await make(service, ada, { name: 'x', abilities: ['read'], projectId }), 404, 'not_found');
});

test('a token does what its abilities say and nothing more, and no token makes or sees tokens, sessions or tickets', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const project = await newProject(service, ada, `Shop ${newId()}`);
  const environment = await newEnvironment(service, project);
  const calls: Record<string, readonly [string, string, object?]> = {
    read: ['GET', `/environments/${environment}`],
    deploy: ['POST', `/environments/${environment}/deployments`, {}],
    change: ['POST', `/environments/${environment}/variables`, { variables: [{ key: 'A', value: 'b' }] }],
    manage: ['POST', '/servers', { name: 'x' }],
    read_secrets: ['GET', `/environments/${environment}/backups/${newId()}/download`],
  };
  const may: Record<string, readonly string[]> = {
    read: ['read'],
    deploy: ['read', 'deploy'],
    change: ['read', 'deploy', 'change'],
    manage: ['read', 'deploy', 'change', 'manage'],
    read_secrets: ['read', 'read_secrets'],
  };
  for (const [ability, allowed] of Object.entries(may)) {
    const { token } = await tokenOf(service, ada, [ability]);
    for (const [permission, [method, path, body]] of Object.entries(calls)) {
      const answer = await service.call(method, path, { token, ...(body && { body }) });
      if (allowed.includes(permission))
        assert.notEqual(answer.status, 403, `${ability} ${permission}: ${answer.text}`);
      else assertProblem(answer, 403, 'forbidden');
    }
  }
  const { token, id } = await tokenOf(service, ada, ['manage', 'read_secrets']);
  for (const [method, path] of [
    ['POST', '/api-tokens'],
    ['GET', '/api-tokens'],
    ['DELETE', `/api-tokens/${id}`],
    ['GET', '/auth/sessions'],
    ['DELETE', `/auth/sessions/${id}`],
    ['POST', '/auth/logout'],
    ['POST', '/auth/stream-ticket'],
  ] as const)
    assertProblem(await service.call(method, path, { token }), 403, 'forbidden');
});

test('a token for one project sees that project alone', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const [shop, blog] = [
    await newProject(service, ada, `Shop ${newId()}`),
    await newProject(service, ada, `Blog ${newId()}`),
  ];
  const [shops, blogs] = [await newEnvironment(service, shop), await newEnvironment(service, blog)];
  const { token } = await tokenOf(service, ada, ['manage'], { projectId: shop });
  const get = (path: string) => service.call('GET', path, { token });
  const ids = async (path: string) =>
    Object((await get(path)).body.items).map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids('/projects'), [shop]);
  assert.deepEqual(await ids('/environments'), [shops]);
  assert.deepEqual(await ids(`/environments?projectId=${shop}`), [shops]);
  assertProblem(await get(`/environments?projectId=${blog}`), 404, 'not_found');
  assert.equal((await get(`/projects/${shop}`)).status, 200);
  assert.equal((await get(`/environments/${shops}/variables`)).status, 200);
  for (const path of [
    `/projects/${blog}`,
    `/environments/${blogs}`,
    `/environments/${blogs}/variables`,
    `/projects/${newId()}`,
  ])
    assertProblem(await get(path), 404, 'not_found');
  for (const path of ['/servers', '/git-providers', '/domains', '/notification-connectors'])
    assertProblem(await get(path), 403, 'forbidden');
  const name = { name: 'staging', branch: 'main' };
  const elsewhere = await service.call('POST', '/environments', {
    token,
    body: { projectId: blog, ...name },
  });
  assertProblem(elsewhere, 404, 'not_found');
});

test('a token never can do more than its maker at that moment, and is dead when they have left', async () => {
  const service = await sharedTestApp();
  const { db } = service.app.store;
  const ada = await newPerson(service);
  const { token } = await tokenOf(service, ada, ['manage']);
  const manage = () => service.call('POST', '/servers', { token, body: {} });
  assertProblem(await manage(), 400, 'invalid_input');
  await db.run(sql`update memberships set role = 'viewer' where account_id = ${ada.accountId}`);
  assertProblem(await manage(), 403, 'forbidden');
  const more = await make(service, ada, { name: 'x', abilities: ['read', 'change'] });
  assertProblem(more, 400, 'invalid_input');
  assert.equal(Object(more.body.errors)[0].path, 'abilities[1]');
  assert.equal((await service.call('GET', '/projects', { token })).status, 200);
  await db.run(sql`delete from memberships where account_id = ${ada.accountId}`);
  assertProblem(await service.call('GET', '/projects', { token }), 401, 'unauthenticated');
});

test('a token ends when its time has come', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const expiresAt = new Date(service.clock.now().getTime() + 5 * minutes).toISOString();
  const { token } = await tokenOf(service, ada, ['read'], { expiresAt });
  assert.equal((await service.call('GET', '/projects', { token })).status, 200);
  service.clock.advance(5 * minutes);
  assertProblem(await service.call('GET', '/projects', { token }), 401, 'unauthenticated');
  service.clock.advance(31 * days);
});

test('a repeated request with the same key makes one token, and does not show it again', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const headers = { 'idempotency-key': newId() };
  const body = { name: 'CI', abilities: ['deploy'] };
  const [first, again] = [await make(service, ada, body, headers), await make(service, ada, body, headers)];
  assert.deepEqual([first.status, again.status], [201, 201]);
  assert.equal(first.body.id, again.body.id);
  assert.equal(again.body.token, undefined);
  const kept = await service.app.store.db.rows(sql`select body::text from idempotency_keys`);
  assert.ok(!JSON.stringify(kept).includes(text(first.body.token)));
});

test('a stream that a token opened ends when the token is revoked', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const { token, id } = await tokenOf(service, ada, ['read']);
  const stream = await openStream(`${service.url}/api/v1/events`, { token });
  assert.equal(stream.status, 200);
  assert.equal((await service.call('DELETE', `/api-tokens/${id}`, { token: ada.token })).status, 204);
  for await (const event of stream.events()) assert.fail(`came after its end: ${event.event}`);
});

test('a stream of a token for one project tells of that project alone', async () => {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  const [shop, blog] = [
    await newProject(service, ada, `Shop ${newId()}`),
    await newProject(service, ada, `Blog ${newId()}`),
  ];
  const { token } = await tokenOf(service, ada, ['read'], { projectId: shop });
  const stream = await openStream(`${service.url}/api/v1/events`, { token });
  for (const [id, name] of [
    [blog, `Changed ${newId()}`],
    [shop, `Changed ${newId()}`],
  ] as const) {
    const changed = await service.call('PUT', `/projects/${id}`, { token: ada.token, body: { name } });
    assert.equal(changed.status, 200, changed.text);
  }
  const first = await stream.events().next();
  stream.close();
  assert.equal(first.value?.data.projectId, shop, 'the blog was changed before');
});

test('those who manage a workspace see and revoke the tokens of all, others their own', async () => {
  const service = await sharedTestApp();
  const { db } = service.app.store;
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const mine = await tokenOf(service, ada, ['read']);
  const { workspaceId } = Object(
    await db.one(
      sql`select workspace_id as "workspaceId" from memberships where account_id = ${ada.accountId}`,
    ),
  );
  await db.run(sql`delete from memberships where account_id = ${grace.accountId}`);
  await db.run(sql`
    insert into memberships (workspace_id, account_id, role, created_at) values (${workspaceId}, ${grace.accountId}, 'member', now())`);
  const list = async () =>
    Object((await service.call('GET', '/api-tokens', { token: grace.token })).body.items);
  assert.deepEqual(await list(), []);
  const revoke = () => service.call('DELETE', `/api-tokens/${mine.id}`, { token: grace.token });
  assertProblem(await revoke(), 404, 'not_found');
  await db.run(sql`update memberships set role = 'admin' where account_id = ${grace.accountId}`);
  assert.deepEqual(
    (await list()).map(({ id }: { id: string }) => id),
    [mine.id],
  );
  assert.equal((await revoke()).status, 204);
});
