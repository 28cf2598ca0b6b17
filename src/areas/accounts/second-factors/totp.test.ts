import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  counterAt,
  decodeBase32,
  encodeBase32,
  hotp,
  matchingCounter,
  newTotpSecret,
  otpauthUrl,
} from './totp.ts';

const key = Buffer.from('12345678901234567890');

test('the vectors of RFC 4226', () => {
  const codes = [
    '755224',
    '287082',
    '359152',
    '969429',
    '338314',
    '254676',
    '287922',
    '162583',
    '399871',
    '520489',
  ];
  assert.deepEqual(
    codes.map((_, counter) => hotp(key, counter)),
    codes,
  );
});

test('the vectors of RFC 6238 for SHA-1', () => {
  const vectors: readonly (readonly [seconds: number, code: string])[] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [seconds, code] of vectors)
    assert.equal(hotp(key, counterAt(new Date(seconds * 1000)), 8), code);
});

test('base 32 as in RFC 4648, there and back', () => {
  const vectors = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  };
  for (const [plain, encoded] of Object.entries(vectors)) {
    assert.equal(encodeBase32(Buffer.from(plain)), encoded);
    assert.equal(decodeBase32(encoded).toString(), plain);
  }
  for (let length = 0; length < 64; length += 1) {
    const bytes = randomBytes(length);
    assert.deepEqual(decodeBase32(encodeBase32(bytes)), bytes);
  }
});

test('one step of skew either way is taken, two are not', () => {
  const secret = newTotpSecret();
  assert.match(secret, /^[A-Z2-7]{32}$/);
  const now = new Date('2026-11-16T12:00:10Z');
  const present = counterAt(now);
  const found = [-2, -1, 0, 1, 2].map((by) =>
    matchingCounter(secret, hotp(decodeBase32(secret), present + by), now),
  );
  assert.deepEqual(found, [undefined, present - 1, present, present + 1, undefined]);
});

test('an app finds its account, its issuer and the secret in the address', () => {
  const url = new URL(otpauthUrl('MZXW6YTB', 'ada+x@example.com'));
  assert.equal(url.protocol, 'otpauth:');
  assert.equal(decodeURIComponent(url.pathname.split('/').at(-1) ?? ''), 'Slipway:ada+x@example.com');
  const { secret, issuer } = Object.fromEntries(url.searchParams);
  assert.deepEqual([secret, issuer], ['MZXW6YTB', 'Slipway']);
});
