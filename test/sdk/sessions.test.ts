import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientSession, ConnectionError, createClient, type Tokens } from '../../sdk/index.ts';
import { type Answer, memoryStore, problem, type Recorded, recorded } from './support.ts';

const later = () => Date.now() + 600_000;
const first: Tokens = { accessToken: 'access-1', expiresAt: later(), refreshToken: 'refresh-1' };
const issued = (number: number, refreshToken?: string) => ({
  body: { accessToken: `access-${number}`, expiresIn: 900, ...(refreshToken && { refreshToken }) },
});

/** Takes one access token, and gives the next for each refresh. */
function service(accepted: string, refreshed: (request: Recorded) => Answer) {
  return recorded((request) => {
    if (request.url.endsWith('/auth/refresh')) return refreshed(request);
    const isKnown = request.headers.get('authorization') === `Bearer ${accepted}`;
    return isKnown ? { body: { id: 'me' } } : problem(401, 'unauthenticated');
  });
}

const refreshes = (requests: readonly Recorded[]) =>
  requests.filter(({ url }) => url.endsWith('/auth/refresh'));

test('twenty calls with an expired token share one refresh, which is stored before any goes on', async () => {
  const store = memoryStore({ ...first, expiresAt: Date.now() });
  const { fetch, requests } = service('access-2', () => issued(2, 'refresh-2'));
  const client = createClient({ url: 'http://slipway.test', auth: new ClientSession(store), fetch });
  await Promise.all(Array.from({ length: 20 }, () => client.getMe()));
  assert.deepEqual(
    refreshes(requests).map(({ body }) => body),
    ['{"refreshToken":"refresh-1"}'],
  );
  assert.equal(requests.length, 21, 'no call was made with the token that had expired');
  assert.equal(store.written[0]?.refreshToken, 'refresh-2');
});

test('a token that the service refuses is replaced, and the calls are made again', async () => {
  const store = memoryStore(first);
  const { fetch, requests } = service('access-2', () => issued(2, 'refresh-2'));
  const client = createClient({ url: 'http://slipway.test', auth: new ClientSession(store), fetch });
  const change = client.updateServer({ id: 'a', body: { name: 'x' } });
  await Promise.all([client.getMe(), change, client.getMe()]);
  assert.equal(refreshes(requests).length, 1);
  assert.equal(requests.filter(({ method }) => method === 'PATCH').length, 2);
});

test('whoever finds that another process has refreshed takes that', async () => {
  const store = memoryStore(first);
  const session = new ClientSession(store);
  const { fetch, requests } = service('access-9', () => issued(2));
  const client = createClient({ url: 'http://slipway.test', auth: session, fetch });
  // Its tokens are read once; another process writes before this one has the turn.
  const inTime = store.alone;
  store.alone = async (work) => {
    await store.write({ accessToken: 'access-9', expiresAt: later(), refreshToken: 'refresh-9' });
    return inTime(work);
  };
  await client.getMe();
  assert.equal(refreshes(requests).length, 0);
});

test('the cookie of a browser is what refreshes where nothing is stored', async () => {
  const session = new ClientSession();
  const { fetch, requests } = service('access-1', () => issued(1));
  const client = createClient({ fetch, auth: session });
  await client.getMe();
  assert.deepEqual(
    requests.map(({ url, body }) => [url, body]),
    [
      ['/api/v1/auth/refresh', '{}'],
      ['/api/v1/auth/me', undefined],
    ],
  );
});

test('a session that has ended is forgotten, and not asked for again until the next sign-in', async () => {
  const store = memoryStore({ ...first, expiresAt: 0 });
  const session = new ClientSession(store);
  const { fetch, requests } = service('access-3', () => problem(401, 'invalid_refresh_token'));
  const client = createClient({ url: 'http://slipway.test', auth: session, fetch });
  for (let call = 0; call < 2; call += 1) await assert.rejects(client.getMe(), { code: 'unauthenticated' });
  assert.equal(refreshes(requests).length, 1);
  assert.deepEqual(store.written, [undefined]);
  await session.accept({ accessToken: 'access-3', expiresIn: 900, refreshToken: 'refresh-3' });
  await client.getMe();
});

test('a refresh that gets no answer is not sent twice, and loses no tokens', async () => {
  const store = memoryStore({ ...first, expiresAt: 0 });
  const { fetch, requests } = service('', () => 'reset');
  const wait = async () => {};
  const client = createClient({ url: 'http://slipway.test', auth: new ClientSession(store), fetch, wait });
  await assert.rejects(client.updateServer({ id: 'a', body: {} }), ConnectionError);
  assert.equal(refreshes(requests).length, 1);
  assert.deepEqual(store.written, []);
});
