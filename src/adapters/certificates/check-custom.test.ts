import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Workshop } from '../../../test/support/certificate-workshop.ts';
import { after, day } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { Secret } from '../../secret.ts';
import { bundleOf } from './bundle.ts';
import { type CustomCertificate, checkCustom } from './check-custom.ts';
import { covers } from './read-certificate.ts';

const shop = new Workshop();
const root = shop.make('Root', { isAuthority: true });
const middle = shop.make('Middle', { isAuthority: true, by: root });
const hostname = 'app.example.com';
const leaf = shop.make('leaf', { names: [`DNS:${hostname}`], by: middle, usage: 'serverAuth' });
const now = after(new Date(), day);

type Wrong = Partial<Omit<CustomCertificate, 'privateKey'>> & { readonly privateKey?: string };

const check = ({ privateKey = leaf.key, ...rest }: Wrong = {}) =>
  checkCustom({
    certificate: leaf.pem + middle.pem,
    privateKey: new Secret(privateKey),
    hostname,
    now,
    ...rest,
  });

/** Each complaint as «field message». */
function complaints(wrong: Wrong): string[] {
  try {
    check(wrong);
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === 'certificate_invalid', String(error));
    assert.ok(!inspect(error, { depth: 9 }).includes(leaf.key.split('\n')[1] ?? '?'), 'the key is not told');
    return (error.errors ?? []).map(({ path, message }) => `${path} ${message}`);
  }
  assert.fail('it was taken');
}

function refused(wrong: Wrong, ...says: RegExp[]): void {
  const found = complaints(wrong);
  assert.equal(found.length, says.length, found.join('\n'));
  for (const [index, each] of says.entries()) assert.match(found[index] ?? '', each);
}

test('a good chain is taken, with and without its root', () => {
  const { facts, certificate } = check();
  assert.deepEqual(facts.names, [hostname]);
  assert.equal(facts.issuer, 'Test Middle');
  assert.equal(certificate, leaf.pem + middle.pem);
  const whole = leaf.pem + middle.pem + root.pem;
  assert.equal(check({ certificate: whole }).certificate, whole);
});

test('a certificate that signed itself is taken', () => {
  for (const isAuthority of [true, false]) {
    const own = shop.make('own', { names: [`DNS:${hostname}`], isAuthority });
    assert.equal(check({ certificate: own.pem, privateKey: own.key }).certificate, own.pem);
  }
});

test('every usual encoding is taken and stored in one', () => {
  shop.file('leaf.key', leaf.key);
  const sec1 = shop.openssl('ec', '-in', 'leaf.key');
  const withParameters = shop.openssl('ecparam', '-name', 'prime256v1') + sec1;
  const rsa = shop.make('rsa', { names: [`DNS:${hostname}`], key: ['rsa:2048'] });
  shop.file('rsa.key', rsa.key);
  const pkcs1 = shop.openssl('rsa', '-in', 'rsa.key', '-traditional');
  assert.match(sec1, /BEGIN EC PRIVATE/);
  assert.match(pkcs1, /BEGIN RSA PRIVATE/);
  const windows = (text: string) => text.replaceAll('\n', '\r\n');
  const around = (text: string) =>
    `\uFEFFBag Attributes\n  name: x\n\n${text.replaceAll('\n', '\n  ')}\nthe end`;
  const chain = leaf.pem + middle.pem;
  for (const privateKey of [
    leaf.key,
    sec1,
    withParameters,
    windows(leaf.key),
    around(sec1),
    chain + leaf.key,
  ])
    for (const certificate of [chain, windows(chain), around(chain), `${leaf.pem}\n\n${middle.pem}`]) {
      const taken = check({ certificate, privateKey });
      assert.equal(taken.certificate, chain);
      assert.equal(taken.privateKey.reveal(), leaf.key);
    }
  assert.equal(check({ certificate: rsa.pem, privateKey: pkcs1 }).certificate, rsa.pem);
});

test('what is not PEM, cut off, or in the wrong field is told for its field', () => {
  refused({ certificate: 'hello' }, /^ssl.certificate is not a certificate in PEM/);
  refused({ privateKey: '' }, /^ssl.privateKey is not a private key in PEM/);
  refused({ certificate: 'x', privateKey: 'y' }, /^ssl.certificate /, /^ssl.privateKey /);
  refused({ certificate: leaf.pem.replace(/\n.{20}/, '\n') }, /certificate 1 cannot be read/);
  refused({ certificate: `${leaf.pem}${middle.pem.replace('MI', 'XX')}` }, /certificate 2 cannot be read/);
  refused({ certificate: leaf.pem + leaf.key }, /^ssl.certificate holds a private key/);
  refused({ privateKey: leaf.pem }, /^ssl.privateKey is not a private key/);
  refused({ privateKey: leaf.key.replace(/\n.{4}/, '\n') }, /^ssl.privateKey cannot be read/);
  refused({ privateKey: leaf.key.replace(/\n.{3}/, '\n') }, /^ssl.privateKey is cut off/);
  refused({ privateKey: leaf.key + leaf.key }, /^ssl.privateKey holds more than one/);
});

test('what is too large is not even looked at', () => {
  refused({ certificate: ' '.repeat(70_000) + leaf.pem }, /^ssl.certificate is larger than/);
  refused({ privateKey: ' '.repeat(40_000) + leaf.key }, /^ssl.privateKey is larger than/);
  refused({ certificate: leaf.pem + middle.pem.repeat(10) }, /holds more than 10 certificates/);
});

test('a key with a passphrase is told to be one, in both ways to encrypt it', () => {
  shop.file('plain.key', leaf.key);
  const secret = ['-passout', 'pass:secret'];
  const pkcs8 = shop.openssl('pkcs8', '-topk8', '-in', 'plain.key', ...secret);
  const old = shop.openssl('ec', '-in', 'plain.key', '-aes128', ...secret);
  assert.match(old, /Proc-Type: 4,ENCRYPTED/);
  for (const privateKey of [pkcs8, old]) refused({ privateKey }, /^ssl.privateKey is encrypted/);
});

test('the key of another certificate is refused', () => {
  const other = shop.make('other', { names: [`DNS:${hostname}`] });
  refused({ privateKey: other.key }, /^ssl.privateKey is not the key of the certificate/);
});

test('dates are held against the clock, of the chain too', () => {
  refused({ certificate: leaf.pem, now: after(now, 90 * day) }, /certificate 1 \(leaf\) expired on 20/);
  refused(
    { certificate: leaf.pem, now: after(now, -3 * day) },
    /certificate 1 \(leaf\) is not valid before 20/,
  );
  refused({ now: after(now, 90 * day) }, /certificate 1 .* expired/, /certificate 2 \(Middle\) expired/);
});

test('a star stands for one label and no more, and a common name for nothing', () => {
  const star = shop.make('star', { names: ['DNS:*.example.com', 'IP:192.0.2.1', 'DNS:EXAMPLE.org'] });
  const withStar = (name: string) => ({ certificate: star.pem, privateKey: star.key, hostname: name });
  for (const name of [
    'app.example.com',
    'APP.example.com',
    'app.example.com.',
    '*.example.com',
    'example.org',
  ])
    assert.ok(check(withStar(name)));
  for (const name of ['example.com', 'a.app.example.com', 'app.example.org', '*.a.example.com', 'com'])
    refused(withStar(name), /^ssl.certificate is for \*\.example\.com, example\.org, not for/);
  assert.ok(!covers(['*.com'], 'com') && covers(['*.com'], 'example.com'));
  const bare = shop.make(hostname);
  refused({ certificate: bare.pem, privateKey: bare.key }, /is for no DNS name/);
  const partial = shop.make('partial', { names: ['DNS:a*.example.com'] });
  refused({ certificate: partial.pem, privateKey: partial.key }, /not for app\.example\.com/);
});

test('a leaf that is not first is found, by its key or by what it is', () => {
  const reversed = middle.pem + leaf.pem;
  refused({ certificate: reversed }, /the certificate of the server comes at place 2/);
  refused({ certificate: reversed, privateKey: 'x' }, /is not a private key/, /comes at place 2/);
});

test('a chain in the wrong order is told from one that is broken', () => {
  refused(
    { certificate: leaf.pem + root.pem + middle.pem },
    /the order is wrong: certificate 1 \(leaf\) is signed by certificate 3 \(Middle\)/,
    /the chain is broken: certificate 2 \(Root\) is not signed by certificate 3/,
  );
  const stranger = shop.make('Stranger', { isAuthority: true });
  refused(
    { certificate: leaf.pem + stranger.pem },
    /the chain is broken: certificate 1 \(leaf\) is not signed by/,
  );
  const impostor = shop.make('Middle', { isAuthority: true });
  refused({ certificate: leaf.pem + impostor.pem }, /the chain is broken/);
  const plain = shop.make('plain', { names: [`DNS:${hostname}`], by: middle, hasIssuerKey: false });
  assert.ok(check({ certificate: plain.pem + middle.pem, privateKey: plain.key }));
  refused({ certificate: plain.pem + impostor.pem, privateKey: plain.key }, /the chain is broken/);
  const noAuthority = shop.make('No authority', { by: root });
  const below = shop.make('below', { names: [`DNS:${hostname}`], by: noAuthority });
  refused({ certificate: below.pem + noAuthority.pem, privateKey: below.key }, /the chain is broken/);
});

test('weak keys, weak signatures and certificates for other uses are refused', () => {
  const names = [`DNS:${hostname}`];
  const cases = [
    [{ key: ['rsa:1024'] }, /has a key of 1024 bits; 2048 are the least/],
    [
      { digest: 'md5', by: shop.make('RSA root', { isAuthority: true, key: ['rsa:2048'] }) },
      /is signed with .*md5.*no longer safe/i,
    ],
    [{ digest: 'sha1' }, /is signed with .*sha1.*no longer safe/i],
    [{ key: ['ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'] }, /has a key of type EC secp256k1/],
    [{ key: ['ed25519'] }, /has a key of type ed25519/],
    [{ usage: 'clientAuth' }, /is not made for servers/],
  ] as const;
  for (const [input, says] of cases) {
    const weak = shop.make('weak', { names, by: root, ...input });
    refused({ certificate: weak.pem, privateKey: weak.key }, says);
  }
  const oldRoot = shop.make('Old root', { isAuthority: true, digest: 'sha1' });
  const below = shop.make('below', { names, by: oldRoot });
  assert.ok(
    check({ certificate: below.pem + oldRoot.pem, privateKey: below.key }),
    'a root is known, not checked',
  );
});

test('what HAProxy gets is the leaf, the chain and the key, without an empty line', () => {
  const text = bundleOf(
    `${leaf.pem}\r\n\r\n${middle.pem}`,
    new Secret(leaf.key.replaceAll('\n', '\r\n')),
  ).reveal();
  assert.equal(text, leaf.pem + middle.pem + leaf.key);
  assert.doesNotMatch(text, /\r|\n\n/);
  assert.ok(new X509Certificate(text).checkPrivateKey(createPrivateKey(text)));
  assert.throws(() => bundleOf(middle.pem, new Secret(leaf.key)), { code: 'certificate_invalid' });
});
