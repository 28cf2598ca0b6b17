import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { faultOf } from '../../../test/support/faults.ts';
import { freshToken, openAt, type Reply, startHost } from '../../../test/support/git-host.ts';
import { after } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { Secret } from '../../secret.ts';
import { type GitHostKind, gitCredentials, normalBaseUrl, openGitHost } from './git-hosts.ts';

const kinds = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
const ref = (kind: GitHostKind) => ({ id: kind === 'bitbucket' ? '{7}' : '7' });

for (const kind of kinds) {
  test(`${kind}: each kind of bad answer has its own fault, and none shows the token`, async (t) => {
    const token = freshToken();
    const echo = `you sent ${token} and ${Buffer.from(`ada:${token}`).toString('base64')}`;
    const cases: readonly (readonly [string, Reply])[] = [
      ['provider_rejected', { status: 401, json: { message: echo } }],
      ['provider_scopes_missing', { status: 403, json: { message: echo } }],
      ['repository_not_found', { status: 404, json: { message: echo } }],
      ['provider_failed', { status: 500, json: { message: echo } }],
      ['provider_failed', { status: 503, text: `<html>${echo}</html>` }],
      ['provider_failed', { status: 422, json: { message: echo } }],
      ['provider_failed', { status: 410, json: { message: echo } }],
      ['provider_failed', { status: 200, text: `<html>${echo}</html>` }],
      ['provider_failed', { status: 200, json: { message: echo } }],
      ['provider_failed', { status: 200, json: [echo] }],
      ['provider_failed', { status: 200, json: null }],
      ['provider_failed', { status: 200 }],
      ['provider_failed', { status: 302, headers: { location: 'http://169.254.169.254/' } }],
      ['provider_failed', { status: 302 }],
    ];
    let reply: Reply = {};
    const host = await startHost(t, () => reply);
    const opened = await openAt(kind, host.url, { token, username: 'ada' });
    for (const [code, answer] of cases) {
      reply = answer;
      const fault = await faultOf(() => opened.repository(ref(kind)));
      const shown = JSON.stringify(answer);
      assert.equal(fault.code, code, shown);
      assert.ok(fault.hint, shown);
      for (const text of [inspect(fault, { depth: 9 }), JSON.stringify(fault), fault.stack ?? '']) {
        assert.ok(!text.includes(token), `${shown}: ${text}`);
        assert.ok(!text.includes(Buffer.from(`ada:${token}`).toString('base64')), shown);
      }
    }
  });

  test(`${kind}: a host that is told to be a ${kind} and has no account there is not one`, async (t) => {
    const host = await startHost(t, () => undefined);
    const fault = await faultOf(async () => (await openAt(kind, host.url)).account());
    assert.equal(fault.code, 'provider_failed');
    assert.match(fault.hint ?? '', /address is that of the Git host/);
  });

  test(`${kind}: after «too many» nothing is sent until the time that was named`, async (t) => {
    let time = new Date('2026-01-01T00:00:00Z');
    const token = freshToken();
    let reply: Reply = { status: 429, headers: { 'retry-after': '30' }, json: {} };
    const host = await startHost(t, () => reply);
    const open = () => openAt(kind, host.url, { token, clock: { now: () => time } });
    const opened = await open();
    const first = await faultOf(() => opened.repository(ref(kind)));
    assert.deepEqual([first.code, first.retryAfterSeconds], ['provider_rate_limited', 30]);
    time = after(time, 20_000);
    const second = await faultOf(async () => (await open()).repository(ref(kind)));
    assert.deepEqual([second.code, second.retryAfterSeconds], ['provider_rate_limited', 10]);
    assert.equal(host.requests.length, 1, 'the second was not sent');
    time = after(time, 10_000);
    reply = { status: 429, json: {} };
    const third = await faultOf(() => opened.repository(ref(kind)));
    assert.deepEqual([third.retryAfterSeconds, host.requests.length], [60, 2], 'no time was named');
    const other = await openAt(kind, host.url);
    assert.equal((await faultOf(() => other.repository(ref(kind)))).retryAfterSeconds, 60);
    assert.equal(host.requests.length, 3, 'another token has limits of its own');
    time = after(time, 60_000);
    reply = {
      status: 429,
      headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': String(time.getTime() / 1000 + 90) },
    };
    assert.equal((await faultOf(() => opened.repository(ref(kind)))).retryAfterSeconds, 90);
    time = after(time, 90_000);
    reply = { status: 429, headers: { 'retry-after': '99999999' } };
    assert.equal((await faultOf(() => opened.repository(ref(kind)))).retryAfterSeconds, 3_600, 'a mistake');
  });

  test(`${kind}: nobody there, a guard that refuses, and a caller that stops are told apart`, async (t) => {
    const access = { kind, baseUrl: 'http://127.0.0.1:9', token: new Secret(freshToken()) };
    const failing = (error: unknown) => openGitHost(access, () => Promise.reject(error));
    const gone = new Fault('egress_failed', 'It refuses the connection.', { evidence: 'ECONNREFUSED' });
    const unreachable = await faultOf(async () => (await failing(gone)).repository(ref(kind)));
    assert.deepEqual(
      [unreachable.code, unreachable.evidence],
      ['provider_unreachable', 'It refuses the connection. ECONNREFUSED'],
    );
    const plain = await faultOf(async () =>
      (await failing(new TypeError('fetch failed'))).repository(ref(kind)),
    );
    assert.equal(plain.code, 'provider_unreachable');
    const refusal = new Fault('egress_refused', 'It is private.');
    assert.equal(await faultOf(async () => (await failing(refusal)).repository(ref(kind))), refusal);
    const host = await startHost(t, () => 'silence');
    const opened = await openAt(kind, host.url);
    const stop = new AbortController();
    const waiting = opened.repository(ref(kind), stop.signal);
    const reason = new Error('enough');
    setImmediate(() => stop.abort(reason));
    await assert.rejects(waiting, (error) => error === reason);
  });
}

test('each kind has its usual address, and one that was given is brought into one form', () => {
  const forms: readonly (readonly [GitHostKind, string | undefined, string])[] = [
    ['github', undefined, 'https://github.com'],
    ['github', 'https://api.github.com/', 'https://github.com'],
    ['github', 'https://GHE.example.com/api/v3/', 'https://ghe.example.com'],
    ['gitlab', 'https://example.com/gitlab///', 'https://example.com/gitlab'],
    ['gitlab', ' https://example.com/gitlab/api/v4?x=1#y ', 'https://example.com/gitlab'],
    ['gitea', 'http://10.0.0.1:3000', 'http://10.0.0.1:3000'],
    ['bitbucket', 'https://api.bitbucket.org/2.0', 'https://bitbucket.org'],
  ];
  for (const [kind, given, normal] of forms) assert.equal(normalBaseUrl(kind, given), normal, String(given));
});

test('an address that is none, or carries credentials, is refused without showing them', async () => {
  for (const given of ['ftp://example.com', 'example.com', '', 'https://ada:canary@example.com']) {
    const fault = await faultOf(() => normalBaseUrl('gitlab', given));
    assert.equal(fault.code, 'invalid_input');
    assert.ok(!inspect(fault).includes('canary'));
  }
});

test('requests go to the API that belongs to the address', async () => {
  const asked: string[] = [];
  const refuse = (url: string) => {
    asked.push(url);
    return Promise.resolve(new Response('{}', { status: 401 }));
  };
  const at = async (kind: GitHostKind, baseUrl: string) =>
    faultOf(async () => (await openGitHost({ kind, baseUrl, token: new Secret('t') }, refuse)).account());
  for (const kind of kinds) await at(kind, normalBaseUrl(kind));
  await at('github', 'https://ghe.example.com');
  await at('github', 'https://acme.ghe.com');
  assert.deepEqual(asked, [
    'https://api.github.com/user',
    'https://gitlab.com/api/v4/user',
    'https://gitea.com/api/v1/user',
    'https://api.bitbucket.org/2.0/user',
    'https://ghe.example.com/api/v3/user',
    'https://api.acme.ghe.com/user',
  ]);
});

test('git is given the user name that each host wants with a token', () => {
  const token = new Secret('t');
  const name = (kind: GitHostKind, username?: string) =>
    gitCredentials({ kind, baseUrl: '', token, ...(username !== undefined && { username }) }).username;
  assert.deepEqual(
    [name('github'), name('gitlab'), name('gitea'), name('bitbucket')],
    ['x-access-token', 'oauth2', 'oauth2', 'x-token-auth'],
  );
  assert.deepEqual(
    [name('bitbucket', 'ada'), name('bitbucket', 'a@b.c')],
    ['ada', 'x-bitbucket-api-token-auth'],
  );
  assert.equal(gitCredentials({ kind: 'github', baseUrl: '', token }).password, token);
});
