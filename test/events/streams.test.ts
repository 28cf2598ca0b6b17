import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { appendEvents, pruneEvents } from '../../src/events/events.ts';
import type { OperationId, WorkspaceId } from '../../src/ids.ts';
import { newId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { newPerson, type Person, text } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { openStream, type ReadEvent, type Reader } from '../support/sse.ts';
import { hangMs, until } from '../support/until.ts';

interface Tenant extends Person {
  readonly workspaceId: WorkspaceId;
}

async function newTenant(service: TestApp): Promise<Tenant> {
  const person = await newPerson(service);
  const me = await service.call('GET', '/auth/me', { token: person.token });
  return { ...person, workspaceId: Object(me.body.workspaces)[0].id };
}

function tell(service: TestApp, workspaceId: WorkspaceId, ...names: string[]): Promise<void> {
  const events = names.map((name) => ({ kind: 'project_updated', data: { name } }));
  return service.app.store.db.transaction((tx) =>
    appendEvents(tx, { workspaceId, feedId: workspaceId }, events),
  );
}

async function take(reader: Reader, count: number): Promise<ReadEvent[]> {
  const events: ReadEvent[] = [];
  for await (const event of reader.events()) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

async function untilEnd(reader: Reader): Promise<void> {
  for await (const _event of reader.events());
}

test('a stream carries id, kind and data, and resumes after any of them, by header or query', async () => {
  const service = await sharedTestApp();
  const ada = await newTenant(service);
  await tell(service, ada.workspaceId, 'a', 'b', 'c');
  const url = `${service.url}/api/v1/events`;
  const all = await take(await openStream(`${url}?after=0`, { token: ada.token }), 3);
  assert.deepEqual(
    all.map(({ id }) => id),
    [1, 2, 3],
  );
  assert.deepEqual(
    all.map(({ event }) => event),
    Array(3).fill('project_updated'),
  );
  assert.equal(all[0]?.data.kind, 'project_updated');
  assert.match(text(all[0]?.data.at), /^\d{4}-\d\d-\d\dT.*Z$/);
  const rest = await take(await openStream(url, { token: ada.token, lastEventId: 2 }), 1);
  assert.deepEqual(
    rest.map(({ data }) => data.name),
    ['c'],
  );

  const live = await openStream(url, { token: ada.token });
  const next = take(live, 1);
  await tell(service, ada.workspaceId, 'd');
  assert.deepEqual(
    (await next).map(({ data }) => data.name),
    ['d'],
    'without a position: only what comes',
  );
});

test('a position that was never given out is refused with words', async () => {
  const service = await sharedTestApp();
  const ada = await newTenant(service);
  for (const lastEventId of ['1', '-1', 'abc', '99999999999999999999']) {
    const answer = await service.call('GET', '/events', {
      token: ada.token,
      headers: { 'last-event-id': lastEventId },
    });
    assert.equal(answer.status, 400, lastEventId);
    assert.equal(Object(answer.body.errors)[0].path, 'Last-Event-ID');
  }
  assert.equal((await service.call('GET', '/events')).status, 401);
  assert.equal((await service.call('GET', '/events?nonsense=1', { token: ada.token })).status, 400);
});

test('nobody sees, resumes into, or counts the events of another workspace', async () => {
  const service = await sharedTestApp();
  const [ada, grace] = [await newTenant(service), await newTenant(service)];
  await tell(service, grace.workspaceId, ...Array.from({ length: 40 }, (_, index) => `g${index}`));
  await tell(service, ada.workspaceId, 'own');
  const url = `${service.url}/api/v1/events`;
  const seen = await take(await openStream(`${url}?after=0`, { token: ada.token }), 1);
  assert.deepEqual(
    seen.map(({ id, data }) => [id, data.name]),
    [[1, 'own']],
    'her own position, from 1',
  );
  const into = await service.call('GET', '/events', { token: ada.token, headers: { 'last-event-id': '40' } });
  assert.equal(into.status, 400, 'a position of the other feed is none of hers');
  const headers = { 'slipway-workspace': grace.workspaceId };
  assert.equal((await service.call('GET', '/events', { token: ada.token, headers })).status, 404);

  // Someone who gets hold of another's id and writes under it, in their own workspace, is heard by nobody else.
  const open = await openStream(`${url}?after=40`, { token: grace.token });
  const next = take(open, 1);
  const feed = { workspaceId: ada.workspaceId, feedId: grace.workspaceId };
  await service.app.store.db.transaction((tx) => appendEvents(tx, feed, [{ kind: 'forged', data: {} }]));
  await tell(service, grace.workspaceId, 'hers');
  assert.deepEqual(
    (await next).map(({ id, event, data }) => [id, event, data.name]),
    [[41, 'project_updated', 'hers']],
  );
});

test('a ticket opens a stream once', async () => {
  const service = await sharedTestApp();
  const ada = await newTenant(service);
  const issued = await service.call('POST', '/auth/stream-ticket', { token: ada.token });
  const url = `${service.url}/api/v1/events?ticket=${text(issued.body.ticket)}`;
  const stream = await openStream(url);
  assert.equal(stream.status, 200);
  assert.equal((await openStream(url)).status, 401);
  stream.close();
});

test('a stream ends at once when its session ends or its place in the workspace goes, on any instance', {
  timeout: hangMs,
}, async (t) => {
  const one = await sharedTestApp();
  // No heartbeat comes while this runs, so that none can be what ends them.
  const two = await startTestApp(t, { beside: one, heartbeatMs: 2 * hangMs });
  const open = async (person: Person) => {
    const stream = await openStream(`${two.url}/api/v1/events`, { token: person.token });
    assert.equal(stream.status, 200);
    return { ended: untilEnd(stream) };
  };
  const [ada, grace, joan] = [await newTenant(one), await newTenant(one), await newTenant(one)];
  const streams = [await open(ada), await open(grace), await open(joan)];
  assert.equal((await one.call('POST', '/auth/logout', { token: ada.token })).status, 204);
  await one.call('POST', '/auth/forgot-password', { body: { email: grace.email } });
  const token = await one.mailbox.resetToken(grace.email);
  await one.call('POST', '/auth/reset-password', { body: { token, password: 'quite another one' } });
  await one.app.store.db.run(sql`delete from memberships where account_id = ${joan.accountId}`);
  await Promise.all(streams.map(({ ended }) => ended));
});

test('a heartbeat keeps the line open', async (t) => {
  const service = await startTestApp(t, { heartbeatMs: 50 });
  const ada = await newTenant(service);
  const stream = await openStream(`${service.url}/api/v1/events`, { token: ada.token });
  const reading = untilEnd(stream);
  await until(() => stream.comments() >= 3);
  stream.close();
  await reading;
});

test('a reader that does not read is cut, and what waits for it stays bounded', async (t) => {
  const service = await sharedTestApp();
  const ada = await newTenant(service);
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  const head = [
    'GET /api/v1/events HTTP/1.1',
    `Host: ${hostname}`,
    `Authorization: Bearer ${ada.token}`,
    '',
    '',
  ];
  socket.write(head.join('\r\n'));
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  const cut = new Promise<void>((resolve) => socket.once('close', resolve));
  let told = 0;
  const filler = 'x'.repeat(60_000);
  while (service.app.streams.count > 0 && told < 2_000) {
    await tell(service, ada.workspaceId, filler);
    told += 1;
  }
  assert.equal(service.app.streams.count, 0, 'it was cut');
  socket.resume();
  await cut;
  assert.ok(told * filler.length < 60_000_000, `after ${told} events`);
});

test('where the log was shortened, the reader is told to begin anew instead of getting a hole', async () => {
  const service = await sharedTestApp();
  const ada = await newTenant(service);
  await tell(service, ada.workspaceId, 'old', 'older');
  await pruneEvents(service.app.store.db, new Date(Date.now() + 60_000));
  await tell(service, ada.workspaceId, 'new');
  const url = `${service.url}/api/v1/events`;
  const events = await take(await openStream(url, { token: ada.token, lastEventId: 1 }), 2);
  assert.deepEqual(
    events.map(({ id, event }) => [id, event]),
    [
      [2, 'reset'],
      [3, 'project_updated'],
    ],
  );
});

test('a stop ends all streams at once, and waits for no connection that never said anything', async (t) => {
  const service = await startTestApp(t);
  const ada = await newTenant(service);
  const stream = await openStream(`${service.url}/api/v1/events`, { token: ada.token });
  const ended = untilEnd(stream);
  const { hostname, port } = new URL(service.url);
  const silent = connect(Number(port), hostname);
  t.after(() => silent.destroy());
  await new Promise((resolve) => silent.once('connect', resolve));
  // What cuts the connections that are left when the time for a stop has run out.
  const cut = t.mock.method(service.app.server.server, 'closeAllConnections');
  await service.app.stop();
  await ended;
  assert.equal(cut.mock.callCount(), 0);
});

test('an operation is shown, followed to its end and listed, to its own workspace only', async () => {
  const service = await sharedTestApp();
  const [ada, grace] = [await newTenant(service), await newTenant(service)];
  const { db } = service.app.store;
  const id = newId<OperationId>();
  await db.transaction(async (tx) => {
    await tx.run(sql`
      insert into operations (workspace_id, id, kind, input) values (${ada.workspaceId}, ${id}, 'unknown-kind', '{}')`);
    await appendEvents(tx, { workspaceId: ada.workspaceId, feedId: id }, [
      { kind: 'status', data: { status: 'queued' } },
    ]);
  });
  const path = `/operations/${id}`;
  const shown = await service.call('GET', path, { token: ada.token });
  assert.equal(shown.status, 200, shown.text);
  assert.equal(shown.body.status, 'queued');
  for (const [method, suffix] of [
    ['GET', ''],
    ['GET', '/events'],
    ['POST', '/cancel'],
  ] as const) {
    const other = await service.call(method, `${path}${suffix}`, { token: grace.token });
    assert.equal(other.status, 404, `${method} ${suffix}`);
    assert.equal((await service.call(method, `${path}${suffix}`)).status, 401);
  }
  assert.deepEqual((await service.call('GET', '/operations', { token: grace.token })).body.items, []);

  const stream = await openStream(`${service.url}/api/v1${path}/events`, { token: ada.token });
  const whole = take(stream, 99);
  const cancelled = await service.call('POST', `${path}/cancel`, { token: ada.token });
  assert.equal(cancelled.status, 202, cancelled.text);
  assert.equal(cancelled.headers.get('location'), `/api/v1${path}`);
  assert.equal(cancelled.body.status, 'cancelled');
  const events = await whole;
  assert.deepEqual(
    events.map(({ event, data }) => [event, data.status]),
    [
      ['status', 'queued'],
      ['status', 'cancelled'],
      ['end', 'cancelled'],
    ],
  );
  const again = await service.call('POST', `${path}/cancel`, { token: ada.token });
  assert.equal(again.status, 409);
  assert.equal(again.body.code, 'already_finished');
  const after = await openStream(`${service.url}/api/v1${path}/events`, { token: ada.token, lastEventId: 3 });
  assert.equal(after.status, 204, 'who has the end is told to come no more');
  const listed = await service.call('GET', '/operations', { token: ada.token });
  assert.equal(Object(listed.body.items)[0].id, id);
});
