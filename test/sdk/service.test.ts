/** The SDK against the service itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { all, ClientSession, createClient, ProblemError } from '../../sdk/index.ts';
import { appendEvents } from '../../src/events/events.ts';
import type { TestApp } from '../support/app.ts';
import { newPerson } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { minutes } from '../support/steps.ts';
import { until } from '../support/until.ts';
import { memoryStore } from './support.ts';

const newServer = (name: string) =>
  ({ name, host: '127.0.0.1', port: 9, auth: { type: 'generated' } }) as const;

async function signedIn(service: TestApp) {
  const { email, password } = await newPerson(service);
  const session = new ClientSession(memoryStore(undefined));
  const calls: string[] = [];
  const counting: typeof fetch = (address, init) => {
    calls.push(new URL(String(address)).pathname);
    return fetch(address, init);
  };
  const client = createClient({ url: service.url, auth: session, fetch: counting });
  const answer = await client.login({ body: { email, password, refreshTokenIn: 'body' } });
  assert.ok('accessToken' in answer);
  await session.accept(answer);
  return { client, email, session, calls };
}

test('a sign-in lasts: its tokens are replaced once for all calls that need it', async () => {
  const service = await sharedTestApp();
  const { client, email, calls } = await signedIn(service);
  for (let hour = 0; hour < 2; hour += 1) {
    service.clock.advance(16 * minutes);
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.getMe()));
    assert.deepEqual(new Set(answers.map((each) => each.email)), new Set([email]));
  }
  assert.equal(calls.filter((path) => path.endsWith('/auth/refresh')).length, 2);
});

test('a session that was ended elsewhere is not revived', async () => {
  const service = await sharedTestApp();
  const { client, session } = await signedIn(service);
  await client.logout();
  await assert.rejects(client.getMe(), { code: 'unauthenticated' });
  await session.clear();
  await assert.rejects(client.getMe(), { code: 'unauthenticated' });
});

test('work is begun once, however often its answer is lost', async () => {
  const service = await sharedTestApp();
  const { client } = await signedIn(service);
  const { token } = await client.createApiToken({ body: { name: 'sdk', abilities: ['manage'] } });
  let lost = 0;
  const losing: typeof fetch = async (address, init) => {
    const answer = await fetch(address, init);
    await answer.arrayBuffer();
    lost += 1;
    if (lost < 3) throw new TypeError('fetch failed');
    return fetch(address, init);
  };
  const program = createClient({ url: service.url, auth: token, fetch: losing, wait: async () => {} });
  const { id } = await program.registerServer({ body: newServer('once') });
  const servers = await Array.fromAsync(all(client.listServers), (each) => each.id);
  assert.deepEqual([servers, lost], [[id], 3]);
});

test('an error of the service has its code, its hint and the fields', async () => {
  const service = await sharedTestApp();
  const { client } = await signedIn(service);
  const error = await client
    .registerServer({ body: { ...newServer('x'), port: 99_999 } })
    .catch((each) => each);
  assert.ok(error instanceof ProblemError);
  assert.equal(error.code, 'invalid_input');
  assert.deepEqual(
    error.problem.errors?.map(({ path }) => path),
    ['port'],
  );
});

test('a stream goes on over a connection that is cut, with events from meanwhile, and ends by its signal', async () => {
  const service = await sharedTestApp();
  const { client: signed, session } = await signedIn(service);
  const me = await signed.getMe();
  const workspaceId = me.workspaces[0]?.id ?? assert.fail('no workspace');
  const tell = (name: string) =>
    service.app.store.db.transaction((tx) =>
      appendEvents(tx, Object({ workspaceId, feedId: workspaceId }), [
        { kind: 'project_updated', data: { name } },
      ]),
    );
  const cuts: AbortController[] = [];
  const cutting: typeof fetch = (address, init) => {
    const cut = new AbortController();
    cuts.push(cut);
    return fetch(address, {
      ...init,
      signal: AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]),
    });
  };
  // Nothing is tried again before the test has told what happened meanwhile.
  const waiting = Promise.withResolvers<void>();
  const client = createClient({
    url: service.url,
    auth: session,
    fetch: cutting,
    wait: () => waiting.promise,
  });
  const stopping = new AbortController();
  const names: unknown[] = [];
  let isConnected = false;
  const onConnection = (is: boolean) => {
    isConnected = is;
  };
  const reading = (async () => {
    for await (const event of client.followEvents({}, { signal: stopping.signal, onConnection }))
      names.push(Object(event).name);
  })();
  await until(() => isConnected);
  cuts[0]?.abort();
  await until(() => !isConnected);
  await tell('while it was cut off');
  waiting.resolve();
  await until(() => names.length === 1);
  await tell('after');
  await until(() => names.length === 2);
  stopping.abort();
  await assert.rejects(reading, { name: 'AbortError' });
  assert.deepEqual(names, ['while it was cut off', 'after']);
  assert.equal(cuts.length, 2);
});
