/** The way to databases: whoever may not read secrets gets no byte through, and nothing else becomes a stream. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { openServices } from '../../src/areas/services/credentials.ts';
import type { EnvironmentId, WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import type { Answer } from '../support/app.ts';
import { newPerson, text } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { bareEnvironment, bareProject, join, newTeam } from '../support/workspaces.ts';

const tunnelHeaders = { connection: 'Upgrade', upgrade: 'tcp' };

/** Fails where it becomes a stream. */
function asked(url: string, headers: Record<string, string>, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers, agent: false })
      .once('upgrade', (_answer, socket) => {
        socket.destroy();
        reject(new Error('it became a stream'));
      })
      .once('response', async (answer) => {
        let whole = '';
        for await (const chunk of answer.setEncoding('utf8')) whole += chunk;
        const { statusCode: status = 0 } = answer;
        const told = new Headers();
        for (const [name, value] of Object.entries(answer.headers)) told.set(name, String(value));
        resolve({ status, headers: told, text: whole, body: Object(JSON.parse(whole)) });
      })
      .once('error', reject)
      .end(body);
  });
}

async function scene() {
  const service = await sharedTestApp();
  const team = await newTeam(service);
  const { owner, workspaceId } = team;
  const environmentId = await bareEnvironment(service, await bareProject(service, workspaceId));
  const body = { services: [{ kind: 'postgres', name: 'main' }] };
  const made = await service.call('POST', `/environments/${environmentId}/services`, {
    token: owner.token,
    body,
  });
  assert.equal(made.status, 200, made.text);
  const path = `/environments/${environmentId}/services/${Object(made.body.services)[0].id}`;
  const open = (token: string | undefined, query = '', to = path) =>
    asked(`${service.url}/api/v1${to}/tunnel${query}`, {
      ...tunnelHeaders,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    });
  const tokenWith = async (...abilities: string[]) => {
    const { body: token } = await service.call('POST', '/api-tokens', {
      token: owner.token,
      body: { name: abilities.join(), abilities },
    });
    return text(token.token);
  };
  return { service, team, owner, workspaceId, environmentId, path, open, tokenWith };
}

test('only those who may read secrets come as far as the database', async () => {
  const { service, team, owner, workspaceId, environmentId, path, open, tokenWith } = await scene();
  // As far as that: it stands on no server.
  assertProblem(await open(owner.token), 409, 'server_not_linked');
  assertProblem(await open(await tokenWith('read_secrets')), 409, 'server_not_linked');
  assertProblem(await open(undefined), 401, 'unauthenticated');
  assertProblem(await open('slw_wrong'), 401, 'unauthenticated');
  assertProblem(await open(await tokenWith('read', 'deploy', 'change', 'manage')), 403, 'forbidden');
  const stranger = await newPerson(service);
  assertProblem(await open(stranger.token), 404, 'not_found');
  for (const role of ['viewer', 'member']) {
    const { token } = await join(service, team, { role });
    const answer = await asked(`${service.url}/api/v1${path}/tunnel`, {
      ...tunnelHeaders,
      authorization: `Bearer ${token}`,
      'slipway-workspace': workspaceId,
    });
    assertProblem(answer, 403, 'forbidden');
  }
  const other = await bareEnvironment(service, await bareProject(service, workspaceId));
  assertProblem(await open(owner.token, '', path.replace(environmentId, other)), 404, 'not_found');
  const { body: ticket } = await service.call('POST', '/auth/stream-ticket', { token: owner.token });
  assertProblem(await open(undefined, `?ticket=${text(ticket.ticket)}`), 401, 'unauthenticated');
});

test('the password is told to the same people alone, and that it was is written down', async () => {
  const { service, team, owner, workspaceId, environmentId, path, tokenWith } = await scene();
  const read = (token: string) => service.call('GET', `${path}/credentials`, { token });
  assertProblem(await read(owner.token), 409, 'server_not_linked');
  const { db, sealer } = service.app.store;
  const [ids] = await db.rows<{ workspace: WorkspaceId; environment: EnvironmentId }>(
    sql`select workspace_id as workspace, id as environment from environments where id = ${environmentId}`,
  );
  assert.ok(ids);
  await db.transaction((tx) => openServices(tx, sealer, ids.workspace, ids.environment));
  const told = await read(owner.token);
  assert.equal(told.status, 200, told.text);
  assert.match(text(told.body.url), /^postgresql:\/\/app:[\w-]{32}@main:5432\/app$/);
  assertProblem(await read(await tokenWith('read', 'deploy', 'change', 'manage')), 403, 'forbidden');
  assertProblem(await read((await newPerson(service)).token), 404, 'not_found');
  const member = await join(service, team, { role: 'member' });
  const headers = { authorization: `Bearer ${member.token}`, 'slipway-workspace': workspaceId };
  assertProblem(await asked(`${service.url}/api/v1${path}/credentials`, headers), 403, 'forbidden');
  const { body } = await service.call('GET', '/audit?action=getServiceCredentials', { token: owner.token });
  assert.equal(Object(body.items).length, 1);
});

test('what does not ask to become a stream is told how; what asks elsewhere is an ordinary request', async () => {
  const { service, owner, path } = await scene();
  const plain = await service.call('GET', `${path}/tunnel`, { token: owner.token });
  assertProblem(plain, 426, 'upgrade_required');
  assert.equal(plain.headers.get('upgrade'), 'tcp');
  const half = { upgrade: 'tcp', authorization: `Bearer ${owner.token}` };
  assertProblem(await asked(`${service.url}/api/v1${path}/tunnel`, half), 426, 'upgrade_required');
  const body = JSON.stringify({ email: owner.email, password: 'not this one' });
  for (const upgrade of ['tcp', 'websocket', 'h2c']) {
    const headers = { connection: 'Upgrade', upgrade, 'content-type': 'application/json' };
    const login = await asked(`${service.url}/api/v1/auth/login`, headers, 'POST', body);
    assertProblem(login, 401, 'invalid_credentials');
    const path404 = await asked(`${service.url}/tunnel`, headers);
    assert.equal(path404.status, 404, path404.text);
  }
});

test('what is sent behind a request that is refused is not read as another one', async () => {
  const { service, path } = await scene();
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const head = (to: string) => `GET ${to} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n`;
  socket.end(`${head(`/api/v1${path}/tunnel`)}${head('/healthz')}`);
  let answer = '';
  for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
  assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401']);
});
