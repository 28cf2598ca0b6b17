/** Time-based one-time passwords as in RFC 6238, with what every authenticator app assumes: SHA-1, six digits, 30 seconds. */
import { createHmac, randomBytes } from 'node:crypto';
import { second } from '../../../clock.ts';
import { isSameOtp } from '../tokens.ts';

const stepMs = 30 * second;
const digits = 6;
/** How many steps a clock may be ahead or behind. */
const skew = 1;
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** 160 bits, as long as the hash: what RFC 4226 recommends. */
export function newTotpSecret(): string {
  return encodeBase32(randomBytes(20));
}

/** How many steps have passed since 1970. */
export function counterAt(now: Date): number {
  return Math.floor(now.getTime() / stepMs);
}

/** RFC 4226: four bytes of the hash, from where its last half byte points to. */
export function hotp(key: Buffer, counter: number, length = digits): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(counter));
  const hash = createHmac('sha1', key).update(bytes).digest();
  const offset = hash.readUInt8(hash.length - 1) & 0xf;
  const number = hash.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** length).padStart(length, '0');
}

/** The counter whose code this is, of the present step and those beside it. */
export function matchingCounter(secret: string, code: string, now: Date): number | undefined {
  const key = decodeBase32(secret);
  const present = counterAt(now);
  let found: number | undefined;
  // All are computed, whichever fits: the time taken tells nothing.
  for (let counter = present - skew; counter <= present + skew; counter += 1)
    if (isSameOtp(hotp(key, counter), code)) found ??= counter;
  return found;
}

/** What an authenticator app reads from a QR code. */
export function otpauthUrl(secret: string, email: string): string {
  const label = encodeURIComponent(`Slipway:${email}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=Slipway&algorithm=SHA1&digits=${digits}&period=${stepMs / second}`;
}

export function encodeBase32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += base32[(value >> (bits - 5)) & 31];
  }
  return bits > 0 ? text + base32[(value << (5 - bits)) & 31] : text;
}

export function decodeBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    const number = base32.indexOf(letter);
    if (number < 0) throw new Error('a secret in the database is not in base 32');
    value = ((value << 5) | number) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
