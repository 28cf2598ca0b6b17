import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { startDomainScene } from './support/domains.ts';
import { assertInvalid, assertProblem, errorPaths } from './support/problems.ts';

const codesIn = (findings: unknown) => (Object(findings) as { code: string }[]).map(({ code }) => code);

test('a domain is registered in either form, listed, read and deleted', async (t) => {
  const scene = await startDomainScene(t);
  const { ask, apex } = scene;
  const made = await ask('POST', '/domains', { hostname: `Bücher.${apex.toUpperCase()}.` });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.headers.get('location'), `/api/v1/domains/${made.body.id}`);
  const { id, hostname, status, verification, lastCheck, verifiedAt, missingSince } = made.body;
  assert.deepEqual([hostname, status], [`xn--bcher-kva.${apex}`, 'pending']);
  assert.deepEqual([lastCheck, verifiedAt, missingSince], [null, null, null]);
  const { type, name, value } = Object(verification);
  assert.deepEqual([type, name], ['TXT', `_slipway.xn--bcher-kva.${apex}`]);
  assert.match(value, /^slipway-verification=[\w-]{27}$/);
  for (const again of [`xn--bcher-kva.${apex}`, `*.bücher.${apex}`])
    assertProblem(await ask('POST', '/domains', { hostname: again }), 409, 'name_taken');
  const wildcard = await ask('POST', '/domains', { hostname: `*.wild.${apex}` });
  assert.equal(wildcard.body.hostname, `wild.${apex}`, 'the proof of a name is that of all below it');
  const { items } = (await ask('GET', '/domains')).body;
  assert.deepEqual(
    Object(items).map((each: { id: string }) => each.id),
    [wildcard.body.id, id],
  );
  const page = (await ask('GET', '/domains?limit=1')).body;
  const rest = (await ask('GET', `/domains?limit=1&cursor=${page.nextCursor}`)).body;
  assert.deepEqual([Object(rest.items)[0].id, rest.nextCursor], [id, null]);
  assert.deepEqual((await ask('GET', `/domains/${id}`)).body, made.body);
  assert.equal((await ask('DELETE', `/domains/${id}`)).status, 204);
  assertProblem(await ask('GET', `/domains/${id}`), 404, 'not_found');
  assertProblem(await ask('DELETE', `/domains/${id}`), 404, 'not_found');
});

test('what cannot be a domain is refused with its field', async (t) => {
  const { ask, environmentId } = await startDomainScene(t);
  const wrong = [
    ...['localhost', '10.0.0.1', '::1', '[::1]', '2130706433', '', ' ', 'a..example.test', '.example.test'],
    ...['https://example.test', 'example.test:443', 'exa mple.test', 'a_b.example.test', '-a.example.test'],
    ...['a.*.example.test', '*', '*.test', `${'a'.repeat(64)}.test`, `${'a.'.repeat(130)}test`],
    ...['x'.repeat(1_001), 'xn--0.example.test', 'a%2e.example.test', 'a\u0000b.example.test'],
  ];
  for (const hostname of wrong) {
    assertInvalid(await ask('POST', '/domains', { hostname }), 'hostname');
    assertInvalid(await ask('POST', `/environments/${environmentId}/domain`, { hostname }), 'hostname');
  }
  assertInvalid(await ask('POST', '/domains', {}), 'hostname');
  assertInvalid(await ask('POST', '/domains', { hostname: 'a.example.test', odd: 1 }), 'odd');
  assertInvalid(await ask('POST', '/domains', { hostname: 7 }), 'hostname');
  const connect = (body: object) => ask('POST', `/environments/${environmentId}/domain`, body);
  assertInvalid(await connect({}), 'hostname');
  assertInvalid(await connect({ hostname: 'a.example.test', domainId: newId() }), 'hostname');
  assertInvalid(await connect({ hostname: '*.example.test' }), 'hostname');
  assertInvalid(await connect({ domainId: 'x' }), 'domainId');
  const hostname = 'a.example.test';
  assertInvalid(await connect({ hostname, ssl: { mode: 'maybe' } }), 'ssl.mode');
  assertInvalid(await connect({ hostname, www: 'yes' }), 'www');
  assertInvalid(await connect({ hostname, hstsSeconds: -1 }), 'hstsSeconds');
  assertInvalid(await connect({ hostname, redirectHttp: 'yes' }), 'redirectHttp');
});

test('nobody reaches a domain without a token, and nobody else’s', async (t) => {
  const scene = await startDomainScene(t);
  const { ask, environmentId, service, apex } = scene;
  const domain = await scene.verified(ask, apex);
  const named = await ask('POST', `/environments/${environmentId}/domain`, { domainId: domain.id });
  assert.equal(named.status, 200, named.text);
  const other = await scene.stranger();
  const name = `/environments/${environmentId}/domains/${named.body.id}`;
  const paths: [string, string, object?][] = [
    ['GET', `/domains/${domain.id}`],
    ['POST', `/domains/${domain.id}/verify`],
    ['DELETE', `/domains/${domain.id}`],
    ['POST', `/environments/${environmentId}/domain`, { hostname: `x.${apex}` }],
    ['POST', `/environments/${other.environmentId}/domain`, { domainId: domain.id }],
    ['GET', `/environments/${environmentId}/domains`],
    ['GET', name],
    ['DELETE', name],
    ['DELETE', `/environments/${other.environmentId}/domains/${named.body.id}`],
    ['GET', `/environments/${other.environmentId}/domains/${named.body.id}`],
  ];
  for (const [method, path, body] of paths) {
    const options = body === undefined ? {} : { body };
    assertProblem(await service.call(method, path, options), 401, 'unauthenticated');
    assertProblem(await other.ask(method, path, body), 404, 'not_found');
  }
  assertProblem(await service.call('GET', '/domains'), 401, 'unauthenticated');
  assertProblem(
    await service.call('POST', '/domains', { body: { hostname: 'a.test' } }),
    401,
    'unauthenticated',
  );
  assert.deepEqual((await other.ask('GET', '/domains')).body.items, []);
  assert.equal((await ask('GET', name)).status, 200, 'and nothing of it was touched');
});

test('a name leads to an environment, is changed in place, and keeps its domain from being deleted', async (t) => {
  const scene = await startDomainScene(t);
  const { ask, environmentId, apex } = scene;
  const path = `/environments/${environmentId}/domain`;
  const early = await ask('POST', path, { hostname: `shop.${apex}` });
  assertProblem(early, 422, 'domain_not_verified');
  assert.deepEqual(errorPaths(early), ['hostname']);
  const domain = await scene.verified(ask, apex);
  const made = await ask('POST', path, {
    hostname: `SHOP.${apex}`,
    www: 'redirect_to_www',
    hstsSeconds: 60,
    ssl: { mode: 'auto' },
    redirectHttp: false,
  });
  assert.equal(made.status, 200, made.text);
  const { id, certificate, createdAt: _, findings: seen, ...rest } = made.body;
  assert.deepEqual(codesIn(seen), [], 'with no server, nobody knows where it should point');
  assert.deepEqual(rest, {
    environmentId,
    domainId: domain.id,
    hostname: `shop.${apex}`,
    operationId: null,
    url: `http://www.shop.${apex}`,
    ssl: { mode: 'auto' },
    redirectHttp: false,
    www: 'redirect_to_www',
    hstsSeconds: 60,
  });
  assert.deepEqual(certificate, { status: 'pending', issuer: null, notAfter: null, fault: null });
  const changed = await ask('POST', path, { hostname: `shop.${apex}`, ssl: { mode: 'off' } });
  assert.equal(changed.body.id, id);
  assert.deepEqual([changed.body.www, changed.body.hstsSeconds], ['none', null]);
  assert.equal(Object(changed.body.certificate).status, 'none');
  const deeper = await ask('POST', path, { hostname: `a.b.${apex}`, ssl: { mode: 'off' } });
  assert.equal(deeper.status, 200, 'what lies below a proven name needs no new proof');
  const { items } = (await ask('GET', `/environments/${environmentId}/domains`)).body;
  assert.deepEqual(
    Object(items).map((each: { id: string }) => each.id),
    [id, deeper.body.id],
  );
  const used = await ask('DELETE', `/domains/${domain.id}`);
  assertProblem(used, 409, 'in_use');
  assert.deepEqual(errorPaths(used), Array(2).fill(`environments/${environmentId}`));
  for (const each of [id, deeper.body.id])
    assert.equal((await ask('DELETE', `/environments/${environmentId}/domains/${each}`)).status, 204);
  assertProblem(await ask('GET', `/environments/${environmentId}/domains/${id}`), 404, 'not_found');
  assert.equal((await ask('DELETE', `/domains/${domain.id}`)).status, 204);
});

test('one name leads to one place, and so does the one with www', async (t) => {
  const scene = await startDomainScene(t);
  const { ask, environmentId, apex } = scene;
  await scene.verified(ask, apex);
  const second = await scene.another('staging');
  const connect = (id: string, hostname: string, www = 'none') =>
    ask('POST', `/environments/${id}/domain`, { hostname, www, ssl: { mode: 'off' } });
  assert.equal((await connect(environmentId, `a.${apex}`, 'redirect_to_apex')).status, 200);
  for (const [hostname, www] of [
    [`a.${apex}`, 'none'],
    [`www.a.${apex}`, 'none'],
    [`www.a.${apex}`, 'redirect_to_apex'],
  ] as const)
    assertProblem(await connect(second, hostname, www), 409, 'in_use');
  assertProblem(await connect(environmentId, `www.a.${apex}`), 409, 'in_use');
  assert.equal((await connect(second, `www.b.${apex}`)).status, 200);
  assertProblem(await connect(environmentId, `b.${apex}`, 'redirect_to_www'), 409, 'in_use');
  assertProblem(await connect(second, `b.${apex}`, 'redirect_to_www'), 409, 'in_use');
  assert.equal((await connect(environmentId, `b.${apex}`)).status, 200);
  const both = await Promise.all([connect(environmentId, `c.${apex}`), connect(second, `c.${apex}`)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
});

test('a request that is repeated with its key makes nothing twice', async (t) => {
  const scene = await startDomainScene(t);
  const { service, person, environmentId, ask, apex, workspaceId } = scene;
  const once = (path: string, body: object) =>
    service.call('POST', path, { token: person.token, body, headers: { 'idempotency-key': path } });
  const [first, again] = [
    await once('/domains', { hostname: apex }),
    await once('/domains', { hostname: apex }),
  ];
  assert.deepEqual([first.status, again.status, again.body.id], [201, 201, first.body.id]);
  const { name, value } = Object(first.body.verification);
  scene.zone.set(name, 'TXT', [value]);
  // With a body, which must not pass for a client that has gone.
  const seen = await ask('POST', `/domains/${first.body.id}/verify`, {});
  assert.equal(seen.body.status, 'verified', seen.text);
  const path = `/environments/${environmentId}/domain`;
  const named = await once(path, { hostname: apex });
  assert.equal((await once(path, { hostname: apex })).body.id, named.body.id);
  const { db } = service.app.store;
  const made = await db.rows(sql`select 1 from certificates where workspace_id = ${workspaceId}`);
  assert.equal(made.length, 1);
});

test('a name that DNS does not lead to the server is refused with what is wrong, unless that is wanted', async (t) => {
  const scene = await startDomainScene(t);
  const { ask, environmentId, apex, zone } = scene;
  await scene.verified(ask, apex);
  const serverId = await scene.server('web-1', '9.9.9.9');
  assert.ok((await ask('PATCH', `/environments/${environmentId}/server`, { serverId })).status < 300);
  const hostname = `shop.${apex}`;
  const path = `/environments/${environmentId}/domain`;
  const body = { hostname, ssl: { mode: 'off' } };
  const missing = await ask('POST', path, body);
  assertProblem(missing, 422, 'dns_wrong');
  assert.match(String(missing.body.detail), /has no address yet/);
  assert.match(String(missing.body.hint), /A 9\.9\.9\.9.*\?force=true/);
  assert.deepEqual(errorPaths(missing), ['hostname']);
  assert.deepEqual(codesIn(missing.body.findings), ['address_missing']);
  assert.deepEqual((await ask('GET', `${path}s`)).body.items, [], 'nothing was connected');

  zone.set(hostname, 'A', ['9.9.9.10']);
  assert.deepEqual(codesIn((await ask('POST', path, body)).body.findings), ['address_elsewhere']);
  const forced = await ask('POST', `${path}?force=true`, body);
  assert.equal(forced.status, 200, forced.text);
  assert.deepEqual(codesIn(forced.body.findings), ['address_elsewhere']);
  assert.equal((await ask('POST', path, { ...body, hstsSeconds: 60 })).status, 200, 'it is connected by now');

  zone.set(`www.${apex}`, 'A', ['9.9.9.9']);
  const half = await ask('POST', path, { hostname: apex, www: 'redirect_to_apex', ssl: { mode: 'off' } });
  assertProblem(half, 422, 'dns_wrong');
  assert.match(half.text, new RegExp(`${apex} has no address`));
  zone.set(apex, 'A', ['9.9.9.9']);
  const right = await ask('POST', path, { hostname: apex, www: 'redirect_to_apex', ssl: { mode: 'off' } });
  assert.equal(right.status, 200, right.text);
  assert.deepEqual(codesIn(right.body.findings), ['address_found', 'address_found']);
});
