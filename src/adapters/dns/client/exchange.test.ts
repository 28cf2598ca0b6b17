import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import * as packet from 'dns-packet';
import { exchange } from './exchange.ts';

const query = { name: 'a.test', type: 'TXT', isRecursive: false } as const;
const address = '127.62.0.1';

function answerTo(bytes: Buffer, text: string, flags = packet.AUTHORITATIVE_ANSWER): Buffer {
  const { id = 0, questions = [] } = packet.decode(bytes);
  const answers: packet.Answer[] = [{ name: 'a.test', type: 'TXT', ttl: 1, data: text }];
  return packet.encode({ type: 'response', id, questions, flags, answers });
}

async function listenUdp(t: TestContext, at: string, port = 0) {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(port, at);
  await once(socket, 'listening');
  return socket;
}

async function listenTcp(t: TestContext, port: number, serve: (socket: Socket, bytes: Buffer) => void) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', (bytes) => serve(socket, bytes.subarray(2)));
  });
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  server.listen(port, address);
  await once(server, 'listening');
}

test('an answer that comes from another address than the asked one is not taken', async (t) => {
  const asked = await listenUdp(t, address);
  const stranger = await listenUdp(t, '127.62.0.2');
  const forged = once(stranger, 'message');
  asked.on('message', (bytes, from) => {
    stranger.send(answerTo(bytes, 'forged'), from.port, from.address);
    // The stranger hears that it has sent, and only then does the right answer go.
    stranger.send('sent', stranger.address().port, '127.62.0.2');
    forged.then(() => asked.send(answerTo(bytes, 'right'), from.port, from.address));
  });
  const { port } = asked.address();
  const reply = await exchange({ address, port }, query, { timeoutMs: 5_000, signal: t.signal });
  assert.ok(reply.kind === 'answer' && reply.transport === 'udp');
  assert.deepEqual(
    reply.message.answers.map((record) => (record.type === 'TXT' ? record.text : undefined)),
    ['right'],
  );
});

test('ids and source ports are other ones each time', async (t) => {
  const asked = await listenUdp(t, address);
  const seen: { id: number; port: number }[] = [];
  asked.on('message', (bytes, from) => {
    seen.push({ id: bytes.readUInt16BE(0), port: from.port });
    asked.send(answerTo(bytes, 'x'), from.port, from.address);
  });
  const { port } = asked.address();
  for (let round = 0; round < 20; round++)
    await exchange({ address, port }, query, { timeoutMs: 5_000, signal: t.signal });
  assert.ok(new Set(seen.map(({ id }) => id)).size > 15);
  assert.ok(new Set(seen.map((each) => each.port)).size > 15);
});

test('an answer that was cut is fetched over TCP, byte by byte where it comes so', async (t) => {
  const asked = await listenUdp(t, address);
  const { port } = asked.address();
  asked.on('message', (bytes, from) =>
    asked.send(answerTo(bytes, 'cut', packet.TRUNCATED_RESPONSE), from.port, from.address),
  );
  await listenTcp(t, port, async (socket, bytes) => {
    const whole = answerTo(bytes, 'whole');
    socket.setNoDelay(true);
    for (const byte of [whole.length >> 8, whole.length & 0xff, ...whole])
      await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
  });
  const reply = await exchange({ address, port }, query, { timeoutMs: 5_000, signal: t.signal });
  assert.ok(reply.kind === 'answer' && reply.transport === 'tcp');
  const [record] = reply.message.answers;
  assert.ok(record?.type === 'TXT' && record.text === 'whole');
});

test('a connection that closes too early, or goes on without end, is silence', async (t) => {
  const first = await listenUdp(t, address);
  const options = { signal: t.signal, tcpOnly: true };
  await listenTcp(t, first.address().port, (socket) => socket.end(Buffer.from([1, 0, 5])));
  const early = await exchange({ address, port: first.address().port }, query, {
    ...options,
    timeoutMs: 5_000,
  });
  assert.ok(early.kind === 'silence' && /before it is whole/.test(early.why));
  const second = await listenUdp(t, address);
  await listenTcp(t, second.address().port, (socket) => {
    const flood = () => socket.writable && socket.write(Buffer.alloc(70_000, 0xff), flood);
    flood();
  });
  const endless = await exchange({ address, port: second.address().port }, query, {
    ...options,
    timeoutMs: 5_000,
  });
  assert.ok(endless.kind === 'silence' && /makes no sense/.test(endless.why));
});

test('nobody there is silence at once, and an abort is no answer', async (t) => {
  const closed = await listenUdp(t, address);
  const { port } = closed.address();
  const reply = await exchange({ address: '127.62.0.3', port }, query, {
    timeoutMs: 5_000,
    signal: t.signal,
  });
  assert.deepEqual(reply, { kind: 'silence', why: 'nothing listens there', isOurs: false });
  const stop = new AbortController();
  const waiting = exchange({ address, port }, query, { timeoutMs: 60_000, signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
});
