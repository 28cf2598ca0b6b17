import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../src/store/sql.ts';
import { newPerson } from './support/people.ts';
import { assertProblem } from './support/problems.ts';
import { connectionTest, lastOperation } from './support/servers.ts';
import { sharedTestApp } from './support/shared-app.ts';

/** Nothing listens there: whatever connects is refused at once. */
const wish = { name: 'web-1', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };

test('a server with a generated key is registered at once, and shows the key to install, never the private half', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const made = await service.call('POST', '/servers', { token, body: wish });
  assert.equal(made.status, 201, made.text);
  const { id, status, publicKey, hostKeyFingerprint, username } = made.body;
  assert.equal(made.headers.get('location'), `/api/v1/servers/${id}`);
  assert.deepEqual([status, hostKeyFingerprint, username], ['pending', null, 'root']);
  assert.match(String(publicKey), new RegExp(`^ssh-ed25519 [A-Za-z0-9+/=]+ slipway-${id}$`));
  assert.doesNotMatch(made.text, /PRIVATE/);
  const read = await service.call('GET', `/servers/${id}`, { token });
  assert.deepEqual(read.body, made.body);
  const list = await service.call('GET', '/servers', { token });
  assert.deepEqual(list.body.items, [made.body]);
});

test('what is wrong with a new server is told by its field', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const wrong: [string, object][] = [
    ['name', { ...wish, name: '' }],
    ['host', { ...wish, host: '-oProxyCommand=reboot' }],
    ['host', { ...wish, host: 'a b' }],
    ['port', { ...wish, port: 70_000 }],
    ['username', { ...wish, username: 'root; reboot' }],
    ['hostKeyFingerprint', { ...wish, hostKeyFingerprint: 'MD5:00' }],
  ];
  for (const [field, body] of wrong) {
    const answer = await service.call('POST', '/servers', { token, body });
    assert.equal(answer.status, 400, answer.text);
    const paths = Object(answer.body.errors).map((each: { path: string }) => each.path);
    assert.ok(
      paths.some((path: string) => path.includes(field)),
      `${field}: ${answer.text}`,
    );
  }
  for (const privateKey of ['no key at all', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJm']) {
    const answer = await service.call('POST', '/servers', {
      token,
      body: { ...wish, auth: { type: 'key', privateKey } },
    });
    assert.equal(answer.body.code, 'invalid_input', answer.text);
  }
});

test('a server that was never reached is not cleared, and how it is forgotten is told', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const { body } = await service.call('POST', '/servers', { token, body: wish });
  const refused = await service.call('DELETE', `/servers/${body.id}`, { token });
  assertProblem(refused, 409, 'server_not_ready');
  assert.match(String(refused.body.hint), /\?leave=true/);
  assert.equal((await service.call('DELETE', `/servers/${body.id}?leave=true`, { token })).status, 204);
});

test('a server that was reached once and is gone says how it is forgotten, when clearing it fails', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const { body } = await service.call('POST', '/servers', { token, body: wish });
  const known = 'SHA256:uNiVztksCsDhcc0u9e8BrrJXQVQzN2n4XLmbmkGQ8cY';
  await service.app.store.db.run(sql`update servers set host_key = ${known} where id = ${String(body.id)}`);
  assert.equal((await service.call('DELETE', `/servers/${body.id}`, { token })).status, 202);
  const ended = await lastOperation(service, token, String(body.id), 'server_remove');
  assert.equal(ended.status, 'failed');
  assert.match(String(Object(ended.fault).hint), /gone for good.*\?leave=true/);
});

test('what a field should look like is told by a sentence with an example, never by a pattern', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const told = async (path: string, body: object) => {
    const answer = await service.call('POST', path, { token, body });
    assertProblem(answer, 400, 'invalid_input');
    assert.doesNotMatch(answer.text, /\^|\[A-Z|\(\?/, 'a pattern is shown');
    return String(answer.body.detail);
  };
  assert.match(await told('/servers', { ...wish, host: 'https://web-1.example.com/' }), /no https:\/\//);
  assert.match(await told('/servers', { ...wish, hostKeyFingerprint: 'aa:bb' }), /such as `SHA256:/);
  assert.match(await told('/servers', { ...wish, username: 'Ada L' }), /such as `root`/);
  assert.match(await told('/auth/forgot-password', { email: 'ada' }), /such as `ada@example\.com`/);
  const deploy = '/environments/01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b/deployments';
  assert.match(await told(deploy, { commit: '9f2c1d0' }), /40 small hexadecimal digits/);
  assert.match(await told('/environments/1/deployments', {}), /must be a UUID/);
});

test('a name is taken once in a workspace, whatever its case, and is free in another', async () => {
  const service = await sharedTestApp();
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  assert.equal((await service.call('POST', '/servers', { token: ada.token, body: wish })).status, 201);
  const again = await service.call('POST', '/servers', {
    token: ada.token,
    body: { ...wish, name: 'WEB-1' },
  });
  assert.deepEqual([again.status, again.body.code], [409, 'name_taken']);
  assert.match(again.text, /«WEB-1»/);
  assert.equal((await service.call('POST', '/servers', { token: grace.token, body: wish })).status, 201);
});

test('a server of someone else is not there, whatever is asked of it', async () => {
  const service = await sharedTestApp();
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const { body } = await service.call('POST', '/servers', { token: ada.token, body: wish });
  const calls: [string, string, object?][] = [
    ['GET', `/servers/${body.id}`],
    ['PATCH', `/servers/${body.id}`, { name: 'mine' }],
    ['DELETE', `/servers/${body.id}`],
    ['DELETE', `/servers/${body.id}?leave=true`],
    ['POST', `/servers/${body.id}/provision`],
    ['POST', '/servers/test-connection', { serverId: body.id }],
  ];
  for (const [method, path, sent] of calls) {
    const answer = await service.call(method, path, { token: grace.token, ...(sent && { body: sent }) });
    assert.deepEqual([answer.status, answer.body.code], [404, 'not_found'], `${method} ${path}`);
    const bare = await service.call(method, path, sent ? { body: sent } : {});
    assert.equal(bare.status, 401, `${method} ${path}`);
  }
  assert.equal((await service.call('GET', `/servers/${body.id}`, { token: ada.token })).body.name, 'web-1');
});

test('a request with an Idempotency-Key is done once, whoever sends it how often', async () => {
  const service = await sharedTestApp();
  const { token, email, password } = await newPerson(service);
  const headers = { 'idempotency-key': 'first-try' };
  const send = (body: object, more = headers) =>
    service.call('POST', '/servers', { token, body, headers: more });
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(wish)));
  const done = answers.filter(({ status }) => status === 201);
  assert.ok(done.length > 0);
  for (const { status, body } of answers) {
    if (status !== 201) assert.deepEqual([status, body.code], [409, 'idempotency_in_progress']);
  }
  const later = await send(wish);
  assert.deepEqual([later.status, later.body], [201, done[0]?.body]);
  assert.equal(later.headers.get('location'), `/api/v1/servers/${later.body.id}`);
  const other = await send({ ...wish, name: 'web-2' });
  assert.deepEqual([other.status, other.body.code], [422, 'idempotency_mismatch']);
  const { body: list } = await service.call('GET', '/servers', { token });
  assert.equal(Object(list.items).length, 1);
  service.clock.advance(25 * 3_600_000);
  const { body: signedIn } = await service.call('POST', '/auth/login', { body: { email, password } });
  const nextDay = { token: String(signedIn.accessToken), body: { ...wish, name: 'web-2' }, headers };
  assert.equal((await service.call('POST', '/servers', nextDay)).status, 201);
});

test('a request that failed has used up no key, and a key is one workspace’s alone', async () => {
  const service = await sharedTestApp();
  const [ada, grace] = [await newPerson(service), await newPerson(service)];
  const headers = { 'idempotency-key': 'k' };
  const refused = { ...wish, auth: { type: 'key', privateKey: 'none' } };
  assert.equal(
    (await service.call('POST', '/servers', { token: ada.token, body: refused, headers })).status,
    400,
  );
  assert.equal(
    (await service.call('POST', '/servers', { token: ada.token, body: wish, headers })).status,
    201,
  );
  const other = await service.call('POST', '/servers', {
    token: grace.token,
    body: { ...wish, name: 'b' },
    headers,
  });
  assert.equal(other.status, 201);
  const bad = { 'idempotency-key': 'with space' };
  assert.equal(
    (await service.call('POST', '/servers', { token: ada.token, body: wish, headers: bad })).status,
    400,
  );
});

test('a change is told, and a server that is reached another way is looked at anew', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const { body } = await service.call('POST', '/servers', { token, body: wish });
  const renamed = await service.call('PATCH', `/servers/${body.id}`, { token, body: { name: 'web-9' } });
  assert.deepEqual([renamed.status, renamed.body.name, renamed.body.host], [200, 'web-9', '127.0.0.1']);
  const moved = await service.call('PATCH', `/servers/${body.id}`, { token, body: { port: 2 } });
  assert.deepEqual(
    [moved.body.port, moved.body.status, moved.body.publicKey],
    [2, 'pending', body.publicKey],
  );
  const empty = await service.call('PATCH', `/servers/${body.id}`, { token, body: {} });
  assert.equal(empty.status, 400);
});

test('a server that is gone for good is forgotten without being asked', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const { body } = await service.call('POST', '/servers', { token, body: wish });
  assert.equal((await service.call('DELETE', `/servers/${body.id}?leave=true`, { token })).status, 204);
  assert.equal((await service.call('GET', `/servers/${body.id}`, { token })).status, 404);
  assert.equal((await service.call('DELETE', `/servers/${body.id}?leave=true`, { token })).status, 404);
});

test('a connection test says at which step it ended and why, for a server that is not saved', async () => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const refused = await connectionTest(service, token, {
    ...wish,
    auth: { type: 'password', password: 'x' },
  });
  assert.deepEqual(
    refused.map(({ data }) => data.step ?? data.ok),
    ['resolve', 'tcp', false],
  );
  assert.equal(refused[1]?.data.code, 'port_refused');
  const unknown = await connectionTest(service, token, { ...wish, host: 'nothing.invalid' });
  assert.equal(unknown[0]?.data.code, 'name_not_resolved');
  assert.equal(unknown.at(-1)?.event, 'result');
  const { body } = await service.call('GET', '/servers', { token });
  assert.deepEqual(body.items, []);
});
