import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rcodes } from './lookup.ts';
import { askUdp, resolverFor, startTestDns } from './test-client.ts';

test('an ordinary resolver reads every type of record that was set', async (t) => {
  const dns = await startTestDns(t);
  const resolver = resolverFor(dns);
  dns.set('app.lab.test', 'A', ['192.0.2.1', '192.0.2.2']);
  dns.set('app.lab.test', 'AAAA', ['2001:db8::1', '::ffff:192.0.2.3']);
  dns.set('app.lab.test', 'TXT', ['one', ['two', 'three'], '']);
  dns.set('app.lab.test', 'MX', ['10 mail.lab.test', '20 .']);
  dns.set('app.lab.test', 'CAA', ['0 issue "ca.lab.test"', '128 iodef "mailto:ops@lab.test"']);
  dns.set('sub.lab.test', 'NS', ['ns1.example.net']);
  dns.set('www.lab.test', 'cname', ['app.lab.test']);
  assert.deepEqual((await resolver.resolve4('app.lab.test')).sort(), ['192.0.2.1', '192.0.2.2']);
  assert.deepEqual((await resolver.resolve6('app.lab.test')).sort(), ['2001:db8::1', '::ffff:192.0.2.3']);
  assert.deepEqual(await resolver.resolveTxt('app.lab.test'), [['one'], ['two', 'three'], ['']]);
  const mx = await resolver.resolveMx('app.lab.test');
  assert.deepEqual(
    mx.map(({ priority, exchange }) => [priority, exchange]),
    [
      [10, 'mail.lab.test'],
      [20, ''],
    ],
  );
  const caa = await resolver.resolveCaa('app.lab.test');
  assert.deepEqual(
    caa.map(({ critical, issue, iodef }) => [critical, issue ?? iodef]),
    [
      [0, 'ca.lab.test'],
      [128, 'mailto:ops@lab.test'],
    ],
  );
  assert.deepEqual(await resolver.resolveNs('sub.lab.test'), ['ns1.example.net']);
  assert.deepEqual(await resolver.resolveCname('www.lab.test'), ['app.lab.test']);
});

test('each zone has SOA, NS and the address of its name server, and says that it is the authority', async (t) => {
  const dns = await startTestDns(t);
  dns.addZone('Example.org.');
  assert.deepEqual(dns.zones(), ['example.org', 'lab.test']);
  const resolver = resolverFor(dns);
  for (const zone of dns.zones()) {
    assert.deepEqual(await resolver.resolveNs(zone), [`ns.${zone}`]);
    assert.deepEqual(await resolver.resolve4(`ns.${zone}`), ['127.0.0.53']);
    const soa = await resolver.resolveSoa(zone);
    assert.deepEqual([soa.nsname, soa.hostmaster], [`ns.${zone}`, `hostmaster.${zone}`]);
    const reply = await askUdp(dns.port, { name: zone, type: 'SOA' });
    assert.equal(reply.packet.flag_aa, true);
    assert.equal(reply.packet.flag_ra, false, 'without upstreams there is no recursion to be had');
    assert.equal(reply.packet.flag_rd, true, 'the wish of the query is repeated');
  }
});

test('a change raises the serial of its zone only', async (t) => {
  const dns = await startTestDns(t, { zones: ['lab.test', 'example.org'] });
  const resolver = resolverFor(dns);
  const serials = async () => [
    (await resolver.resolveSoa('lab.test')).serial,
    (await resolver.resolveSoa('example.org')).serial,
  ];
  const [lab = 0, other = 0] = await serials();
  dns.set('a.lab.test', 'A', ['192.0.2.1']);
  dns.remove('a.lab.test', 'TXT');
  dns.remove('a.lab.test');
  dns.remove('a.lab.test');
  assert.deepEqual(await serials(), [lab + 2, other]);
});

test('a name that is not there is NXDOMAIN, one without that type is NODATA, and both carry the SOA', async (t) => {
  const dns = await startTestDns(t);
  dns.set('deep.below.lab.test', 'A', ['192.0.2.1']);
  const cases = [
    ['nothing.lab.test', 'A', rcodes.NXDOMAIN],
    ['x.deep.below.lab.test', 'A', rcodes.NXDOMAIN],
    ['deep.below.lab.test', 'TXT', rcodes.NOERROR],
    ['below.lab.test', 'A', rcodes.NOERROR],
    ['elow.lab.test', 'A', rcodes.NXDOMAIN],
    ['lab.test', 'A', rcodes.NOERROR],
    ['deep.below.lab.test', '65', rcodes.NOERROR],
  ] as const;
  for (const [name, type, rcode] of cases) {
    const reply = await askUdp(dns.port, { name, type });
    assert.equal(reply.rcode, rcode, `${name} ${type}`);
    assert.equal(reply.packet.flag_aa, true);
    assert.deepEqual(reply.answers, []);
    assert.deepEqual(
      reply.authorities.map(({ name, type }) => [name, type]),
      [['lab.test', 'SOA']],
    );
  }
});

test('names are the same in any case, and the case of the query comes back', async (t) => {
  const dns = await startTestDns(t);
  dns.set('App.LAB.test', 'A', ['192.0.2.1']);
  const reply = await askUdp(dns.port, { name: 'aPP.lAb.TeSt', type: 'A' });
  assert.equal(reply.packet.questions?.[0]?.name, 'aPP.lAb.TeSt');
  assert.equal(reply.answers[0]?.name, 'aPP.lAb.TeSt');
  assert.deepEqual(
    dns.list().map(({ name }) => name),
    ['app.lab.test'],
  );
});

test('aliases are followed through our zones, and the answer tells the way', async (t) => {
  const dns = await startTestDns(t, { zones: ['lab.test', 'example.org'] });
  dns.set('a.lab.test', 'CNAME', ['b.example.org']);
  dns.set('b.example.org', 'CNAME', ['C.lab.test']);
  dns.set('c.lab.test', 'A', ['192.0.2.9']);
  const whole = await askUdp(dns.port, { name: 'a.lab.test', type: 'A' });
  assert.deepEqual(
    whole.answers.map((each) => [each.name, each.type, 'data' in each && each.data]),
    [
      ['a.lab.test', 'CNAME', 'b.example.org'],
      ['b.example.org', 'CNAME', 'C.lab.test'],
      ['C.lab.test', 'A', '192.0.2.9'],
    ],
  );
  const itself = await askUdp(dns.port, { name: 'a.lab.test', type: 'CNAME' });
  assert.deepEqual(
    [itself.answers.length, itself.authorities.length],
    [1, 0],
    'who asks for the alias gets it alone',
  );
  const noData = await askUdp(dns.port, { name: 'a.lab.test', type: 'TXT' });
  assert.deepEqual([noData.rcode, noData.answers.length, noData.authorities[0]?.name], [0, 2, 'lab.test']);
  dns.remove('c.lab.test');
  const gone = await askUdp(dns.port, { name: 'a.lab.test', type: 'A' });
  assert.deepEqual(
    [gone.rcode, gone.answers.length, gone.authorities[0]?.name],
    [rcodes.NXDOMAIN, 2, 'lab.test'],
  );
});

test('an alias out of our zones or in a circle is answered as far as it goes', async (t) => {
  const dns = await startTestDns(t);
  dns.set('out.lab.test', 'CNAME', ['elsewhere.example']);
  dns.set('one.lab.test', 'CNAME', ['two.lab.test']);
  dns.set('two.lab.test', 'CNAME', ['one.lab.test']);
  const out = await askUdp(dns.port, { name: 'out.lab.test', type: 'A' });
  assert.deepEqual([out.rcode, out.answers.map(({ type }) => type)], [0, ['CNAME']]);
  const circle = await askUdp(dns.port, { name: 'one.lab.test', type: 'A' });
  assert.deepEqual(
    [circle.rcode, circle.answers.map(({ name }) => name)],
    [0, ['one.lab.test', 'two.lab.test']],
  );
});

test('a wildcard answers for names that are not there, and not for those that are', async (t) => {
  const dns = await startTestDns(t);
  dns.set('*.w.lab.test', 'A', ['192.0.2.7']);
  dns.set('own.w.lab.test', 'TXT', ['here']);
  dns.set('a.deep.w.lab.test', 'TXT', ['here']);
  dns.set('*.alias.lab.test', 'CNAME', ['x.w.lab.test']);
  const ask = async (name: string, type = 'A') => {
    const { rcode, answers } = await askUdp(dns.port, { name, type });
    return [rcode, ...answers.map((each) => ('data' in each ? `${each.name} ${each.data}` : ''))];
  };
  assert.deepEqual(await ask('X.w.lab.test'), [0, 'X.w.lab.test 192.0.2.7']);
  assert.deepEqual(await ask('x.y.w.lab.test'), [0, 'x.y.w.lab.test 192.0.2.7'], 'through several labels');
  assert.deepEqual(await ask('x.w.lab.test', 'MX'), [0], 'there, but without that type');
  assert.deepEqual(await ask('own.w.lab.test'), [0], 'a name of its own hides the wildcard');
  assert.deepEqual(await ask('deep.w.lab.test'), [0], 'so does one that only has names below it');
  assert.deepEqual(await ask('b.deep.w.lab.test'), [rcodes.NXDOMAIN], 'and names beside those below it');
  assert.deepEqual(await ask('w.lab.test'), [0], 'a wildcard is not the name above it');
  assert.deepEqual(await ask('q.alias.lab.test'), [
    0,
    'q.alias.lab.test x.w.lab.test',
    'x.w.lab.test 192.0.2.7',
  ]);
  dns.addZone('inner.w.lab.test');
  assert.deepEqual(await ask('x.inner.w.lab.test'), [rcodes.NXDOMAIN], 'a wildcard ends where a zone begins');
});

test('records change while the server runs, and lose nothing of the zone itself', async (t) => {
  const dns = await startTestDns(t);
  const resolver = resolverFor(dns);
  assert.equal(dns.set('app.lab.test', 'A', ['192.0.2.1'], 30).ttl, 30);
  assert.deepEqual(await resolver.resolve4('app.lab.test', { ttl: true }), [
    { address: '192.0.2.1', ttl: 30 },
  ]);
  dns.set('app.lab.test', 'A', ['192.0.2.2']);
  dns.set('app.lab.test', 'TXT', ['x']);
  assert.deepEqual(await resolver.resolve4('app.lab.test'), ['192.0.2.2'], 'replaced, not added');
  assert.equal(dns.remove('app.lab.test', 'A'), 1);
  await assert.rejects(resolver.resolve4('app.lab.test'), { code: 'ENODATA' });
  assert.equal(dns.remove('APP.lab.test.'), 1);
  await assert.rejects(resolver.resolve4('app.lab.test'), { code: 'ENOTFOUND' });
  assert.equal(dns.remove('app.lab.test'), 0);
  dns.set('lab.test', 'NS', ['other.lab.test']);
  assert.deepEqual(await resolver.resolveNs('lab.test'), ['other.lab.test']);
  dns.remove('lab.test');
  assert.deepEqual(await resolver.resolveNs('lab.test'), ['ns.lab.test']);
  assert.deepEqual(dns.list(), []);
});
