import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import * as packet from 'dns-packet';
import { hangMs } from '../../../test/support/until.ts';
import { startTestDns } from './test-client.ts';

async function ask(port: number, name: string, flags: number): Promise<packet.DecodedPacket> {
  const socket = createSocket('udp4');
  try {
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(hangMs) });
    const questions: packet.Question[] = [{ name, type: 'TXT' }];
    socket.send(packet.encode({ type: 'query', id: 7, flags, questions }), port, '127.0.0.1');
    const [bytes] = await answered;
    return packet.decode(bytes);
  } finally {
    socket.close();
  }
}

const textsOf = ({ answers = [] }: packet.DecodedPacket) =>
  answers.flatMap((answer) => (answer.type === 'TXT' ? [String(answer.data)] : []));
const rcodeOf = ({ flags = 0 }: packet.DecodedPacket) => flags & 0xf;

test('what is remembered is told to who asks for recursion, until it is forgotten', async (t) => {
  const dns = await startTestDns(t);
  dns.set('app.lab.test', 'TXT', ['new']);
  dns.remember('App.lab.test', 'TXT', ['old'], 300);
  const remembered = await ask(dns.port, 'app.lab.test', packet.RECURSION_DESIRED);
  assert.deepEqual(textsOf(remembered), ['old']);
  assert.equal(remembered.flag_aa, false);
  const own = await ask(dns.port, 'app.lab.test', 0);
  assert.deepEqual(textsOf(own), ['new']);
  assert.equal(own.flag_aa, true);
  dns.remember('app.lab.test', 'TXT', [], 120);
  const nothing = await ask(dns.port, 'app.lab.test', packet.RECURSION_DESIRED);
  assert.deepEqual(textsOf(nothing), []);
  const [soa] = nothing.authorities ?? [];
  assert.ok(soa?.type === 'SOA' && soa.ttl === 120 && soa.name === 'lab.test');
  assert.deepEqual(dns.remembered(), [{ name: 'app.lab.test', type: 'TXT', values: [], ttl: 120 }]);
  assert.equal(dns.forget('app.lab.test'), 1);
  assert.deepEqual(textsOf(await ask(dns.port, 'app.lab.test', packet.RECURSION_DESIRED)), ['new']);
});

test('bad signatures fail who lets the resolver validate, and nobody else', async (t) => {
  const dns = await startTestDns(t);
  dns.set('app.lab.test', 'TXT', ['value']);
  dns.fail('app.lab.test', 'bogus');
  assert.equal(rcodeOf(await ask(dns.port, 'app.lab.test', packet.RECURSION_DESIRED)), 2);
  const anyway = packet.RECURSION_DESIRED | packet.CHECKING_DISABLED;
  assert.deepEqual(textsOf(await ask(dns.port, 'app.lab.test', anyway)), ['value']);
  assert.deepEqual(textsOf(await ask(dns.port, 'app.lab.test', 0)), ['value']);
});
