import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { decode, encode } from 'dns-packet';
import { faultOf } from '../../../test/support/faults.ts';
import { lookupAt } from './address-guard.ts';
import { createEgress } from './egress.ts';

const known: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'both.test.example': { A: ['8.8.8.8', '8.8.4.4'], AAAA: ['2606:4700::1111'] },
  'four.test.example': { A: ['8.8.8.8'] },
  'inner.test.example': { A: ['10.0.0.1'] },
};

test('all addresses of a name are asked for at the servers that were set, and there only', async (t) => {
  const server = createSocket('udp4');
  t.after(() => server.close());
  const asked: string[] = [];
  server.on('message', (message, from) => {
    const query = decode(message);
    const [question] = query.questions ?? [];
    assert.ok(question);
    asked.push(question.name);
    const found = known[question.name]?.[question.type] ?? [];
    const type = question.type === 'AAAA' ? 'AAAA' : 'A';
    const reply = encode({
      type: 'response',
      id: query.id ?? 0,
      // 3 is «no such name».
      flags: known[question.name] ? 0 : 3,
      questions: [question],
      answers: found.map((data) => ({ type, name: question.name, ttl: 1, data })),
    });
    server.send(reply, from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const dnsServers = [`127.0.0.1:${server.address().port}`];
  const lookup = lookupAt(dnsServers);
  const sorted = async (name: string) => [...(await lookup(name))].sort();
  assert.deepEqual(await sorted('both.test.example'), ['2606:4700::1111', '8.8.4.4', '8.8.8.8']);
  assert.deepEqual(await sorted('four.test.example'), ['8.8.8.8']);
  await assert.rejects(lookup('none.test.example'), { code: 'ENOTFOUND' });
  assert.ok((await lookup('localhost')).every((address) => ['127.0.0.1', '::1'].includes(address)));
  assert.ok(!asked.includes('localhost'));
  const egress = createEgress({ allowPrivate: false, dnsServers });
  t.after(() => egress.close());
  assert.equal((await egress.resolve('both.test.example')).length, 3);
  assert.equal((await faultOf(() => egress.resolve('inner.test.example'))).code, 'egress_refused');
  assert.equal((await faultOf(() => egress.fetch('http://none.test.example/'))).code, 'egress_failed');
});
