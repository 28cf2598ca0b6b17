import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newEmail } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { newPassword, post } from './support/steps.ts';

const email = newEmail();
const password = newPassword();
const code = '123456';
const token = 'reset_made-up';

const badEmails = [
  '',
  'ada',
  'ada@',
  '@example.com',
  'ada@example',
  'a b@example.com',
  'ada@example.com\n',
  'ada@exa\u0000mple.com',
  'a@b@example.com',
  '<ada@example.com>',
  'ada@example.com,eve@example.com',
  `${'a'.repeat(250)}@example.com`,
];

/** Each call: bodies that are wrong in one way, and the field the answer must name. */
const wrong: readonly [path: string, body: unknown, field: string][] = [
  ...['register', 'login', 'verify-otp', 'resend-otp', 'forgot-password'].flatMap((call) =>
    badEmails.map((bad): [string, unknown, string] => {
      const rest = { register: { password }, login: { password }, 'verify-otp': { code } }[call] ?? {};
      return [`/auth/${call}`, { email: bad, ...rest }, 'email'];
    }),
  ),
  ['/auth/register', { password }, 'email'],
  ['/auth/register', { email }, 'password'],
  ['/auth/register', { email, password: 'nine char' }, 'password'],
  ['/auth/register', { email, password: 'x'.repeat(129) }, 'password'],
  ['/auth/register', { email, password, name: '' }, 'name'],
  ['/auth/register', { email, password, name: 'x'.repeat(101) }, 'name'],
  ['/auth/register', { email, password, name: null }, 'name'],
  ['/auth/register', { email, password, role: 'owner' }, 'role'],
  ['/auth/register', { email: [email], password }, 'email'],
  ['/auth/register', { email, password: 1234567890123 }, 'password'],
  ['/auth/verify-otp', { email }, 'code'],
  ['/auth/verify-otp', { email, code: 123456 }, 'code'],
  ['/auth/verify-otp', { email, code: '12345' }, 'code'],
  ['/auth/verify-otp', { email, code: '1234567' }, 'code'],
  ['/auth/verify-otp', { email, code: '12345a' }, 'code'],
  ['/auth/verify-otp', { email, code: '123456\n' }, 'code'],
  ['/auth/verify-otp', { email, code: '１２３４５６' }, 'code'],
  ['/auth/verify-otp', { email, code, refreshTokenIn: 'header' }, 'refreshTokenIn'],
  ['/auth/resend-otp', {}, 'email'],
  ['/auth/resend-otp', { email, code }, 'code'],
  ['/auth/login', { email }, 'password'],
  ['/auth/login', { email, password: '' }, 'password'],
  ['/auth/login', { email, password: true }, 'password'],
  ['/auth/login', { email, password, remember: true }, 'remember'],
  ['/auth/refresh', { refreshToken: 7 }, 'refreshToken'],
  ['/auth/refresh', { refreshToken: 'x'.repeat(257) }, 'refreshToken'],
  ['/auth/refresh', { token }, 'token'],
  ['/auth/forgot-password', {}, 'email'],
  ['/auth/forgot-password', { email, redirectTo: 'https://evil.example' }, 'redirectTo'],
  ['/auth/reset-password', { password }, 'token'],
  ['/auth/reset-password', { token }, 'password'],
  ['/auth/reset-password', { token: '', password }, 'token'],
  ['/auth/reset-password', { token, password: 'nine char' }, 'password'],
  ['/auth/reset-password', { token, password, email }, 'email'],
];

test('every account call refuses a wrong field and names it', async () => {
  const service = await sharedTestApp();
  const before = await service.mailbox.unreadCount();
  for (const [path, body, field] of wrong) {
    const answer = await post(service, path, body);
    assert.equal(answer.status, 400, `${path} ${JSON.stringify(body)}: ${answer.text}`);
    assertInvalid(answer, field);
  }
  assert.equal(await service.mailbox.unreadCount(), before);
});

test('several wrong fields are named at once', async () => {
  const service = await sharedTestApp();
  const answer = await post(service, '/auth/register', { email: 'x', password: 'short', extra: 1 });
  assertInvalid(answer, 'email', 'password', 'extra');
  assertInvalid(await post(service, '/auth/register', {}), 'email', 'password');
  assertInvalid(await service.call('POST', '/auth/register'), 'email', 'password');
});

test('a body that is no object is refused as a whole', async () => {
  const service = await sharedTestApp();
  for (const body of ['[]', '"text"', '7', 'null', 'true']) {
    assertInvalid(await post(service, '/auth/login', body), 'body');
  }
});

test('odd but possible addresses and names are taken', async () => {
  const service = await sharedTestApp();
  const odd = [
    "o'hara+tag@example.com",
    'jörg@exämple.com',
    '用户@例え.jp',
    'ΑΣ@example.com',
    'İ@example.com',
    'x@sub.sub.example.com',
  ];
  for (const each of odd) {
    const name = 'Zoë \u{1f600} <b>&"\' ; drop table accounts; --';
    const answer = await post(service, '/auth/register', { email: each, password, name });
    assert.equal(answer.status, 201, `${each}: ${answer.text}`);
  }
});

const needToken = [
  ['POST', '/auth/logout'],
  ['GET', '/auth/me'],
  ['POST', '/auth/stream-ticket'],
  ['GET', '/auth/sessions'],
  ['DELETE', '/auth/sessions/01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'],
] as const;

test('what needs an account is refused without a token, and with one that is none', async () => {
  const service = await sharedTestApp();
  const headers = ['', 'Bearer', 'Bearer ', 'Bearer x', 'Basic YTpi', 'Bearer a.b.c', 'Bearer a b', 'token'];
  for (const [method, path] of needToken) {
    const bare = await service.call(method, path);
    assertProblem(bare, 401, 'unauthenticated');
    assert.match(bare.headers.get('www-authenticate') ?? '', /^Bearer/);
    for (const authorization of headers) {
      assertProblem(await service.call(method, path, { headers: { authorization } }), 401, 'unauthenticated');
    }
  }
});

test('U+0000, which cannot be stored, is refused wherever it stands, and its field is named', async () => {
  const service = await sharedTestApp();
  const withNul = 'nul \u0000 inside';
  const name = await post(service, '/auth/register', { email, password, name: withNul });
  assertProblem(name, 400, 'invalid_input');
  const login = await post(service, '/auth/login', { email, password: withNul });
  assert.ok([400, 401].includes(login.status), login.text);
  const reset = await post(service, '/auth/reset-password', { token: withNul, password });
  assert.ok([400, 401].includes(reset.status), reset.text);
  assertInvalid(name, 'name');
});
