import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, generateKeyPairSync, hkdfSync, sign } from 'node:crypto';
import { test } from 'node:test';
import type { TestApp } from '../support/app.ts';
import { newPerson, type Person } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { login, me, tokensOf } from '../support/steps.ts';

type Fields = Record<string, unknown>;

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function partsOf(token: string): { header: Fields; claims: Fields; signature: string } {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString());
  return { header: read(header), claims: read(claims), signature };
}

function hs256(header: Fields, claims: Fields, key: string | Buffer): string {
  const body = `${part(header)}.${part(claims)}`;
  return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`;
}

/** The key the service signs with: what it would take to make a token by hand. */
function signingKey(service: TestApp): Buffer {
  const master = Buffer.from(service.masterKey, 'base64');
  return Buffer.from(hkdfSync('sha256', master, 'slipway', 'access-token', 32));
}

async function refusesAll(service: TestApp, tokens: Record<string, string>): Promise<void> {
  for (const [what, token] of Object.entries(tokens)) {
    const answer = await service.call('GET', '/auth/me', { token });
    assert.equal(answer.status, 401, `${what}: ${answer.text}`);
    assertProblem(answer, 401, 'unauthenticated');
  }
}

async function start() {
  const service = await sharedTestApp();
  const ada = await newPerson(service);
  return { service, ada, ...partsOf(ada.token) };
}

test('the attacks below fail for what they try, not for how they are made: the same token made by hand works', async () => {
  const { service, header, claims } = await start();
  assert.equal(await me(service, hs256(header, claims, signingKey(service))), 200);
});

test('a token without a signature is refused, however its algorithm is spelt', async () => {
  const { service, header, claims, signature } = await start();
  const tokens: Record<string, string> = {};
  for (const alg of [
    'none',
    'None',
    'NONE',
    'nOnE',
    '',
    ' none',
    'HS256\u0000none',
    null,
    0,
    [],
    undefined,
  ]) {
    for (const end of ['', signature]) {
      tokens[`alg ${JSON.stringify(alg)} with ${end ? 'a' : 'no'} signature`] =
        `${part({ ...header, alg })}.${part(claims)}.${end}`;
    }
  }
  tokens['two parts'] = `${part(header)}.${part(claims)}`;
  tokens['emptied signature'] = `${part(header)}.${part(claims)}.`;
  await refusesAll(service, tokens);
});

test('a token signed with a key that can be guessed is refused', async () => {
  const { service, header, claims } = await start();
  const keys = ['', 'secret', 'slipway', 'access-token', String(header.kid), '\u0000'.repeat(32)];
  const tokens = Object.fromEntries(keys.map((key) => [`key «${key}»`, hs256(header, claims, key)]));
  tokens['the master key itself'] = hs256(header, claims, Buffer.from(service.masterKey, 'base64'));
  const otherPurpose = hkdfSync(
    'sha256',
    Buffer.from(service.masterKey, 'base64'),
    'slipway',
    'throttle',
    32,
  );
  tokens['the key of another purpose'] = hs256(header, claims, Buffer.from(otherPurpose));
  await refusesAll(service, tokens);
});

test('a token cannot choose its algorithm or bring its own key', async () => {
  const { service, header, claims } = await start();
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signed = (extra: Fields, key: string | Buffer, dsaEncoding?: 'ieee-p1363') => {
    const body = `${part({ ...header, ...extra })}.${part(claims)}`;
    const how = { key: createPrivateKey(key), ...(dsaEncoding ? { dsaEncoding } : {}) };
    return `${body}.${sign('sha256', Buffer.from(body), how).toString('base64url')}`;
  };
  const rsaPem = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const ecPem = ec.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const jwk = rsa.publicKey.export({ format: 'jwk' });
  const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
  const key = signingKey(service);
  await refusesAll(service, {
    RS256: signed({ alg: 'RS256' }, rsaPem),
    'RS256 with its key in the header': signed({ alg: 'RS256', jwk }, rsaPem),
    'HS256 with a key in the header': hs256(
      { ...header, jwk: { kty: 'oct', k: 'AAAA' } },
      claims,
      Buffer.alloc(3),
    ),
    'key by address': signed({ alg: 'RS256', jku: `${service.url}/keys` }, rsaPem),
    ES256: signed({ alg: 'ES256' }, ecPem, 'ieee-p1363'),
    'HS256 over a public key': hs256({ ...header, alg: 'HS256' }, claims, publicPem),
    'our key under the name of RS256': hs256({ ...header, alg: 'RS256' }, claims, key),
    'our key under the name of HS512': hs256({ ...header, alg: 'HS512' }, claims, key),
    'unknown critical extension': hs256({ ...header, crit: ['admin'], admin: true }, claims, key),
    'payload not encoded': hs256({ ...header, crit: ['b64'], b64: false }, claims, key),
  });
});

test('a well signed token of another kind, issuer, audience or time is refused', async () => {
  const { service, ada, header, claims } = await start();
  const key = signingKey(service);
  const now = Math.floor(service.clock.now().getTime() / 1000);
  const without = (name: string) =>
    Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name));
  const tokens: Record<string, string> = {
    'typ JWT': hs256({ ...header, typ: 'JWT' }, claims, key),
    'typ refresh': hs256({ ...header, typ: 'rt+jwt' }, claims, key),
    'no typ': hs256({ alg: header.alg, kid: header.kid }, claims, key),
    'other issuer': hs256(header, { ...claims, iss: 'other' }, key),
    'other audience': hs256(header, { ...claims, aud: 'other' }, key),
    expired: hs256(header, { ...claims, exp: now }, key),
    'expiry as text': hs256(header, { ...claims, exp: String(now + 900) }, key),
    'not yet': hs256(header, { ...claims, nbf: now + 60 }, key),
    'not an object': hs256(header, {}, key),
    'refresh token': ada.refreshToken,
  };
  for (const name of ['iss', 'aud', 'sub', 'sid', 'exp', 'iat']) {
    tokens[`no ${name}`] = hs256(header, without(name), key);
  }
  await refusesAll(service, tokens);
});

test('a token that was altered is refused, and so is one whose account and session do not belong together', async () => {
  const { service, ada, header, claims, signature } = await start();
  const grace = await newPerson(service);
  const altered = (change: Fields) => `${part(header)}.${part({ ...claims, ...change })}.${signature}`;
  const graces = partsOf(grace.token).claims;
  await refusesAll(service, {
    'altered account': altered({ sub: grace.accountId }),
    'altered session': altered({ sid: graces.sid }),
    'altered both': altered({ sub: grace.accountId, sid: graces.sid }),
    'altered end': altered({ exp: Number(claims.exp) + 3600 }),
    "another's signature": `${ada.token.slice(0, ada.token.lastIndexOf('.'))}.${partsOf(grace.token).signature}`,
    'mixed, well signed': hs256(header, { ...claims, sub: grace.accountId }, signingKey(service)),
    'upper-case signature': `${part(header)}.${part(claims)}.${signature.toUpperCase()}`,
  });
});

test('a key name that is unknown, or leads elsewhere, is refused and breaks nothing', async () => {
  const { service, header, claims } = await start();
  const kids = [
    'unknown',
    '',
    '../../../../dev/null',
    '/dev/null',
    "' or '1'='1",
    '__proto__',
    'constructor',
    null,
    7,
    {},
  ];
  const tokens: Record<string, string> = {};
  for (const kid of kids) {
    for (const key of ['', signingKey(service)]) {
      tokens[`kid ${JSON.stringify(kid)}${key === '' ? ', empty key' : ''}`] = hs256(
        { ...header, kid },
        claims,
        key,
      );
    }
  }
  await refusesAll(service, tokens);
});

test('what is no token at all is refused and breaks nothing', async () => {
  const { service, ada } = await start();
  const tokens = [
    '.',
    '..',
    '...',
    'a.b',
    '=',
    '-',
    part({}),
    `${part([])}.${part([])}.`,
    'A'.repeat(5000),
    `${ada.token}.x`,
  ];
  await refusesAll(service, Object.fromEntries(tokens.map((each) => [each.slice(0, 20), each])));
});

test('a good token is refused once its session has ended, though it was seen and found good before', async () => {
  const { service, ada } = await start();
  const other: Pick<Person, 'token'> = tokensOf(await login(service, ada));
  assert.equal(await me(service, ada.token), 200);
  const list = await service.call('GET', '/auth/sessions', { token: other.token });
  const [, first] = Object(list.body.items);
  assert.equal(
    (await service.call('DELETE', `/auth/sessions/${first.id}`, { token: other.token })).status,
    204,
  );
  assert.equal(await me(service, ada.token), 401);
});
