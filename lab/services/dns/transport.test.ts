import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { hangMs } from '../../../test/support/until.ts';
import { startDns } from './dns.ts';
import { rcodes } from './lookup.ts';
import {
  askTcp,
  askUdp,
  encodeAsk,
  read,
  resolverFor,
  sendTcp,
  sendUdp,
  startTestDns,
} from './test-client.ts';

/** About 900 bytes on the wire: more than 512, less than 1232. */
const middling = Array.from({ length: 24 }, (_, index) => `192.0.2.${index}`);
const long = 'x'.repeat(2000);

test('UDP and TCP listen on one port, also when the system picks it', async (t) => {
  const servers = await Promise.all(Array.from({ length: 8 }, () => startTestDns(t)));
  assert.equal(new Set(servers.map(({ port }) => port)).size, 8);
  for (const { port } of servers) {
    assert.equal((await askUdp(port, { name: 'lab.test', type: 'NS' })).answers.length, 1);
    assert.equal((await askTcp(port, { name: 'lab.test', type: 'NS' })).answers.length, 1);
  }
});

test('an answer that does not fit is cut at the size the client named, and whole over TCP', async (t) => {
  const dns = await startTestDns(t);
  dns.set('many.lab.test', 'A', middling);
  dns.set('long.lab.test', 'TXT', [long]);
  const cases = [
    { name: 'many.lab.test', type: 'A', cut: true },
    { name: 'many.lab.test', type: 'A', udpPayloadSize: 100, cut: true },
    { name: 'many.lab.test', type: 'A', udpPayloadSize: 600, cut: true },
    { name: 'many.lab.test', type: 'A', udpPayloadSize: 1232, cut: false },
    { name: 'many.lab.test', type: 'A', udpPayloadSize: 4096, cut: false },
    { name: 'long.lab.test', type: 'TXT', udpPayloadSize: 4096, cut: true },
  ];
  for (const { cut, ...ask } of cases) {
    const shown = JSON.stringify(ask);
    const overUdp = await askUdp(dns.port, ask);
    assert.equal(overUdp.packet.flag_tc, cut, shown);
    assert.ok(overUdp.size <= Math.max(512, ask.udpPayloadSize ?? 0), shown);
    assert.equal(
      overUdp.packet.additionals?.length,
      ask.udpPayloadSize === undefined ? 0 : 1,
      `EDNS of ${shown}`,
    );
    const overTcp = await askTcp(dns.port, ask);
    assert.equal(overTcp.packet.flag_tc, false, shown);
    assert.equal(overTcp.answers.length, ask.type === 'A' ? middling.length : 1, shown);
  }
});

test('a long TXT value is split at 255 bytes, and a resolver fetches it over TCP by itself', async (t) => {
  const dns = await startTestDns(t);
  const value = `${'ü'.repeat(200)}${long}`;
  dns.set('long.lab.test', 'TXT', [value]);
  const resolver = resolverFor(dns);
  const [strings = []] = await resolver.resolveTxt('long.lab.test');
  assert.equal(strings.length, Math.ceil(Buffer.byteLength(value) / 255));
  const { answers } = await askTcp(dns.port, { name: 'long.lab.test', type: 'TXT' });
  const [answer] = answers;
  assert.ok(answer?.type === 'TXT' && Array.isArray(answer.data));
  const parts = answer.data.map((part) => Buffer.from(part));
  assert.ok(parts.every((part) => part.length <= 255));
  assert.equal(Buffer.concat(parts).toString(), value);
  assert.deepEqual(
    dns.queries('long.lab.test').map(({ transport }) => transport),
    ['udp', 'tcp', 'tcp'],
  );
});

test('TXT values at the edges of 255 bytes lose nothing and get no string too many', async (t) => {
  const dns = await startTestDns(t);
  for (const [length, expected] of [
    [0, [0]],
    [255, [255]],
    [256, [255, 1]],
    [510, [255, 255]],
    [511, [255, 255, 1]],
  ] as const) {
    dns.set('edge.lab.test', 'TXT', ['x'.repeat(length)]);
    const [answer] = (await askTcp(dns.port, { name: 'edge.lab.test', type: 'TXT' })).answers;
    assert.ok(answer?.type === 'TXT' && Array.isArray(answer.data));
    assert.deepEqual(
      answer.data.map((part) => part.length),
      expected,
    );
  }
});

test('a set that no message could carry is refused, and what together grows too large fails over TCP', async (t) => {
  const dns = await startTestDns(t);
  assert.throws(
    () => dns.set('big.lab.test', 'TXT', ['x'.repeat(65_000)]),
    /more than a DNS message can carry/,
  );
  dns.set('big.lab.test', 'TXT', ['x'.repeat(50_000)]);
  assert.equal((await askTcp(dns.port, { name: 'big.lab.test', type: 'ANY' })).answers.length, 1);
  dns.set('big.lab.test', 'CAA', [`0 issue "${'x'.repeat(40_000)}"`]);
  assert.equal((await askTcp(dns.port, { name: 'big.lab.test', type: 'ANY' })).rcode, rcodes.SERVFAIL);
});

test('several questions on one TCP connection are all answered, also after the client has said its last', async (t) => {
  const dns = await startTestDns(t);
  dns.set('a.lab.test', 'A', ['192.0.2.1']);
  const queries = ['a.lab.test', 'b.lab.test', 'a.lab.test'].map((name, index) => {
    const query = encodeAsk({ name, type: 'A' });
    query.writeUInt16BE(index, 0);
    return query;
  });
  for (const half of [false, true]) {
    const replies = (await sendTcp(dns.port, queries, half)).map(read);
    const seen = replies.map((reply) => [reply.packet.id, reply.rcode]).sort();
    assert.deepEqual(
      seen,
      [
        [0, 0],
        [1, rcodes.NXDOMAIN],
        [2, 0],
      ],
      `half closed: ${half}`,
    );
  }
});

test('what it does not do is refused by its proper code', async (t) => {
  const dns = await startTestDns(t);
  const asked = (change: (query: Buffer) => void, type = 'A') => {
    const query = encodeAsk({ name: 'lab.test', type });
    change(query);
    return sendUdp(dns.port, query).then(read);
  };
  const end = encodeAsk({ name: 'lab.test', type: 'A' }).length;
  assert.equal((await asked((query) => query.writeUInt16BE(0x2800, 2))).rcode, rcodes.NOTIMP, 'UPDATE');
  assert.equal(
    (await asked((query) => query.writeUInt16BE(2, 4))).rcode,
    rcodes.FORMERR,
    'two questions, one there',
  );
  assert.equal((await asked((query) => query.writeUInt16BE(0, 4))).rcode, rcodes.FORMERR, 'no question');
  assert.equal((await asked((query) => query.writeUInt16BE(3, end - 2))).rcode, rcodes.REFUSED, 'class CH');
  assert.equal((await asked(() => undefined, 'AXFR')).rcode, rcodes.REFUSED, 'zone transfer');
  assert.equal((await asked((query) => query.write('.', 14))).rcode, rcodes.FORMERR, 'a dot within a label');
  assert.equal(
    (await asked((query) => query.fill(0xff, 13, 14))).rcode,
    rcodes.FORMERR,
    'a label that is no text',
  );
  const version = await askUdp(dns.port, {
    name: 'lab.test',
    type: 'A',
    udpPayloadSize: 1232,
    ednsVersion: 1,
  });
  const [opt] = version.packet.additionals ?? [];
  assert.ok(opt?.type === 'OPT');
  assert.deepEqual([version.rcode, opt.extendedRcode, opt.ednsVersion], [0, 1, 0], 'BADVERS');
  const outside = await askUdp(dns.port, { name: 'elsewhere.example', type: 'A' });
  assert.deepEqual([outside.rcode, outside.packet.flag_aa], [rcodes.REFUSED, false]);
});

test('garbage is answered where it can be, and the server lives on', async (t) => {
  const dns = await startTestDns(t);
  const socket = createSocket('udp4');
  t.after(() => {
    socket.close();
  });
  const whole = encodeAsk({ name: 'lab.test', type: 'NS', udpPayloadSize: 1232 });
  const replied: Buffer[] = [];
  socket.on('message', (bytes) => replied.push(bytes));
  const cuts = whole.map((_, length) => length);
  let seed = 7;
  const noise = Array.from({ length: 200 }, () => {
    const bytes = Buffer.from(whole);
    seed = (seed * 48_271) % 2_147_483_647;
    bytes[seed % bytes.length] = seed & 0xff;
    // The answer bit stays clear, so that every one of these is due an answer.
    bytes.writeUInt16BE(bytes.readUInt16BE(2) & 0x7fff, 2);
    return bytes;
  });
  const packets = [Buffer.alloc(0), ...[...cuts].map((length) => whole.subarray(0, length)), ...noise];
  for (const bytes of packets)
    await new Promise((resolve) => socket.send(bytes, dns.port, '127.0.0.1', resolve));
  assert.equal((await askUdp(dns.port, { name: 'lab.test', type: 'NS' })).answers.length, 1);
  const signal = AbortSignal.timeout(hangMs);
  while (replied.length < noise.length) await once(socket, 'message', { signal });
  assert.ok(replied.every((bytes) => (bytes.readUInt16BE(2) & 0x8000) !== 0));
});

test('an answer is never answered, which would go on without end', async (t) => {
  const dns = await startTestDns(t);
  const query = encodeAsk({ name: 'lab.test', type: 'NS' });
  const answer = Buffer.from(query);
  answer.writeUInt16BE(0x8000, 2);
  answer.writeUInt16BE(1, 0);
  const replies = await sendTcp(dns.port, [answer, query], true);
  assert.deepEqual(
    replies.map((reply) => reply.readUInt16BE(0)),
    [4711],
  );
});

test('closing ends open connections at once, sets the port free, and may be done twice', async (t) => {
  const dns = await startTestDns(t);
  const client = connect(dns.port, '127.0.0.1');
  t.after(() => {
    client.destroy();
  });
  await once(client, 'connect');
  const ended = once(client, 'close');
  client.resume();
  await Promise.all([dns.close(), dns.close()]);
  await ended;
  const again = await startDns({
    address: '127.0.0.1',
    port: dns.port,
    nameServer: '127.0.0.1',
    upstreams: [],
  });
  t.after(() => again.close());
  assert.equal(again.port, dns.port);
  await assert.rejects(
    startDns({ address: '127.0.0.1', port: dns.port, nameServer: '127.0.0.1', upstreams: [] }),
    { code: 'EADDRINUSE' },
  );
});
