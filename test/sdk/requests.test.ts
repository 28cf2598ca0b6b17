import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../sdk/client.ts';
import {
  all,
  type ClientOptions,
  ClientSession,
  ConnectionError,
  createClient,
  ProblemError,
} from '../../sdk/index.ts';
import { apiDocument } from '../support/document.ts';
import { type Answer, memoryStore, problem, recorded } from './support.ts';

const canary = 'slw_CanaryCanaryCanaryCanaryCanaryCana123456';
const id = '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b';

/** Calls every function once, with all that its path needs, and gives back what was sent. */
async function walk(options: ClientOptions) {
  const { fetch, requests } = recorded(() => ({ body: {} }));
  const client = createClient({ url: 'https://slipway.test/', fetch, ...options });
  for (const { name, path, marks } of operations()) {
    const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, place = '']) => [place, `${id}/?#`]);
    const body = /[jf]/.test(marks) ? { body: { password: canary, token: canary } } : {};
    const call: unknown = Object.entries(client).find(([each]) => each === name)?.[1];
    assert.ok(typeof call === 'function');
    const answer = call({ ...Object.fromEntries(places), ...body });
    if (!/[el]/.test(marks)) await answer;
    else
      await assert.rejects(async () => (await answer[Symbol.asyncIterator]().next()).value, ConnectionError);
  }
  return requests;
}

test('no token is ever in an address, whatever is called and however one is signed in', async () => {
  const session = new ClientSession(
    memoryStore({ accessToken: canary, expiresAt: Number.MAX_SAFE_INTEGER, refreshToken: `r${canary}` }),
  );
  for (const auth of [canary, session]) {
    const requests = await walk({ auth });
    assert.equal(requests.length, operations().length);
    const telling = requests.filter(({ url }) => /canary|ticket=|token=/i.test(url));
    assert.deepEqual(telling, []);
  }
  // What could be put there by a caller: no operation takes a secret in its query.
  const secret = /token|ticket|password|secret/i;
  const asked = [...apiDocument().operations.values()].flatMap(({ operationId, parameters }) =>
    parameters.filter((each) => each.in !== 'header' && secret.test(each.name)).map(() => operationId),
  );
  assert.deepEqual(asked, []);
});

test('each function asks its operation, with the headers that the document gives it and no others', async () => {
  const workspace = '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1c';
  const requests = await walk({ auth: canary, workspace });
  const keys = new Set<string | null>();
  for (const [at, { name }] of operations().entries()) {
    const { method, url, headers } = requests[at] ?? assert.fail(name);
    const { pathname, origin } = new URL(url);
    assert.equal(origin, 'https://slipway.test');
    const operation = apiDocument().find(method, pathname) ?? assert.fail(`${name}: ${method} ${pathname}`);
    assert.equal(operation.operationId, name);
    const declares = (header: string) =>
      operation.parameters.some((each) => each.in === 'header' && each.name === header);
    assert.equal(headers.get('slipway-workspace'), declares('Slipway-Workspace') ? workspace : null, name);
    assert.equal(headers.has('idempotency-key'), declares('Idempotency-Key'), name);
    const needsSignIn = operation.responses.has('401') && operation.responses.has('403');
    if (needsSignIn && !url.includes('/auth/') && !/metrics|readyz/.test(url))
      assert.equal(headers.get('authorization'), `Bearer ${canary}`, name);
    keys.add(headers.get('idempotency-key'));
  }
  const keyed = operations().filter(({ marks }) => marks.includes('k')).length;
  assert.equal(keys.size, keyed + 1, 'each call has a key of its own');
  const login = requests.find(({ url }) => url.endsWith('/auth/login'));
  assert.equal(login?.headers.get('authorization'), null, 'who signs in is not signed in');
});

function failing(answers: readonly Answer[], auth: ClientOptions['auth'] = canary) {
  const left = [...answers];
  const { fetch, requests } = recorded(() => left.shift() ?? { body: { done: true } });
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  return { client: createClient({ url: 'http://slipway.test', auth, fetch, wait }), requests, waits };
}

const limited = (retryAfter?: string): Answer => ({
  ...problem(429, 'rate_limited'),
  headers: {
    'content-type': 'application/problem+json',
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  },
});

test('a look is tried again after 429 and 503, as long after as was asked for', async () => {
  const { client, requests, waits } = failing([limited('7'), problem(503, 'database_unavailable'), 'reset']);
  assert.deepEqual(await client.getServer({ id }), { done: true });
  assert.equal(requests.length, 4);
  assert.equal(waits[0], 7_000);
  const [, second = 0, third = 0] = waits;
  assert.ok(second >= 500 && second <= 1_000 && third >= 1_000 && third <= 2_000, `${waits}`);
});

test('work with a key is tried again with the same key', async () => {
  const { client, requests } = failing(['reset', problem(409, 'idempotency_in_progress'), limited('0')]);
  await client.deploy({ id });
  assert.equal(requests.length, 4);
  assert.equal(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size, 1);
  assert.deepEqual(
    requests.map(({ body }) => body),
    Array.from({ length: 4 }, () => '{}'),
  );
});

test('what could be done twice, and what asks for a long wait, is not tried again', async () => {
  const change = failing([limited('1')]);
  await assert.rejects(change.client.updateServer({ id, body: { name: 'x' } }), {
    name: 'ProblemError',
    code: 'rate_limited',
    retryAfter: 1,
  });
  const long = failing([limited('61')]);
  await assert.rejects(long.client.getServer({ id }), { code: 'rate_limited', retryAfter: 61 });
  const wrong = failing([problem(404, 'not_found')]);
  await assert.rejects(wrong.client.getServer({ id }), { code: 'not_found' });
  assert.deepEqual(
    [change, long, wrong].map(({ requests }) => requests.length),
    [1, 1, 1],
  );
  const gone = failing(Array.from({ length: 9 }, () => 'reset' as const));
  await assert.rejects(gone.client.getServer({ id }), ConnectionError);
  assert.equal(gone.requests.length, 5, 'and not for ever');
});

test('an error says what the service said', async () => {
  const { client } = failing([problem(404, 'not_found', { hint: 'Check the id.' })]);
  const error = await client.getServer({ id }).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ProblemError);
  assert.equal(error.message, 'The test said no.');
  assert.deepEqual([error.status, error.hint, error.requestId], [404, 'Check the id.', 'req-1']);
});

test('another program at the address is told apart from Slipway', async () => {
  const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>It works!</h1>' };
  await assert.rejects(
    failing([page]).client.getMe(),
    /answers with 200, but not as Slipway does: <h1>It works/,
  );
  await assert.rejects(failing([{ ...page, status: 404 }]).client.getMe(), /answers with 404, but not as/);
});

test('an id that is empty is refused before it leads to another operation', async () => {
  const { client, requests } = failing([]);
  await assert.rejects(client.getServer({ id: '' }), /id is missing/);
  assert.equal(requests.length, 0);
});

test('an abort ends the call, also while it waits to be tried again', async () => {
  const stopping = new AbortController();
  const { fetch } = recorded(() => {
    stopping.abort(new Error('enough'));
    return limited('30');
  });
  const client = createClient({ url: 'http://slipway.test', fetch });
  await assert.rejects(client.getServer({ id }, { signal: stopping.signal }), /enough/);
});

test('all of a list comes page by page', async () => {
  const { client, requests } = failing([
    { body: { items: [{ id: 'a' }, { id: 'b' }], nextCursor: 'c1' } },
    { body: { items: [{ id: 'c' }], nextCursor: null } },
  ]);
  const servers = all((page) => client.listServers({ limit: 2, ...page }));
  const found = await Array.fromAsync(servers, (server) => server.id);
  assert.deepEqual(found, ['a', 'b', 'c']);
  assert.deepEqual(
    requests.map(({ url }) => new URL(url).search),
    ['?limit=2', '?limit=2&cursor=c1'],
  );
});

test('a file is sent as a form whose fields come before it', async () => {
  const { client, requests } = failing([]);
  await client.importDump({ id, body: { file: new Blob(['select 1']), serviceId: id } });
  const [request] = requests;
  assert.deepEqual([...(request?.form ?? [])], ['serviceId', 'file']);
});

test('what takes long to send is not given up like an answer that does not come', async () => {
  const { fetch, requests } = recorded(() => ({ body: {} }));
  const client = createClient({ url: 'https://slipway.test', auth: canary, fetch, timeoutMs: 1 });
  const file = new Blob(['x']);
  await client.getMe();
  await client.deployUpload({ id, body: file });
  await client.importDump({ id, body: { file } });
  // Made after theirs: when this one is over, theirs would be.
  await new Promise((resolve) => AbortSignal.timeout(2).addEventListener('abort', resolve));
  assert.deepEqual(
    requests.map(({ signal }) => signal?.aborted),
    [true, false, false],
  );
});
