import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { hangMs } from '../../../test/support/until.ts';
import { startDns } from './dns.ts';
import { rcodes } from './lookup.ts';
import {
  askTcp,
  askUdp,
  encodeAsk,
  sendTcp,
  sendUdp,
  startTestDns,
  type TestContext,
} from './test-client.ts';
import { shownUpstream, upstreamOf } from './upstream.ts';

/** A UDP server that answers with what the function makes of a query; undefined is silence. */
async function startStub(t: TestContext, answer: (query: Buffer) => Buffer | undefined): Promise<string> {
  const socket = createSocket('udp4');
  t.after(() => {
    socket.close();
  });
  socket.on('message', (query, remote) => {
    const reply = answer(query);
    if (reply) socket.send(reply, remote.port, remote.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${socket.address().port}`;
}

/** The query turned into an answer with this code. */
function coded(query: Buffer, rcode: number): Buffer {
  const reply = Buffer.from(query);
  reply.writeUInt16BE(0x8000 | rcode, 2);
  return reply;
}

async function startUpstream(t: TestContext) {
  const dns = await startTestDns(t, { zones: ['up.example'] });
  dns.set('app.up.example', 'A', ['192.0.2.5']);
  return { dns, at: `127.0.0.1:${dns.port}` };
}

test('a name of no zone of ours is asked of the upstream, and its answer comes back as it was', async (t) => {
  const { dns: upstream, at } = await startUpstream(t);
  const dns = await startTestDns(t, { upstreams: [at] });
  const reply = await askUdp(dns.port, { name: 'aPp.uP.example', type: 'A', udpPayloadSize: 1232 });
  assert.equal(reply.packet.id, 4711);
  assert.equal(reply.packet.questions?.[0]?.name, 'aPp.uP.example');
  assert.deepEqual(
    reply.answers.map((each) => 'data' in each && each.data),
    ['192.0.2.5'],
  );
  assert.equal((await askTcp(dns.port, { name: 'no.up.example', type: 'A' })).rcode, rcodes.NXDOMAIN);
  const half = await sendTcp(dns.port, [encodeAsk({ name: 'no.up.example', type: 'A' })], true);
  assert.equal(half.length, 1, 'also to a client that has closed its own half meanwhile');
  assert.equal((await askUdp(dns.port, { name: 'lab.test', type: 'NS' })).packet.flag_ra, true);
  assert.equal(upstream.queries('lab.test').length, 0, 'our own names are not asked elsewhere');
  assert.equal(upstream.queries('app.up.example').length, 1);
});

test('an answer the upstream has cut is fetched over TCP, and cut again only for a client that cannot take it', async (t) => {
  const { dns: upstream, at } = await startUpstream(t);
  upstream.set('long.up.example', 'TXT', ['x'.repeat(2000)]);
  const dns = await startTestDns(t, { upstreams: [at] });
  const ask = { name: 'long.up.example', type: 'TXT', udpPayloadSize: 1232 };
  const cut = await askUdp(dns.port, ask);
  assert.deepEqual([cut.packet.flag_tc, cut.answers.length], [true, 0]);
  assert.equal(cut.packet.questions?.[0]?.name, ask.name);
  const whole = await askTcp(dns.port, ask);
  assert.deepEqual([whole.packet.flag_tc, whole.answers.length], [false, 1]);
  assert.deepEqual(
    upstream.queries(ask.name).map(({ transport }) => transport),
    ['udp', 'tcp', 'udp', 'tcp'],
  );
});

test('one upstream after the other is asked: past the dead, the silent, the failing and the unwilling', async (t) => {
  const { at } = await startUpstream(t);
  const dead = await startTestDns(t);
  await dead.close();
  const silent = await startStub(t, () => undefined);
  const failing = await startStub(t, (query) => coded(query, rcodes.SERVFAIL));
  const unwilling = await startStub(t, (query) => coded(query, rcodes.REFUSED));
  const upstreams = [`127.0.0.1:${dead.port}`, silent, failing, unwilling, at];
  const dns = await startTestDns(t, { upstreams, upstreamTimeoutMs: 200 });
  const reply = await askUdp(dns.port, { name: 'app.up.example', type: 'A' });
  assert.deepEqual([reply.rcode, reply.answers.length], [0, 1]);
  const said = dns.queries('app.up.example')[0]?.answer ?? '';
  assert.match(said, new RegExp(`^NOERROR; 127.0.0.1:${dead.port}: .*ECONNREFUSED`));
  assert.match(said, new RegExp(`${silent}: no answer within 200 ms`));
  assert.match(said, /answered with code 2.*answered with code 5/);
});

test('when no upstream answers it is SERVFAIL, and when they only refuse it is their refusal', async (t) => {
  const silent = await startStub(t, () => undefined);
  const dns = await startTestDns(t, { upstreams: [silent, silent], upstreamTimeoutMs: 100 });
  const none = await askUdp(dns.port, { name: 'app.up.example', type: 'A' });
  assert.deepEqual([none.rcode, none.packet.flag_ra, none.packet.flag_aa], [rcodes.SERVFAIL, true, false]);
  const refusing = await startStub(t, (query) => coded(query, rcodes.REFUSED));
  const other = await startTestDns(t, { upstreams: [refusing, silent], upstreamTimeoutMs: 100 });
  assert.equal((await askUdp(other.port, { name: 'app.up.example', type: 'A' })).rcode, rcodes.REFUSED);
});

test('an upstream that cuts its answer and then has no TCP counts as failing', async (t) => {
  const cutting = await startStub(t, (query) => coded(query, 0x0200));
  const dns = await startTestDns(t, { upstreams: [cutting], upstreamTimeoutMs: 500 });
  assert.equal((await askUdp(dns.port, { name: 'a.example', type: 'A' })).rcode, rcodes.SERVFAIL);
  assert.match(dns.queries('a.example')[0]?.answer ?? '', /ECONNREFUSED/);
});

test('answers with a wrong id or to another question are passed over', async (t) => {
  const wrongId = await startStub(t, (query) => {
    const reply = coded(query, 0);
    reply.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0);
    return reply;
  });
  const wrongName = await startStub(t, (query) => {
    const reply = coded(query, 0);
    reply.write('z', 13);
    return reply;
  });
  const question = await startStub(t, (query) => query);
  const dns = await startTestDns(t, { upstreams: [wrongId, wrongName, question], upstreamTimeoutMs: 100 });
  assert.equal((await askUdp(dns.port, { name: 'a.example', type: 'A' })).rcode, rcodes.SERVFAIL);
  assert.equal(dns.queries('a.example')[0]?.answer?.match(/no answer within/g)?.length, 3);
});

test('closing does not wait for an upstream, silent over UDP or TCP', { timeout: hangMs }, async (t) => {
  const asked = Promise.withResolvers<void>();
  const silent = await startStub(t, () => {
    asked.resolve();
    return undefined;
  });
  const cutting = await startStub(t, (query) => coded(query, 0x0200));
  const accepted = createServer((socket) => socket.resume());
  t.after(() => {
    accepted.close();
  });
  accepted.listen(upstreamOf(cutting).port, '127.0.0.1');
  await once(accepted, 'listening');
  const connected = once(accepted, 'connection');
  for (const [at, waiting] of [
    [silent, asked.promise],
    [cutting, connected],
  ] as const) {
    const dns = await startTestDns(t, { upstreams: [at], upstreamTimeoutMs: 60_000 });
    const client = createSocket('udp4');
    t.after(() => {
      client.close();
    });
    client.send(encodeAsk({ name: 'a.example', type: 'A' }), dns.port, '127.0.0.1');
    await waiting;
    await dns.close();
  }
});

test('a fault of a name that would be forwarded keeps the upstream from being asked', async (t) => {
  const { dns: upstream, at } = await startUpstream(t);
  const dns = await startTestDns(t, { upstreams: [at] });
  dns.fail('app.up.example', 'servfail');
  assert.equal((await askUdp(dns.port, { name: 'app.up.example', type: 'A' })).rcode, rcodes.SERVFAIL);
  assert.deepEqual(upstream.queries(), []);
  dns.fail('app.up.example', undefined);
  const bytes = await sendUdp(dns.port, encodeAsk({ name: 'app.up.example', type: 'A' }));
  assert.equal(bytes.readUInt16BE(6), 1);
});

test('upstreams are addresses with or without a port, and never the server itself', async (t) => {
  assert.deepEqual(upstreamOf('192.0.2.1'), { address: '192.0.2.1', port: 53 });
  assert.deepEqual(upstreamOf('192.0.2.1:5353'), { address: '192.0.2.1', port: 5353 });
  assert.deepEqual(upstreamOf('2001:db8::1'), { address: '2001:db8::1', port: 53 });
  assert.deepEqual(upstreamOf('[2001:db8::1]:5353'), { address: '2001:db8::1', port: 5353 });
  assert.equal(shownUpstream(upstreamOf('2001:db8::1')), '[2001:db8::1]:53');
  for (const wrong of ['', 'dns.example', '192.0.2.1:0', '192.0.2.1:70000', '[192.0.2.1', '192.0.2.1:'])
    assert.throws(() => upstreamOf(wrong), /is no upstream: give an address/, wrong);
  const free = await startTestDns(t);
  await free.close();
  const upstreams = [`127.0.0.1:${free.port}`];
  const itself = { address: '127.0.0.1', port: free.port, nameServer: '127.0.0.1', upstreams };
  await assert.rejects(startDns(itself), /is this server/);
  const after = await startDns({ ...itself, upstreams: [] });
  await after.close();
});
