import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { inspect } from 'node:util';
import { Fault } from '../../fault.ts';
import { fingerprintOf } from '../ssh/host-keys.ts';
import { generateKeyPair, readPrivateKey } from './keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-keys-'));
after(() => rmSync(folder, { recursive: true }));
let count = 0;

/** A key pair that OpenSSH itself has made. */
function sshKeygen(...options: string[]): { readonly text: string; readonly line: string } {
  count += 1;
  const file = join(folder, `key-${count}`);
  execFileSync('ssh-keygen', ['-q', '-C', 'ada@home', '-f', file, ...options]);
  return { text: readFileSync(file, 'utf8'), line: readFileSync(`${file}.pub`, 'utf8').trim() };
}

type Pair = ReturnType<typeof sshKeygen>;

/** The same pair in another format: making one costs more than everything else here. */
function rewritten({ text, line }: Pair, ...options: string[]): Pair {
  count += 1;
  const file = join(folder, `key-${count}`);
  writeFileSync(file, text, { mode: 0o600 });
  // One round instead of 24: the format is the same.
  execFileSync('ssh-keygen', ['-q', '-p', '-a', '1', '-P', '', '-f', file, ...options]);
  return { text: readFileSync(file, 'utf8'), line };
}

/** What OpenSSH says the public half of our text is: it reads what we write. */
function publicHalf(text: string): string {
  count += 1;
  const file = join(folder, `ours-${count}`);
  writeFileSync(file, text, { mode: 0o600 });
  return execFileSync('ssh-keygen', ['-y', '-P', '', '-f', file]).toString().trim();
}

const half = (line: string) => line.split(' ').slice(0, 2).join(' ');
const refusal = (pattern: RegExp) => (error: unknown) =>
  error instanceof Fault && error.code === 'invalid_input' && pattern.test(error.message);

const kinds = [
  ['-t', 'ed25519'],
  ['-t', 'rsa', '-b', '2048'],
  ['-t', 'ecdsa', '-b', '256'],
  ['-t', 'ecdsa', '-b', '521'],
];
const formats = ['RFC4716', 'PEM', 'PKCS8'];

for (const kind of kinds) {
  const pair = sshKeygen(...kind, '-N', '');
  for (const format of formats) {
    const name = [...kind, '-m', format].join(' ');
    test(`a key made by ssh-keygen ${name} is read, with a passphrase and without`, async () => {
      for (const phrase of ['', 'correct horse é']) {
        const { text, line } = rewritten(pair, '-m', format, '-N', phrase);
        const key = await readPrivateKey(text.replaceAll('\n', '\r\n'), phrase);
        assert.equal(half(key.publicKey), half(line));
        assert.equal(key.type, line.split(' ')[0]);
        assert.equal(half(publicHalf(key.privateKey.reveal())), half(line));
        assert.ok(!inspect(key).includes('PRIVATE'), 'the key does not print itself');
        if (!phrase) continue;
        await assert.rejects(readPrivateKey(text), refusal(/protected by a passphrase/));
        await assert.rejects(readPrivateKey(text, 'wrong'), refusal(/does not open/));
      }
    });
  }
}

test('an OpenSSH key keeps its comment', async () => {
  const { text } = sshKeygen('-t', 'ed25519', '-N', '');
  assert.match((await readPrivateKey(text)).publicKey, / ada@home$/);
});

test('Ed25519 as OpenSSL writes it is read', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const text = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const key = await readPrivateKey(text);
  assert.equal(half(publicHalf(key.privateKey.reveal())), half(key.publicKey));
});

test('a pair that we make is one that OpenSSH reads, a thousand times over', () => {
  for (let left = 1000; left > 0; left -= 1) generateKeyPair('slipway');
  const { privateKey, publicKey } = generateKeyPair('slipway \n 0198');
  assert.match(publicKey, /^ssh-ed25519 [\w+/]{68} slipway 0198$/);
  assert.equal(half(publicHalf(privateKey.reveal())), half(publicKey));
});

test('what is no usable private key is refused with a reason', async () => {
  const { line } = sshKeygen('-t', 'ed25519', '-N', '');
  const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).privateKey;
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const other = generateKeyPairSync('x25519').privateKey;
  const curve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
  const pem = (key: typeof dsa) => String(key.export({ format: 'pem', type: 'pkcs8' }));
  const whole = sshKeygen('-t', 'ed25519', '-N', '').text;
  const refused: [string, RegExp][] = [
    ['', /not a private key/],
    ['hunter2', /not a private key/],
    [line, /public key/],
    [pem(dsa), /DSA/],
    [pem(short), /1024 bits/],
    [pem(other), /not supported/],
    [pem(curve), /not supported/],
    [whole.slice(0, 200), /damaged/],
    [`${whole.slice(0, 120)}${whole.slice(180)}`, /damaged/],
    ['-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----', /damaged/],
  ];
  for (const [text, pattern] of refused) await assert.rejects(readPrivateKey(text), refusal(pattern));
});

test('a key file cannot make us work for hours on its passphrase', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const text = String(
    privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'right' }),
  );
  const der = Buffer.from(text.replaceAll(/-----.*-----|\s/g, ''), 'base64');
  const rounds = der.indexOf(Buffer.from('02020800', 'hex'));
  assert.ok(rounds > 0, 'OpenSSL asks for 2048 rounds');
  der.writeUInt16BE(0x7fff, rounds + 2);
  const more = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${der.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----`;
  await assert.rejects(readPrivateKey(more, 'right'), refusal(/does not open/), 'still tried');
  const huge = Buffer.concat([
    der.subarray(0, rounds),
    Buffer.from('02047fffffff', 'hex'),
    der.subarray(rounds + 4),
  ]);
  const pem = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${huge.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----`;
  // Two thousand million rounds would take half an hour.
  await assert.rejects(readPrivateKey(pem, 'right'), refusal(/not supported/));
});

test('a fingerprint is the one that ssh-keygen prints', () => {
  const { line } = sshKeygen('-t', 'ed25519', '-N', '');
  const printed = execFileSync('ssh-keygen', ['-l', '-f', join(folder, `key-${count}`)]).toString();
  const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64');
  assert.equal(fingerprintOf(blob), printed.split(' ')[1]);
});
