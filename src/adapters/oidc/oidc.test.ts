import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { systemClock } from '../../clock.ts';
import { createEgress } from '../egress/egress.ts';
import { claimsOf } from './claims.ts';
import { createOidcProvider } from './oidc.ts';

const binding = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) };

test('a provider that never answers, or never ends, is given up in time', async (t) => {
  const server = createServer((request, response) => {
    // One says nothing at all, one begins and does not go on.
    if (request.url?.startsWith('/slow/'))
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const egress = createEgress({ allowPrivate: true });
  t.after(() => egress.close());
  const { port } = server.address() as AddressInfo;
  for (const path of ['/silent', '/slow']) {
    const provider = createOidcProvider({
      issuer: `http://127.0.0.1:${port}${path}`,
      clientId: 'slipway',
      clientSecret: undefined,
      scopes: 'openid',
      groupsClaim: undefined,
      fetch: egress.fetch,
      clock: systemClock,
      timeoutMs: 100,
    });
    const fault = await faultOf(() => provider.authorizationUrl(binding, 'http://127.0.0.1/back', false));
    assert.equal(fault.code, 'oidc_failed', `${path}: ${fault.message}`);
  }
});

test('an address counts as confirmed only by the word of where it comes from', () => {
  const token = { iss: 'https://id.example.com', sub: 'a', aud: 'slipway', iat: 0, exp: 1 };
  const mixed = claimsOf(
    { ...token, email: 'a@example.com' },
    { sub: 'a', email: 'b@example.com', email_verified: true },
    undefined,
  );
  assert.deepEqual([mixed.email, mixed.isEmailVerified], ['a@example.com', undefined]);
});

test('groups are found by the name of their claim, or inside of objects', () => {
  const token = { iss: 'https://id.example.com', sub: 'a', aud: 'slipway', iat: 0, exp: 1 };
  const cases: [object, string, string[]][] = [
    [{ groups: ['a', 'b', 7, null] }, 'groups', ['a', 'b']],
    [{ groups: 'a' }, 'groups', ['a']],
    [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
    [{ 'https://example.com/groups': ['a'] }, 'https://example.com/groups', ['a']],
    [{ realm_access: null }, 'realm_access.roles', []],
    [{}, 'constructor.name', []],
    [{}, 'groups', []],
  ];
  for (const [claims, name, groups] of cases)
    assert.deepEqual(claimsOf({ ...token, ...claims }, undefined, name).groups, groups, name);
  assert.deepEqual(claimsOf(token, { sub: 'a', groups: ['b'] }, 'groups').groups, ['b']);
});
