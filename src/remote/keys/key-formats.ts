/** The two corners of key formats that no library of ours covers. */
import { type KeyObject, randomBytes } from 'node:crypto';

/** An Ed25519 key as `ssh-keygen` writes it: PKCS#8, Node's own format for it, is one that our SSH does not read. */
export function opensshPrivateKey(key: KeyObject, comment: string): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  const type = field('ssh-ed25519');
  const check = randomBytes(4);
  const secret = Buffer.concat([
    ...[check, check, type, field(point), field(Buffer.concat([seed, point])), field(comment)],
  ]);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (secret.length % 8)) % 8));
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[field('none'), field('none'), field(''), number(1)],
    field(Buffer.concat([type, field(point)])),
    field(Buffer.concat([secret, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  );
}

function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** PBKDF2's identifier in DER, which its parameters follow. */
const pbkdf2 = Buffer.from('06092a864886f70d01050c', 'hex');
const mostRounds = 1_000_000;

/**
 * Whether trying a passphrase on this PKCS#8 text takes a moment and not a day: the file itself says how many rounds it
 * wants, and OpenSSL would obey it and hold up the whole process.
 */
export function mayDecrypt(pem: string): boolean {
  const der = Buffer.from(pem.replaceAll(/-----[^\n]*-----|\s/g, ''), 'base64');
  const at = der.indexOf(pbkdf2);
  if (at === -1) return false;
  const salt = at + pbkdf2.length + 2;
  const rounds = salt + 2 + (der[salt + 1] ?? 0);
  const size = der[rounds + 1] ?? 0;
  if (der[salt] !== 0x04 || der[rounds] !== 0x02 || size < 1 || size > 4 || der.length < rounds + 2 + size)
    return false;
  return der.readUIntBE(rounds + 2, size) <= mostRounds;
}
