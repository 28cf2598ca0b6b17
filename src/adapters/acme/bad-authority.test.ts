import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { problem, type Reply, TestAuthority } from '../../../test/support/acme-authority.ts';
import { Workshop } from '../../../test/support/certificate-workshop.ts';
import { faultOf } from '../../../test/support/faults.ts';
import { hangMs } from '../../../test/support/until.ts';
import type { Fault, FaultCode } from '../../fault.ts';
import { createEgress } from '../egress/egress.ts';
import { type AcmeOptions, createAcme, newAccountKey, saysAuthority } from './acme.ts';

const shop = new Workshop();
const root = shop.make('Root', { isAuthority: true });
const other = shop.make('Other', { isAuthority: true });
const key = newAccountKey();
const clock = { now: () => new Date('2026-03-01T12:00:00Z') };
const place = ['dir', 'nonce', 'account', 'order', 'authz', 'challenge', 'finalize', 'certificate'] as const;
type Place = (typeof place)[number];

async function scene(t: TestContext, options: Partial<AcmeOptions> = {}) {
  const authority = await TestAuthority.start(t);
  authority.issue = (csr, names) => shop.signRequest(csr, names, root);
  const egress = createEgress({ allowPrivate: true });
  t.after(() => egress.close());
  const waited: number[] = [];
  const acme = createAcme({
    directoryUrl: authority.directoryUrl,
    userAgent: 'Slipway/test',
    fetch: egress.fetch,
    clock,
    wait: async (ms) => void waited.push(ms),
    ...options,
  });
  const run = async (
    signal = AbortSignal.timeout(hangMs),
    names: [string, ...string[]] = ['app.example.com'],
  ) => acme.order(await acme.newAccount({ key }), { names, preflight: async () => undefined, signal });
  return { authority, run, waited };
}

/** What comes of it when the authority always answers so at that address. */
async function whenIt(
  t: TestContext,
  at: Place,
  reply: Reply | ((authority: TestAuthority) => Reply),
  options: Partial<AcmeOptions> = {},
): Promise<Fault> {
  const { authority, run } = await scene(t, options);
  authority.misbehave.set(at, () => (typeof reply === 'function' ? reply(authority) : reply));
  const fault = await faultOf(() => run());
  assert.ok(!inspect(fault, { depth: 9 }).includes('PRIVATE KEY'));
  return fault;
}

function says(fault: Fault, code: FaultCode, words: RegExp): void {
  assert.equal(fault.code, code, `${fault.message} ${fault.evidence}`);
  assert.match(`${fault.message} ${fault.evidence}`, words);
  assert.ok(fault.hint);
}

test('nonsense at any of its addresses is told to be that', async (t) => {
  for (const at of place.filter((each) => each !== 'challenge' && each !== 'finalize' && each !== 'nonce')) {
    const fault = await whenIt(t, at, { body: '<html>Welcome to nginx!</html>' });
    says(fault, 'acme_nonsense', at === 'account' ? /where the account is/ : /cannot be understood/);
  }
  for (const at of place.filter((each) => each !== 'nonce'))
    says(await whenIt(t, at, { status: 404, body: '<html>none</html>' }), 'acme_nonsense', /status 404/);
});

test('answers that lack something, name other schemes or have no end are nonsense too', async (t) => {
  says(await whenIt(t, 'dir', { body: {} }), 'acme_nonsense', /must have required properties/);
  says(await whenIt(t, 'dir', { body: [] }), 'acme_nonsense', /must be object/);
  const elsewhere = (authority: TestAuthority) => ({
    ...authority.directory,
    newOrder: 'https://127.0.0.1:1/x',
  });
  says(
    await whenIt(t, 'dir', (all) => ({ body: elsewhere(all) })),
    'acme_nonsense',
    /names the address https/,
  );
  says(
    await whenIt(t, 'nonce', { headers: { 'replay-nonce': 'not allowed!' } }),
    'acme_nonsense',
    /no nonce/,
  );
  says(
    await whenIt(t, 'order', (all) => ({ body: all.order('pending') })),
    'acme_nonsense',
    /where the order is/,
  );
  says(await whenIt(t, 'certificate', { body: 'x'.repeat(600_000) }), 'acme_nonsense', /larger than/);
  const challenge = (more: object) => (all: TestAuthority) => ({
    body: all.authorization('app.example.com', 'pending', more),
  });
  for (const token of ['../../etc/passwd-0123456789', 'short', ''])
    says(await whenIt(t, 'authz', challenge({ token })), 'acme_nonsense', /token/);
  says(await whenIt(t, 'authz', challenge({ type: 'dns-01' })), 'acme_refused', /app.example.com over HTTP/);
});

test('a redirect is not followed', async (t) => {
  const fault = await whenIt(t, 'dir', { status: 302, headers: { location: 'http://127.0.0.1:1/' } });
  says(fault, 'acme_nonsense', /is a redirect/);
});

test('an authority out of order is asked again where that does no harm, and once where it could', async (t) => {
  const { authority, run, waited } = await scene(t);
  authority.misbehave.set('authz', (_, times) => (times <= 2 ? { status: 503, body: 'busy' } : undefined));
  await run();
  assert.deepEqual(waited, [1000, 3000]);
  says(await whenIt(t, 'dir', { status: 500, body: 'oops' }), 'acme_unreachable', /status 500: oops/);

  const second = await scene(t);
  second.authority.misbehave.set('order', ({ payload }) =>
    payload ? { status: 500, body: problem('serverInternal', 'Our database is down') } : undefined,
  );
  says(await faultOf(() => second.run()), 'acme_unreachable', /serverInternal: Our database is down/);
  assert.equal(second.authority.count('order'), 1);

  const later = await whenIt(t, 'nonce', { status: 503, headers: { 'retry-after': '120' } });
  assert.deepEqual([later.code, later.retryAfterSeconds], ['acme_unreachable', 120]);
});

test('one that is silent, gone, or breaks off is unreachable', async (t) => {
  says(
    await whenIt(t, 'account', { isSilent: true }, { requestMs: 300 }),
    'acme_unreachable',
    /longer than 0.3 s/,
  );
  const server = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const { run } = await scene(t, { directoryUrl: `http://127.0.0.1:${port}/dir` });
  says(await faultOf(() => run()), 'acme_unreachable', /broke off/);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  says(await faultOf(() => run()), 'acme_unreachable', /refuses the connection/);
});

test('the deadline of an order ends it, whatever it is at', async (t) => {
  const { authority, run } = await scene(t, { orderMs: 200 });
  authority.misbehave.set('finalize', () => ({ isSilent: true }));
  says(await faultOf(() => run()), 'acme_unreachable', /took longer than 0.2 s/);
  const waiting = await scene(t, { orderMs: 20_000 });
  waiting.authority.misbehave.set('order', ({ payload }) =>
    payload ? undefined : { headers: { 'retry-after': '21' }, body: waiting.authority.order('processing') },
  );
  says(await faultOf(() => waiting.run()), 'acme_unreachable', /not finished the order in time.*processing/);
});

test('who stops an order gets their own reason back', async (t) => {
  const { authority, run } = await scene(t);
  const stop = new AbortController();
  const reason = new Error('someone cancelled it');
  authority.misbehave.set('authz', () => {
    stop.abort(reason);
    return { isSilent: true };
  });
  await assert.rejects(run(stop.signal), (error) => error === reason);
});

test('a rate limit says when to come again, from the header or from the words', async (t) => {
  const words =
    'too many certificates already issued, retry after 2026-03-01 13:00:00 UTC: see https://x.example';
  const limited = (headers: Record<string, string>, status = 429) =>
    whenIt(t, 'order', { status, headers, body: problem('rateLimited', words) });
  const byHeader = await limited({ 'retry-after': '90' });
  says(byHeader, 'acme_rate_limited', /too many certificates already issued/);
  assert.equal(byHeader.retryAfterSeconds, 90);
  assert.equal((await limited({}, 403)).retryAfterSeconds, 3600);
  const date = { 'retry-after': 'Sun, 01 Mar 2026 12:10:00 GMT' };
  assert.equal((await limited(date)).retryAfterSeconds, 600);
  const bare = await whenIt(t, 'order', { status: 429, body: 'slow down' });
  assert.deepEqual([bare.code, bare.retryAfterSeconds], ['acme_rate_limited', undefined]);
});

test('a refusal carries the words of the authority, name by name', async (t) => {
  const subproblems = [
    {
      ...problem('caa', 'CAA record for a.example.com prevents issuance'),
      identifier: { value: 'a.example.com' },
    },
    { ...problem('rejectedIdentifier', 'forbidden by policy'), identifier: { value: 'b.example.com' } },
  ];
  const body = problem('malformed', 'Some of the\nnames were\u0007 rejected', { subproblems });
  const fault = await whenIt(t, 'order', { status: 400, body });
  says(fault, 'acme_refused', /Some of the names were rejected/);
  assert.deepEqual(fault.errors, [
    { path: 'a.example.com', message: 'CAA record for a.example.com prevents issuance' },
    { path: 'b.example.com', message: 'forbidden by policy' },
  ]);
  const gone = await whenIt(t, 'order', { status: 400, body: problem('accountDoesNotExist', 'unknown') });
  assert.ok(saysAuthority(gone, 'accountDoesNotExist') && !saysAuthority(gone, 'rateLimited'));
  const error = problem('caa', 'CAA record prevents issuance');
  const invalid = (all: TestAuthority): Reply => ({
    status: 201,
    headers: { location: all.directoryUrl.replace('dir', 'order/1') },
    body: all.order('invalid', {
      error,
      authorizations: [all.directoryUrl.replace('dir', 'authz/app.example.com')],
    }),
  });
  const refused = await whenIt(t, 'order', invalid);
  says(refused, 'acme_refused', /CAA record prevents issuance/);
  assert.match(refused.hint ?? '', /CAA/);
});

test('a challenge that fails says for each name what the authority saw, and where', async (t) => {
  const { authority, run } = await scene(t);
  const seen = { url: 'http://x/.well-known/acme-challenge/t', addressUsed: '192.0.2.7' };
  authority.misbehave.set('authz', ({ name }) =>
    authority.count('challenge') < 2 || name === 'good.example.com'
      ? undefined
      : {
          body: authority.authorization(name, 'invalid', {
            error: problem('unauthorized', `Invalid response from ${name}: 404`),
            validationRecord: [{ ...seen, odd: 1 }],
          }),
        },
  );
  const names: [string, ...string[]] = ['one.example.com', 'good.example.com', 'two.example.com'];
  const fault = await faultOf(() => run(undefined, names));
  says(
    fault,
    'challenge_failed',
    /one\.example\.com \(and 1 more\).*Invalid response from one\.example\.com: 404/,
  );
  assert.deepEqual(
    fault.errors?.map(({ path }) => path),
    ['one.example.com', 'two.example.com'],
  );
  assert.match(fault.evidence ?? '', /looked at http:\/\/x\/\S+ at 192\.0\.2\.7/);
  assert.match(fault.hint ?? '', /Another server answers/);
  assert.equal(authority.count('finalize'), 0);
});

test('a certificate for other names, another key, a past time or with a broken chain is never taken', async (t) => {
  const name = ['app.example.com'];
  const strange = shop.make('strange', { names: ['DNS:app.example.com'], by: root }).pem;
  const wrong = [
    [
      (csr: Buffer) => shop.signRequest(csr, ['evil.example.com'], root),
      /for DNS:evil.example.com, not for app/,
    ],
    [(csr: Buffer) => shop.signRequest(csr, ['*.example.com'], root), /not for app\.example\.com/],
    [() => strange, /for another key/],
    [
      (csr: Buffer) => shop.signRequest(csr, name, root) + other.pem,
      /certificate 1 of its chain is not signed/,
    ],
    [(csr: Buffer) => shop.signRequest(csr, name, root).replace(/\nM.{12}/, '\n'), /cannot be read/],
    [() => 'hello', /0 certificates/],
  ] as const;
  for (const [issue, words] of wrong) {
    const { authority, run } = await scene(t);
    authority.issue = issue;
    says(await faultOf(() => run()), 'acme_nonsense', words);
  }
  const { run } = await scene(t, { clock: { now: () => new Date('2099-01-01') } });
  says(await faultOf(() => run()), 'acme_nonsense', /ended on/);
});
