import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askUdp, resolverFor, startTestDns } from './test-client.ts';

test('faults fail the name they are for, also behind an alias, until they are taken back', async (t) => {
  const dns = await startTestDns(t);
  dns.set('app.lab.test', 'A', ['192.0.2.1']);
  dns.set('www.lab.test', 'CNAME', ['app.lab.test']);
  const resolver = resolverFor(dns);
  const codes = { servfail: 'ESERVFAIL', nxdomain: 'ENOTFOUND', refused: 'EREFUSED' } as const;
  for (const fault of ['servfail', 'nxdomain', 'refused'] as const) {
    dns.fail('App.lab.test', fault);
    assert.deepEqual(dns.faults(), [{ name: 'app.lab.test', fault }]);
    for (const name of ['app.lab.test', 'www.lab.test'])
      await assert.rejects(resolver.resolve4(name), { code: codes[fault] }, `${fault} of ${name}`);
    dns.fail('app.lab.test', undefined);
    assert.deepEqual(await resolver.resolve4('www.lab.test'), ['192.0.2.1']);
  }
  const impatient = resolverFor(dns, 100);
  dns.fail('app.lab.test', 'timeout');
  await assert.rejects(impatient.resolve4('www.lab.test'), { code: 'ETIMEOUT' });
  dns.fail('elsewhere.example', 'nxdomain');
  await assert.rejects(
    resolver.resolve4('elsewhere.example'),
    { code: 'ENOTFOUND' },
    'a name that is not ours',
  );
  assert.equal((await askUdp(dns.port, { name: 'elsewhere.example', type: 'A' })).packet.flag_aa, false);
});

test('the log tells what was asked, by whom and with what result, and keeps the last thousand', async (t) => {
  const dns = await startTestDns(t);
  dns.fail('silent.lab.test', 'timeout');
  await askUdp(dns.port, { name: 'Some.lab.test', type: 'CAA' });
  const impatient = resolverFor(dns, 100);
  await assert.rejects(impatient.resolve4('silent.lab.test'), { code: 'ETIMEOUT' });
  const [first] = dns.queries('SOME.lab.test');
  assert.ok(first && Math.abs(Date.parse(first.time) - Date.now()) < 60_000);
  const { time: _time, ...rest } = first;
  const expected = {
    name: 'some.lab.test',
    type: 'CAA',
    source: '127.0.0.1',
    transport: 'udp',
    answer: 'NXDOMAIN',
  };
  assert.deepEqual(rest, expected);
  assert.match(dns.queries('silent.lab.test')[0]?.answer ?? '', /fault/);
  assert.deepEqual(dns.queries('never.lab.test'), []);
  for (let index = 0; index < 1000; index++)
    await askUdp(dns.port, { name: `n${index}.lab.test`, type: 'A' });
  assert.equal(dns.queries().length, 1000);
  assert.deepEqual(dns.queries('some.lab.test'), [], 'the oldest went');
  assert.equal(dns.queries('n999.lab.test').length, 1);
});
