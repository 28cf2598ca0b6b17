/** Streams as a weapon: each holds a connection and memory for as long as its reader likes. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import type { TestApp } from '../support/app.ts';
import { newPerson, type Person } from '../support/people.ts';
import { assertProblem } from '../support/problems.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { openStream, type Reader } from '../support/sse.ts';
import { until } from '../support/until.ts';

const env = { SLIPWAY_LIMIT_STREAMS: '5', SLIPWAY_LIMIT_STREAMS_TOTAL: '12' };
const eventsOf = ({ url }: TestApp) => `${url}/api/v1/events`;

async function open(service: TestApp, person: Person, count: number): Promise<Reader[]> {
  const readers = [];
  for (let index = 0; index < count; index += 1)
    readers.push(await openStream(eventsOf(service), { token: person.token }));
  return readers;
}

const statuses = (readers: readonly Reader[]) => readers.map(({ status }) => status);
const close = (readers: readonly Reader[]) => {
  for (const each of readers) each.close();
};
/** Nothing is left of the tests before. */
const noneOpen = (service: TestApp) => until(() => service.app.streams.count === 0, 'all streams to end');

test('whoever opens streams without end has as many as an account may, and is told what to do', async () => {
  const service = await sharedTestApp(env);
  const mallory = await newPerson(service);
  const readers = await open(service, mallory, 8);
  assert.deepEqual(statuses(readers), [200, 200, 200, 200, 200, 429, 429, 429]);
  const refused = await service.call('GET', '/events', { token: mallory.token });
  assertProblem(refused, 429, 'rate_limited');
  assert.match(String(refused.body.detail), /5 streams open/);
  assert.match(String(refused.body.hint), /close/i);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  const ada = await newPerson(service);
  const others = await open(service, ada, 1);
  assert.deepEqual(statuses(others), [200], 'others have their own');
  // Another session of the account is no way around it.
  const { email, password } = mallory;
  const again = await service.call('POST', '/auth/login', { body: { email, password } });
  const more = await openStream(eventsOf(service), { token: String(again.body.accessToken) });
  assert.equal(more.status, 429);
  close([...readers, ...others]);
  await noneOpen(service);
});

test('a stream counts no more once it has ended, whether it was closed, cut, or its session ended', async () => {
  const service = await sharedTestApp(env);
  const ada = await newPerson(service);
  const isFree = async () => {
    const [reader] = await open(service, ada, 1);
    assert.ok(reader);
    reader.close();
    return reader.status === 200;
  };
  for (let round = 0; round < 3; round += 1) {
    const readers = await open(service, ada, 5);
    assert.deepEqual(statuses(readers), [200, 200, 200, 200, 200], `round ${round}`);
    close(readers);
    await until(isFree, 'a stream to be free');
    await noneOpen(service);
  }
  const sockets = await Promise.all(Array.from({ length: 5 }, () => rawStream(service, ada)));
  assert.equal((await open(service, ada, 1))[0]?.status, 429);
  for (const socket of sockets) socket.resetAndDestroy();
  await until(isFree, 'a stream to be free');
  await noneOpen(service);
});

test('readers that vanish while they are still being let in leave nothing behind', async () => {
  const service = await sharedTestApp(env);
  const ada = await newPerson(service);
  for (let index = 0; index < 40; index += 1) (await rawStream(service, ada, 'leave')).destroy();
  await noneOpen(service);
  const readers = await open(service, ada, 5);
  assert.deepEqual(statuses(readers), [200, 200, 200, 200, 200]);
  close(readers);
  await noneOpen(service);
});

test('what many accounts open together has an end too', async () => {
  const service = await sharedTestApp(env);
  const readers: Reader[] = [];
  for (let index = 0; index < 3; index += 1)
    readers.push(...(await open(service, await newPerson(service), 5)));
  assert.equal(readers.filter(({ status }) => status === 200).length, 12);
  assert.match(readers.at(-1)?.body ?? '', /SLIPWAY_LIMIT_STREAMS_TOTAL/);
  close(readers);
  await noneOpen(service);
});

test('a question that is answered by a stream counts among them', async () => {
  const service = await sharedTestApp(env);
  const ada = await newPerson(service);
  const readers = await open(service, ada, 5);
  const post = JSON.stringify({ serverId: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b' });
  const url = `${service.url}/api/v1/servers/test-connection`;
  assert.equal((await openStream(url, { token: ada.token, post })).status, 429);
  close(readers);
  await noneOpen(service);
});

/** On a connection of its own, which can be cut or left. */
function rawStream({ url }: TestApp, { token }: Person, wait: 'open' | 'leave' = 'open'): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      if (wait === 'leave') resolve(socket);
    });
    socket.once('error', reject);
    socket.once('data', () => resolve(socket));
  });
}
