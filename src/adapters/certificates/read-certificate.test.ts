import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Workshop } from '../../../test/support/certificate-workshop.ts';
import { readCertificate } from './read-certificate.ts';

const shop = new Workshop();

test('what a certificate says is read as openssl reads it', () => {
  const root = shop.make('Root', { isAuthority: true });
  const names = ['DNS:One.example.com', 'DNS:*.two.example.com', 'IP:192.0.2.1', 'URI:https://x.example/a'];
  const made = shop.make('leaf', { names, by: root, key: ['rsa:2048'] });
  shop.file('leaf.pem', made.pem);
  const say = (...args: string[]) => shop.openssl('x509', '-in', 'leaf.pem', '-noout', ...args);
  const facts = readCertificate(made.pem + root.pem);
  assert.deepEqual(facts.names, ['one.example.com', '*.two.example.com']);
  assert.equal(facts.issuer, 'Test Root');
  assert.ok(say('-fingerprint', '-sha256').endsWith(`=${facts.fingerprint}\n`));
  assert.equal(Date.parse(say('-enddate').split('=')[1] ?? ''), facts.notAfter.getTime());
  assert.equal(Date.parse(say('-startdate').split('=')[1] ?? ''), facts.notBefore.getTime());
});

test('a name with a comma in it does not pass for two', () => {
  // As a file of extensions splits at commas, the name is given in a section of its own.
  const section = 'subjectAltName=@names\n[names]\nDNS.1=evil.example, DNS:bank.example';
  shop.file('evil.cnf', `[req]\ndistinguished_name=dn\nx509_extensions=v3\n[dn]\n[v3]\n${section}\n`);
  const newKey = ['-newkey', 'rsa:2048', '-noenc', '-keyout', 'evil.key'];
  shop.openssl('req', '-x509', '-config', 'evil.cnf', ...newKey, '-subj', '/CN=x', '-out', 'evil.pem');
  const { names } = readCertificate(shop.openssl('x509', '-in', 'evil.pem'));
  assert.equal(names.length, 1);
  assert.notEqual(names[0], 'bank.example');
});

test('half a chain, or none, is no certificate', () => {
  const { pem } = shop.make('own');
  for (const text of ['', 'hello', `${pem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`])
    assert.throws(() => readCertificate(text), { code: 'certificate_invalid' });
});
