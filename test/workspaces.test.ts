import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { allWorkspaces, makeOperator, makeOwner } from '../src/areas/workspaces/recover.ts';
import type { Access } from '../src/http/access.ts';
import { sendLive } from '../src/http/live.ts';
import { newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { startBareServer } from './support/bare-server.ts';
import { newEmail, newPerson, type Person, text } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { openStream } from './support/sse.ts';
import { newPassword, statusCounts } from './support/steps.ts';
import { until } from './support/until.ts';
import { bareEnvironment, bareProject, join, newTeam, type Team } from './support/workspaces.ts';

/** A call in the team's workspace. */
function asking(service: TestApp, { workspaceId }: Team) {
  return (who: Person, method: string, path: string, body?: unknown) =>
    service.call(method, path, {
      token: who.token,
      headers: { 'slipway-workspace': workspaceId },
      ...(body !== undefined && { body }),
    });
}

async function scene() {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const base = `/workspaces/${team.workspaceId}`;
  return { service, team, base, ask: asking(service, team), owner: team.owner };
}

const idsOf = (body: Record<string, unknown>): string[] =>
  Object(body.items).map((each: { id?: string; account?: { id: string } }) => each.id ?? each.account?.id);

test('a team: invited by mail, each with a role, seen by all, and renamed by who may', async () => {
  const { service, team, base, ask, owner } = await scene();
  const [admin, viewer] = [
    await join(service, team, { role: 'admin' }),
    await join(service, team, { role: 'viewer' }),
  ];
  const members = await ask(viewer, 'GET', `${base}/members`);
  assert.deepEqual(
    new Set(idsOf(members.body)),
    new Set([owner, admin, viewer].map(({ accountId }) => accountId)),
  );
  assertProblem(await ask(viewer, 'PATCH', base, { name: 'x' }), 403, 'forbidden');
  const renamed = await ask(admin, 'PATCH', base, { name: 'Shop team' });
  assert.deepEqual([renamed.status, renamed.body.name, renamed.body.role], [200, 'Shop team', 'admin']);
  const listed = await ask(viewer, 'GET', '/workspaces');
  assert.deepEqual(
    Object(listed.body.items).map(({ name, role }: { name: string; role: string }) => [name, role])[1],
    ['Shop team', 'viewer'],
  );
  const stranger = await newPerson(service);
  for (const path of [base, `${base}/members`, `${base}/invitations`])
    assertProblem(await ask(stranger, 'GET', path), 404, 'not_found');
});

test('a workspace of one’s own is made, named, and worked in by its header', async () => {
  const { ask, owner, service } = await scene();
  const made = await ask(owner, 'POST', '/workspaces', { name: 'Second' });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers.get('location'), `/api/v1/workspaces/${made.body.id}`);
  const headers = { 'slipway-workspace': text(made.body.id) };
  assert.equal((await service.call('GET', '/projects', { token: owner.token, headers })).status, 200);
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(101)])
    assertProblem(await ask(owner, 'POST', '/workspaces', { name }), 400, 'invalid_input');
});

test('an invitation is for its address alone, works once, and not after it was withdrawn or has expired', async () => {
  const { service, base, ask, owner } = await scene();
  const [grace, other] = [await newPerson(service), await newPerson(service)];
  const invite = (email: string) => ask(owner, 'POST', `${base}/invitations`, { email, role: 'member' });
  const accept = (who: Person, token: string) => ask(who, 'POST', '/invitations/accept', { token });
  const first = await invite(grace.email.toUpperCase());
  assert.equal(first.status, 201, first.text);
  const withdrawn = await service.mailbox.invitationToken(grace.email);
  assert.equal((await ask(owner, 'DELETE', `${base}/invitations/${first.body.id}`)).status, 204);
  assertProblem(await accept(grace, withdrawn), 422, 'invalid_invitation');
  assertProblem(await ask(owner, 'DELETE', `${base}/invitations/${first.body.id}`), 404, 'not_found');

  await invite(grace.email);
  const replaced = await service.mailbox.invitationToken(grace.email);
  await invite(grace.email);
  const token = await service.mailbox.invitationToken(grace.email);
  assert.equal(Object((await ask(owner, 'GET', `${base}/invitations`)).body.items).length, 1);
  assertProblem(await accept(grace, replaced), 422, 'invalid_invitation');
  assertProblem(await accept(other, token), 403, 'forbidden');
  const twice = await Promise.all([accept(grace, token), accept(grace, token)]);
  assert.deepEqual(statusCounts(twice), { 200: 1, 422: 1 });
  assertProblem(await invite(grace.email), 409, 'already_member');

  await invite(other.email);
  const late = await service.mailbox.invitationToken(other.email);
  await service.app.store.db.run(sql`
    update invitations set expires_at = ${service.clock.now()} where email = ${other.email}`);
  assertProblem(await accept(other, late), 422, 'invalid_invitation');
  assert.deepEqual(idsOf((await ask(owner, 'GET', `${base}/invitations`)).body), []);
});

test('where registration is closed, who was invited registers with the token, joins with the code, and nobody else', async (t) => {
  const service = await startTestApp(t, { env: { SLIPWAY_REGISTRATION: 'first' } });
  const team = await newTeam(service);
  const base = `/workspaces/${team.workspaceId}`;
  const [email, password] = [newEmail(), newPassword()];
  const invite = async (address: string) => {
    const body = { email: address, role: 'viewer' };
    const invited = await service.call('POST', `${base}/invitations`, { token: team.owner.token, body });
    assert.equal(invited.status, 201, invited.text);
    return service.mailbox.invitationToken(address);
  };
  const invitation = await invite(email);
  const register = (body: object) => service.call('POST', '/auth/register', { body: { password, ...body } });
  // No answer tells that an address was invited: only who has the token gets further.
  assertProblem(await register({ email }), 403, 'registration_closed');
  assertProblem(await register({ email: newEmail(), invitation }), 403, 'registration_closed');
  assert.equal((await register({ email, invitation })).status, 201);
  const code = await service.mailbox.code(email);
  const verified = await service.call('POST', '/auth/verify-otp', { body: { email, code } });
  assert.equal(verified.status, 200, verified.text);
  assert.deepEqual(
    Object(verified.body.user).workspaces.map(({ id, role }: { id: string; role: string }) => [id, role]),
    [[team.workspaceId, 'viewer']],
  );
  // Withdrawn between the registration and its code.
  const late = newEmail();
  const lateToken = await invite(late);
  assert.equal((await register({ email: late, invitation: lateToken })).status, 201);
  const [open] = Object(
    (await service.call('GET', `${base}/invitations`, { token: team.owner.token })).body.items,
  );
  await service.call('DELETE', `${base}/invitations/${open.id}`, { token: team.owner.token });
  const lateCode = await service.mailbox.code(late);
  const refused = await service.call('POST', '/auth/verify-otp', { body: { email: late, code: lateCode } });
  assertProblem(refused, 403, 'registration_closed');
});

test('nobody makes anyone more than they are, and bad places are named', async () => {
  const { service, team, base, ask, owner } = await scene();
  const [admin, member] = [
    await join(service, team, { role: 'admin' }),
    await join(service, team, { role: 'member' }),
  ];
  const change = (who: Person, whom: Person, body: object) =>
    ask(who, 'PATCH', `${base}/members/${whom.accountId}`, body);
  assertProblem(await change(member, member, { role: 'admin' }), 403, 'forbidden');
  assertProblem(await change(admin, admin, { role: 'owner' }), 403, 'forbidden');
  assertProblem(await change(admin, owner, { role: 'viewer' }), 403, 'forbidden');
  assertProblem(await ask(admin, 'DELETE', `${base}/members/${owner.accountId}`), 403, 'forbidden');
  assertProblem(
    await ask(admin, 'POST', `${base}/invitations`, { email: newEmail(), role: 'owner' }),
    403,
    'forbidden',
  );
  const project = await bareProject(service, team.workspaceId);
  const foreign = await bareProject(service, (await newTeam(service)).workspaceId);
  const wrong: [object, string][] = [
    [{ role: 'king' }, 'role'],
    [{ role: 'admin', projects: [{ projectId: project, role: 'member' }] }, 'projects'],
    [{ projects: [{ projectId: foreign, role: 'member' }] }, 'projects[0].projectId'],
    [{ projects: [{ projectId: project, role: 'owner' }] }, 'projects[0].role'],
    [{ projects: 'all' }, 'projects'],
    [{}, 'body'],
  ];
  for (const [body, path] of wrong) {
    const answer = await change(owner, member, body);
    assertProblem(answer, 400, 'invalid_input');
    assert.ok(
      Object(answer.body.errors).some((each: { path: string }) => each.path === path),
      answer.text,
    );
  }
  assertProblem(await change(owner, await newPerson(service), { role: 'viewer' }), 404, 'not_found');
});

test('the last owner stays; ownership is passed on by making another one', async () => {
  const { service, team, base, ask, owner } = await scene();
  const admin = await join(service, team, { role: 'admin' });
  const path = (who: Person) => `${base}/members/${who.accountId}`;
  assertProblem(await ask(owner, 'DELETE', path(owner)), 409, 'last_owner');
  assertProblem(await ask(owner, 'PATCH', path(owner), { role: 'admin' }), 409, 'last_owner');
  assert.equal((await ask(owner, 'PATCH', path(admin), { role: 'owner' })).status, 200);
  // Of two owners who leave at once, one is the last.
  const left = await Promise.all([ask(owner, 'DELETE', path(owner)), ask(admin, 'DELETE', path(admin))]);
  assert.deepEqual(statusCounts(left), { 204: 1, 409: 1 });
});

test('of two admins who remove each other at once, one stays', async () => {
  const { service, team, base, ask } = await scene();
  for (let round = 0; round < 5; round += 1) {
    const [one, other] = [
      await join(service, team, { role: 'admin' }),
      await join(service, team, { role: 'admin' }),
    ];
    const answers = await Promise.all([
      ask(one, 'DELETE', `${base}/members/${other.accountId}`),
      ask(other, 'DELETE', `${base}/members/${one.accountId}`),
    ]);
    const counts = statusCounts(answers);
    assert.equal(counts[204], 1, JSON.stringify(counts));
    assert.equal((counts[404] ?? 0) + (counts[403] ?? 0), 1, JSON.stringify(counts));
  }
});

test('a role that is lowered, and a member who is removed, end their streams at once', async () => {
  const { service, team, base, ask, owner } = await scene();
  const member = await join(service, team, { role: 'member' });
  const path = `${base}/members/${member.accountId}`;
  const open = () =>
    openStream(`${service.url}/api/v1/events`, {
      token: member.token,
      headers: { 'slipway-workspace': team.workspaceId },
    });
  for (const end of [() => ask(owner, 'PATCH', path, { role: 'viewer' }), () => ask(owner, 'DELETE', path)]) {
    const stream = await open();
    assert.equal(stream.status, 200);
    assert.ok((await end()).status < 300);
    for await (const event of stream.events()) assert.fail(`came after its end: ${event.event}`);
  }
  assert.equal((await open()).status, 404);
});

test('an answer that is told live ends at once with a role that is lowered, too', async (t) => {
  const { service, team, base, ask, owner } = await scene();
  const member = await join(service, team, { role: 'member' });
  const { contexts, streams } = service.app;
  const url = await startBareServer(t, service, (server) => {
    const access: Access = { kind: 'workspace', permission: 'read' };
    server.get('/live', { config: { access } }, (request, reply) =>
      sendLive(request, reply, { sessions: contexts.sessions, streams }, async (send, signal) => {
        send('begun', {});
        await once(signal, 'abort');
        return 'left';
      }),
    );
  });
  const headers = { 'slipway-workspace': team.workspaceId };
  const events = (await openStream(`${url}/live`, { token: member.token, headers })).events();
  assert.equal((await events.next()).value?.event, 'begun');
  assert.equal(
    (await ask(owner, 'PATCH', `${base}/members/${member.accountId}`, { role: 'viewer' })).status,
    200,
  );
  assert.equal((await events.next()).done, true);
});

test('whoever runs the machine makes an owner, and somebody who looks after the installation, and that is in the log', async () => {
  const { service, team, base, ask, owner } = await scene();
  const { db } = service.app.store;
  const grace = await newPerson(service);
  await makeOwner(db, grace.email.toUpperCase(), team.workspaceId, service.clock.now());
  assert.equal((await ask(grace, 'GET', base)).body.role, 'owner');
  await makeOwner(db, grace.email, team.workspaceId, service.clock.now());
  const { body } = await ask(owner, 'GET', `/audit?action=recover&subject=${grace.accountId}`);
  assert.equal(Object(body.items)[0].actor.kind, 'service');
  assertProblem(await ask(grace, 'GET', '/installation'), 403, 'forbidden');
  await makeOperator(db, grace.email);
  assert.equal((await ask(grace, 'GET', '/installation')).status, 200);
  await assert.rejects(makeOperator(db, newEmail()), /There is no account/);
  // Nobody who could ask the API for its id is left: it is found by its name and who owned it.
  const found = await Array.fromAsync(allWorkspaces(db));
  const own = found.find(({ id }) => id === team.workspaceId);
  assert.deepEqual(own?.owners, [owner.email, grace.email]);
  for (const workspace of [newId(), 'mine'])
    await assert.rejects(makeOwner(db, grace.email, workspace, service.clock.now()), /There is no workspace/);
});

test('a member who is limited to projects sees those alone: lists, streams, operations, tokens', async () => {
  const { service, team, base, ask, owner } = await scene();
  const [shop, blog] = [
    await bareProject(service, team.workspaceId),
    await bareProject(service, team.workspaceId),
  ];
  const [shops, blogs] = [await bareEnvironment(service, shop), await bareEnvironment(service, blog)];
  const projects = [{ projectId: shop, role: 'member' }];
  const grace = await join(service, team, { role: 'member', projects });
  assert.deepEqual((await ask(grace, 'GET', base)).body.projects, projects);
  assert.deepEqual(idsOf((await ask(grace, 'GET', '/projects')).body), [shop]);
  assert.deepEqual(idsOf((await ask(grace, 'GET', '/environments')).body), [shops]);
  const set = { variables: [{ key: 'A', value: 'b' }] };
  assert.equal((await ask(grace, 'POST', `/environments/${shops}/variables`, set)).status, 200);
  assertProblem(await ask(grace, 'POST', `/environments/${blogs}/variables`, set), 404, 'not_found');
  // What she is there, not what she is called: deleting takes an admin.
  assertProblem(await ask(grace, 'DELETE', `/environments/${shops}`), 403, 'forbidden');
  assertProblem(await ask(grace, 'GET', `${base}/members`), 403, 'forbidden');
  assertProblem(await ask(grace, 'GET', '/servers'), 403, 'forbidden');

  for (const id of [shops, blogs])
    assert.ok((await ask(owner, 'DELETE', `/environments/${id}`)).status < 300);
  const about = (body: Record<string, unknown>): string[] =>
    Object(body.items).map((each: { subject: { id: string } }) => each.subject.id);
  assert.deepEqual(about((await ask(grace, 'GET', '/operations')).body), [shops]);
  const [theirs] = Object((await ask(owner, 'GET', '/operations')).body.items).filter(
    (each: { subject: { id: string } }) => each.subject.id === blogs,
  );
  assertProblem(await ask(grace, 'GET', `/operations/${theirs.id}`), 404, 'not_found');

  const body = { name: 'CI', abilities: ['change'] };
  const made = await ask(grace, 'POST', '/api-tokens', body);
  assert.equal(made.status, 201, made.text);
  const list = await service.call('GET', '/projects', { token: text(made.body.token) });
  assert.deepEqual(idsOf(list.body), [shop]);
  assertProblem(await ask(grace, 'POST', '/api-tokens', { ...body, projectId: blog }), 404, 'not_found');
  // From now on she has nothing, then all.
  const member = `${base}/members/${grace.accountId}`;
  assert.equal((await ask(owner, 'PATCH', member, { projects: [] })).status, 200);
  assert.deepEqual(idsOf((await ask(grace, 'GET', '/projects')).body), []);
  assert.equal((await ask(owner, 'PATCH', member, { projects: null })).status, 200);
  assert.equal(idsOf((await ask(grace, 'GET', '/projects')).body).length, 2);
});

test('a workspace is removed with what is in it, takes no changes meanwhile, and is gone a day later', async () => {
  const { service, team, base, ask, owner } = await scene();
  const { db } = service.app.store;
  const admin = await join(service, team, { role: 'admin' });
  const project = await bareProject(service, team.workspaceId);
  await bareEnvironment(service, project);
  assertProblem(await ask(owner, 'DELETE', base), 400, 'invalid_input');
  assertProblem(await ask(admin, 'DELETE', `${base}?deleteData=true`), 403, 'forbidden');
  const started = await ask(owner, 'DELETE', `${base}?deleteData=true`);
  assert.equal(started.status, 202, started.text);
  assertProblem(await ask(admin, 'POST', '/domains', { hostname: 'example.org' }), 403, 'forbidden');
  const operation = `/operations/${started.body.id}`;
  const ended = await until(async () => {
    const { body } = await ask(owner, 'GET', operation);
    return body.finishedAt !== null && body;
  });
  assert.equal(ended.status, 'succeeded', JSON.stringify(ended));
  assertProblem(await ask(admin, 'GET', '/projects'), 404, 'not_found');
  assert.deepEqual(idsOf((await ask(owner, 'GET', '/projects')).body), []);
  assert.equal((await ask(owner, 'GET', base)).body.status, 'removed');
  assert.deepEqual(idsOf((await ask(owner, 'GET', '/workspaces')).body), []);
  await db.run(
    sql`update workspaces set removed_at = removed_at - interval '2 days' where id = ${team.workspaceId}`,
  );
  const { pruneWorkspacesSchedule } = await import('../src/areas/workspaces/remove-workspace.ts');
  await pruneWorkspacesSchedule({ db, clock: service.clock }).run();
  assertProblem(await ask(owner, 'GET', base), 404, 'not_found');
});

test('a removal that cannot be done says what holds it up, and the workspace goes on', async () => {
  const { service, team, base, ask, owner } = await scene();
  for (const name of ['gone', 'never-reached']) {
    const server = { name, host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
    assert.equal((await ask(owner, 'POST', '/servers', server)).status, 201);
  }
  await service.app.store.db.run(sql`
    update servers set host_key = 'SHA256:x' where workspace_id = ${team.workspaceId} and name = 'gone'`);
  const end = async (query: string) => {
    const started = await ask(owner, 'DELETE', `${base}?deleteData=true${query}`);
    assert.equal(started.status, 202, started.text);
    return until(async () => {
      const { body } = await ask(owner, 'GET', `/operations/${started.body.id}`);
      return body.finishedAt !== null && body;
    });
  };
  const failed = await end('');
  assert.equal(failed.status, 'failed');
  assert.match(Object(failed.fault).message, /^The server gone could not be removed\.$/);
  assert.equal((await ask(owner, 'POST', '/domains', { hostname: `a-${newId()}.example.org` })).status, 201);
  assert.equal((await end('&force=true')).status, 'succeeded');
});

test('a list of members comes in pages', async () => {
  const { service, team, base, ask, owner } = await scene();
  await service.app.store.db.run(sql`
    with people as (
      insert into accounts (id, email, email_verified_at, created_at)
      select gen_random_uuid(), 'many-' || n || ${team.workspaceId} || '@example.com', now(), now()
      from generate_series(1, 120) n returning id)
    insert into memberships (workspace_id, account_id, role, created_at)
    select ${team.workspaceId}, id, 'viewer', now() from people`);
  const seen = new Set<string>();
  let cursor = '';
  do {
    const { body } = await ask(owner, 'GET', `${base}/members?limit=50${cursor && `&cursor=${cursor}`}`);
    for (const id of idsOf(body)) seen.add(id);
    cursor = body.nextCursor === null ? '' : text(body.nextCursor);
  } while (cursor !== '');
  assert.equal(seen.size, 121);
});
