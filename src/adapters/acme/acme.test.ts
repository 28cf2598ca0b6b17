import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import acmeClient from 'acme-client';
import { badNonce, problem, TestAuthority } from '../../../test/support/acme-authority.ts';
import { Workshop } from '../../../test/support/certificate-workshop.ts';
import { hangMs } from '../../../test/support/until.ts';
import { createEgress } from '../egress/egress.ts';
import {
  type AcmeAccount,
  type AcmeOptions,
  createAcme,
  newAccountKey,
  type Order,
  thumbprint,
} from './acme.ts';
import { renewalName } from './renewal-name.ts';
import { signingRequest } from './signing-request.ts';

const shop = new Workshop();
const root = shop.make('Root', { isAuthority: true });

async function begin(t: TestContext, options: Partial<AcmeOptions> = {}) {
  const authority = await TestAuthority.start(t);
  authority.issue = (csr, names) => shop.signRequest(csr, names, root) + root.pem;
  const egress = createEgress({ allowPrivate: true });
  t.after(() => egress.close());
  const waited: number[] = [];
  const wait = async (ms: number) => void waited.push(ms);
  const { directoryUrl } = authority;
  const acme = createAcme({ directoryUrl, userAgent: 'Slipway/test', fetch: egress.fetch, wait, ...options });
  const account = { key: newAccountKey(), url: '' };
  const enrolled = await acme.newAccount({ key: account.key });
  return { authority, acme, account: enrolled, waited, egress };
}

const order = (more: Partial<Order> = {}): Order => ({
  names: ['app.example.com'],
  preflight: async () => undefined,
  signal: AbortSignal.timeout(hangMs),
  ...more,
});

test('an order ends in a chain for its names and its key, after a look at every name', async (t) => {
  const { authority, acme, account, waited } = await begin(t);
  const seen: string[][] = [];
  const names = ['app.example.com', 'www.app.example.com'] as const;
  const preflight = async (...args: string[]) => {
    assert.equal(authority.count('challenge'), seen.length, 'before the authority is told to look');
    seen.push(args);
  };
  const issued = await acme.order(account, order({ names: [...names], preflight }));
  const leaf = new X509Certificate(issued.certificate);
  assert.ok(names.every((name) => leaf.checkHost(name) === name));
  assert.ok(leaf.checkPrivateKey(createPrivateKey(issued.privateKey.reveal())));
  assert.deepEqual([issued.notAfter, issued.issuer], [leaf.validToDate, 'Test Root']);
  assert.equal(createPrivateKey(issued.privateKey.reveal()).asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.deepEqual(
    seen.map(([, , name]) => name),
    names,
  );
  for (const [token, answer] of seen) assert.equal(answer, `${token}.${account.thumbprint}`);
  assert.equal(thumbprint(account.key), account.thumbprint);
  assert.deepEqual(waited, []);
  assert.equal(authority.count('nonce'), 1, 'nonces come with the answers');
  assert.ok(!inspect([issued, account], { depth: 9 }).includes('PRIVATE KEY'));
});

test('a key that was made before is asked with, and found in the certificate', async (t) => {
  const { acme, account } = await begin(t);
  const csrKey = newAccountKey();
  const issued = await acme.order(account, order({ csrKey }));
  assert.equal(issued.privateKey, csrKey);
  assert.ok(new X509Certificate(issued.certificate).checkPrivateKey(createPrivateKey(csrKey.reveal())));
});

test('the request is one that others can read, for EC and RSA keys', () => {
  const names = ['one.example.com', 'two.example.com'];
  const rsa = shop.make('rsa', { key: ['rsa:2048'] }).key;
  for (const pem of [newAccountKey().reveal(), rsa]) {
    const der = signingRequest(createPrivateKey(pem), names);
    const text = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    assert.deepEqual(acmeClient.crypto.readCsrDomains(text).altNames, names);
    assert.ok(new X509Certificate(shop.signRequest(der, names, root)).checkPrivateKey(createPrivateKey(pem)));
  }
  const many = Array.from({ length: 100 }, (_, index) => `name-${index}.a-rather-long-domain.example.com`);
  assert.ok(shop.signRequest(signingRequest(createPrivateKey(rsa), many), many, root));
});

test('a preflight that fails ends the order before the authority looks', async (t) => {
  const { authority, acme, account } = await begin(t);
  const why = new Error('the server does not answer');
  const preflight = () => Promise.reject(why);
  await assert.rejects(acme.order(account, order({ preflight })), (error) => error === why);
  assert.equal(authority.count('challenge'), 0);
});

test('what is proven already is not proven again', async (t) => {
  const { authority, acme, account } = await begin(t);
  await acme.order(account, order());
  await acme.order(account, order());
  assert.deepEqual([authority.count('challenge'), authority.count('authz')], [1, 3]);
});

test('three stale nonces in a row are got over; an authority that refuses all of its own is not', async (t) => {
  const { authority, acme, account } = await begin(t);
  authority.misbehave.set('order', ({ payload }, times) => (payload && times <= 3 ? badNonce : undefined));
  await acme.order(account, order());
  assert.equal(authority.count('order') >= 5, true);
  authority.misbehave.set('authz', () => badNonce);
  const before = authority.count('authz');
  await assert.rejects(acme.order(account, order()), { code: 'acme_nonsense' });
  assert.equal(authority.count('authz') - before, 5);
});

test('the wait that the authority asks for is kept to, and one beyond the deadline is not begun', async (t) => {
  const { authority, acme, account, waited } = await begin(t, { orderMs: 30_000 });
  const slow = (seconds: string, until: number) => (_: unknown, times: number) =>
    times === 1 || times > until
      ? undefined
      : { headers: { 'retry-after': seconds }, body: authority.authorization('app.example.com', 'pending') };
  authority.misbehave.set('authz', slow('7', 3));
  await acme.order(account, order());
  assert.deepEqual(waited, [7000, 7000]);
  authority.misbehave.set('order', ({ payload }) =>
    payload ? undefined : { headers: { 'retry-after': '86400' }, body: authority.order('processing') },
  );
  await assert.rejects(acme.order(account, order()), { code: 'acme_unreachable', retryAfterSeconds: 86400 });
  assert.deepEqual(waited, [7000, 7000]);
});

test('what is being replaced is named to the authority, and left out when that is an obstacle', async (t) => {
  const { authority, acme, account } = await begin(t);
  const old = shop.make('old', { by: root }).pem;
  await acme.order(account, order({ replaces: old }));
  const told = () =>
    authority.asked
      .filter(({ place, payload }) => place === 'order' && payload)
      .map((each) => each.payload?.replaces);
  assert.deepEqual(told(), [renewalName(old)]);
  authority.misbehave.set('order', ({ payload }) =>
    payload?.replaces ? { status: 409, body: problem('alreadyReplaced', 'done') } : undefined,
  );
  await acme.order(account, order({ replaces: old }));
  assert.deepEqual(told(), [renewalName(old), renewalName(old), undefined]);
  authority.misbehave.set('order', ({ payload }) =>
    payload?.replaces ? { status: 500, body: problem('serverInternal', 'no such order') } : undefined,
  );
  await acme.order(account, order({ replaces: old }));
  assert.equal(told().at(-1), undefined);
});

test('a certificate is revoked with its reason; that it was revoked before is no failure', async (t) => {
  const { authority, acme, account } = await begin(t);
  const { certificate } = await acme.order(account, order());
  await acme.revoke(account, certificate, 'superseded');
  const sent = authority.asked.at(-1)?.payload;
  assert.deepEqual(sent, {
    certificate: new X509Certificate(certificate).raw.toString('base64url'),
    reason: 4,
  });
  authority.misbehave.set('revoke', () => ({ status: 400, body: problem('alreadyRevoked', 'long ago') }));
  await acme.revoke(account, certificate);
  authority.misbehave.set('revoke', () => ({ status: 403, body: problem('unauthorized', 'not yours') }));
  await assert.rejects(acme.revoke(account, certificate), { code: 'acme_refused' });
});

test('a certificate is named for renewal as RFC 9773 says', () => {
  const { pem } = shop.make('leaf', { by: root });
  shop.file('ari.pem', pem);
  const said = shop.openssl('x509', '-in', 'ari.pem', '-noout', '-serial', '-ext', 'authorityKeyIdentifier');
  const [keyId, serial] = (renewalName(pem) ?? '')
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('hex').toUpperCase());
  assert.ok(said.replaceAll(':', '').includes(keyId ?? '?'), said);
  assert.equal(/serial=(\w+)/.exec(said)?.[1], serial?.replace(/^00/, ''));
});

test('an order can be stopped while it waits, and an account is found again by its key', async (t) => {
  const stop = new AbortController();
  const reason = new Error('cancelled');
  const wait = () => {
    stop.abort(reason);
    return Promise.reject(reason);
  };
  const { authority, acme, account } = await begin(t, { wait });
  authority.misbehave.set('order', ({ payload }) =>
    payload ? undefined : { body: authority.order('processing') },
  );
  await assert.rejects(acme.order(account, order({ signal: stop.signal })), (error) => error === reason);
  const again: AcmeAccount = await acme.newAccount({ key: account.key });
  assert.equal(again.url, account.url);
  assert.deepEqual(authority.asked.at(-1)?.payload, { termsOfServiceAgreed: true });
});
