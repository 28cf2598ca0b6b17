import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvents } from '../../sdk/events.ts';
import { ConnectionError, createClient, type DeploymentEvent } from '../../sdk/index.ts';
import { type Answer, problem, type Recorded, recorded } from './support.ts';

const id = '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b';
const bytes = (chunks: readonly string[]) =>
  ReadableStream.from(chunks.map((each) => new TextEncoder().encode(each)));
const stream = (...chunks: string[]): Answer => ({
  headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  body: bytes(chunks),
});
const line = (position: number, text: string) =>
  `id: ${position}\nevent: log\ndata: {"kind":"log","line":"${text}"}\n\n`;
const end = (position: number) =>
  `id: ${position}\nevent: end\ndata: {"kind":"end","status":"succeeded"}\n\n`;

function follow(answers: readonly Answer[]) {
  const left = [...answers];
  const { fetch, requests } = recorded(() => left.shift() ?? problem(404, 'not_found'));
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  const client = createClient({ url: 'http://slipway.test', auth: 'slw_x', fetch, wait });
  const resumed = () => requests.map(({ headers }) => headers.get('last-event-id'));
  return { client, requests, waits, resumed };
}

const told = (event: DeploymentEvent) => (event.kind === 'log' ? event.line : event.kind);

test('a stream that breaks off goes on after the last event, with no gap and none twice, until its end', async () => {
  const { client, resumed, waits } = follow([
    stream('retry: 1000\nid: 0\n\n', line(1, 'a'), 'id: 2\ndata: {"ki'),
    'reset',
    problem(503, 'shutting_down'),
    stream(line(2, 'b')),
    stream(line(3, 'c') + end(4)),
  ]);
  const seen: boolean[] = [];
  const onConnection = (isConnected: boolean) => void seen.push(isConnected);
  const events = client.followDeployment({ id, did: id }, { onConnection });
  assert.deepEqual(await Array.fromAsync(events, told), ['a', 'b', 'c', 'end']);
  assert.deepEqual(resumed(), [null, '1', '1', '1', '2']);
  assert.equal(events.lastEventId, '4');
  assert.ok(waits.length === 4 && waits.every((ms) => ms > 0));
  assert.equal(seen.at(-1), false);
});

test('one that is cut off before its first event comes back to where it began', async () => {
  const { client, resumed } = follow([stream('retry: 1000\nid: 41\n\n'), stream(end(42))]);
  await Array.fromAsync(client.followEvents());
  assert.deepEqual(resumed(), [null, '41']);
});

test('one that is over is not asked for again', async () => {
  const { client, requests } = follow([{ status: 204 }]);
  assert.deepEqual(await Array.fromAsync(client.followOperation({ id })), []);
  assert.equal(requests.length, 1);
});

/** A connection that stays open, with nothing more to say, until it is ended. */
function open({ signal }: Recorded, ...chunks: string[]): Answer {
  const body = new ReadableStream({
    start(controller) {
      for (const each of chunks) controller.enqueue(new TextEncoder().encode(each));
      signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
  });
  return { headers: { 'content-type': 'text/event-stream' }, body };
}

test('whoever leaves the loop, or aborts, ends the connection', async () => {
  const { fetch, requests } = recorded((request) => open(request, line(1, 'a')));
  const client = createClient({ url: 'http://slipway.test', fetch });
  for await (const _event of client.followDeployment({ id, did: id })) break;
  assert.equal(requests[0]?.signal?.aborted, true);
  const stopping = new AbortController();
  const reading = async () => {
    for await (const _event of client.followDeployment({ id, did: id }, { signal: stopping.signal }))
      stopping.abort(new Error('enough'));
  };
  await assert.rejects(reading(), /enough/);
  assert.equal(requests.length, 2);
});

test('a live one that breaks off says so: nobody can resume it', async () => {
  const { client, requests } = follow([stream(line(1, 'a'))]);
  const seen: string[] = [];
  const reading = async () => {
    for await (const event of client.followLogs({ id })) seen.push(event.kind);
  };
  await assert.rejects(reading(), ConnectionError);
  assert.deepEqual([seen, requests.length], [['log'], 1]);
});

test('what the service refuses ends the stream with its problem, also when it comes back', async () => {
  await assert.rejects(Array.fromAsync(follow([]).client.followEvents()), { code: 'not_found' });
  const { client } = follow([stream(line(1, 'a')), problem(401, 'unauthenticated')]);
  await assert.rejects(Array.fromAsync(client.followEvents()), { code: 'unauthenticated' });
});

test('events are read by the standard, however they are cut', async () => {
  const text =
    ': hello\r\nid: 7\r\ndata: one\r\ndata:two\r\n\r\ndata: ünï\r\rid\ndata\n\nevent: x\n\nid: 9\n\ndata: cut';
  const whole = new TextEncoder().encode(text);
  const expected = [
    { id: '7', data: 'one\ntwo' },
    { id: undefined, data: 'ünï' },
    { id: '', data: '' },
    { id: '9', data: undefined },
  ];
  for (let size = 1; size <= whole.length; size += 1) {
    const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.slice(at * size, (at + 1) * size),
    );
    const read = await Array.fromAsync(readEvents(ReadableStream.from(parts), new AbortController()));
    assert.deepEqual(read, expected, `in parts of ${size}`);
  }
});

test('a connection on which nothing comes any more is given up, and begun again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { fetch, requests } = recorded((request) =>
    requests.length === 1 ? open(request, line(5, 'a')) : stream(end(6)),
  );
  const client = createClient({ url: 'http://slipway.test', fetch, wait: async () => {} });
  const events = client.followEvents()[Symbol.asyncIterator]();
  await events.next();
  const next = events.next();
  // The timer is set when the reading has begun.
  await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(44_999);
  assert.equal(requests.length, 1);
  t.mock.timers.tick(1);
  assert.equal(Object((await next).value).kind, 'end');
  assert.equal(requests[1]?.headers.get('last-event-id'), '5');
});
