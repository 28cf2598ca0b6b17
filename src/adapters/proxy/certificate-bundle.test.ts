import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { newId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import { checkBundle } from './certificate-bundle.ts';

const make = (...names: string[]) =>
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=test', '-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`],
      ...['-keyout', '-', '-out', '-'],
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );

test('what is sent has the leaf first and the key last, and no empty line, whatever stood around them', () => {
  const text = make('a.test');
  const odd = `a comment\r\n\r\n${text.replaceAll('\n', '\r\n')}\r\n\r\nthe end`;
  const { pem, leaf } = checkBundle({ id: newId(), names: ['a.test'], bundle: new Secret(odd) });
  assert.match(
    pem.reveal(),
    /^-----BEGIN CERTIFICATE-----\n[\s\S]+-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n[\s\S]+\n$/,
  );
  assert.doesNotMatch(pem.reveal(), /\n\n|\r/);
  assert.ok(pem.reveal().startsWith(leaf));
});

test('a wildcard covers one label, and itself, and nothing else', () => {
  const bundle = new Secret(make('*.a.test', 'B.test'));
  const check = (...names: string[]) => checkBundle({ id: newId(), names, bundle });
  check('*.a.test', 'x.a.test', 'b.test');
  for (const name of ['a.test', 'x.y.a.test', '*.x.a.test', '*.b.test', 'x.b.test'])
    assert.throws(() => check(name), { code: 'certificate_invalid', evidence: name });
});

test('an id or a name that could be more than that is refused, and no fault shows a key', () => {
  const bundle = new Secret(make('a.test'));
  for (const id of ['', '../default', `${newId()}\n`])
    assert.throws(() => checkBundle({ id, names: ['a.test'], bundle }), { code: 'invalid_input' });
  for (const name of ['a.test x', 'a.test\nid y', '!a.test', '*'])
    assert.throws(() => checkBundle({ id: newId(), names: [name], bundle }), { code: 'invalid_input' });
  const spoiled = new Secret(bundle.reveal().replace(/(PRIVATE KEY-----\n)..../, '$1!!!!'));
  assert.throws(
    () => checkBundle({ id: newId(), names: ['a.test'], bundle: spoiled }),
    (error: Error) => !/!!!!/.test(JSON.stringify(error) + error.message + String(error.cause)),
  );
});
