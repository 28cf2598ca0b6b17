import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { type LabDns, startDns } from './dns.ts';
import { dnsRoutes } from './dns-routes.ts';
import { askUdp, startTestDns, type TestContext } from './test-client.ts';

async function startControl(t: TestContext, dns: LabDns) {
  const app = Fastify();
  t.after(() => app.close());
  dnsRoutes(app, dns);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const sent =
      body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, ...sent });
    return { status: response.status, body: await response.json() };
  };
}

test('records, zones, faults and questions are at hand over HTTP', async (t) => {
  const dns = await startTestDns(t);
  const call = await startControl(t, dns);
  const record = { name: 'app.lab.test', type: 'A', values: ['192.0.2.1'], ttl: 7 };
  assert.deepEqual(await call('PUT', '/dns', record), { status: 200, body: record });
  const txt = { name: 'app.lab.test', type: 'TXT', values: ['a', ['b', 'c']], ttl: 5 };
  assert.deepEqual(await call('PUT', '/dns', { ...txt, ttl: undefined }), { status: 200, body: txt });
  assert.deepEqual(await call('POST', '/dns/zones', { zone: 'example.org' }), {
    status: 200,
    body: { zones: ['example.org', 'lab.test'] },
  });
  const fault = { name: 'app.lab.test', fault: 'servfail' };
  assert.deepEqual((await call('PUT', '/dns/faults', fault)).body, { faults: [fault] });
  assert.equal((await askUdp(dns.port, { name: 'app.lab.test', type: 'A' })).rcode, 2);
  const all = { zones: ['example.org', 'lab.test'], records: [record, txt], faults: [fault] };
  assert.deepEqual(await call('GET', '/dns'), { status: 200, body: all });
  assert.deepEqual((await call('PUT', '/dns/faults', { ...fault, fault: null })).body, { faults: [] });
  assert.equal((await askUdp(dns.port, { name: 'app.lab.test', type: 'A' })).answers.length, 1);
  const { body } = await call('GET', '/dns/queries?name=app.lab.test');
  assert.deepEqual(body, { queries: dns.queries('app.lab.test') });
  assert.equal(dns.queries('app.lab.test').length, 2);
  assert.deepEqual((await call('GET', '/dns/queries?name=other.lab.test')).body, { queries: [] });
  assert.deepEqual((await call('DELETE', '/dns?name=app.lab.test&type=TXT')).body, { removed: 1 });
  assert.deepEqual((await call('DELETE', '/dns?name=app.lab.test')).body, { removed: 1 });
  assert.deepEqual(dns.list(), []);
});

const record = { name: 'a.lab.test', type: 'A', values: ['192.0.2.1'] };
const wrong: readonly (readonly [
  what: string,
  method: string,
  path: string,
  body: unknown,
  error: RegExp,
])[] = [
  [
    'a type it does not know',
    'PUT',
    '/dns',
    { ...record, type: 'SRV' },
    /"SRV" is no record type.*A, AAAA, CAA/,
  ],
  ['no IPv4', 'PUT', '/dns', { ...record, values: ['::1'] }, /"::1" is no IPv4 address.*192\.0\.2\.1/],
  ['no IPv6', 'PUT', '/dns', { ...record, type: 'AAAA', values: ['fe80::1%1'] }, /is no IPv6.*2001:db8::1/],
  [
    'another zone',
    'PUT',
    '/dns',
    { ...record, name: 'a.example.org' },
    /a\.example\.org lies outside.*lab\.test.*add/,
  ],
  ['a zone that ends alike', 'PUT', '/dns', { ...record, name: 'xlab.test' }, /outside/],
  ['no name', 'PUT', '/dns', { ...record, name: 'a..lab.test' }, /is no domain name/],
  ['a name in Unicode', 'PUT', '/dns', { ...record, name: 'ü.lab.test' }, /"ü" cannot be a part/],
  ['a long label', 'PUT', '/dns', { ...record, name: `${'a'.repeat(64)}.lab.test` }, /1 to 63/],
  ['a long name', 'PUT', '/dns', { ...record, name: `${'a.'.repeat(125)}lab.test` }, /longer than 253/],
  ['a star within', 'PUT', '/dns', { ...record, name: 'a.*.lab.test' }, /\* as the first/],
  ['no values', 'PUT', '/dns', { ...record, values: [] }, /at least one value/],
  ['a value twice', 'PUT', '/dns', { ...record, values: ['192.0.2.1', '192.0.2.1'] }, /twice/],
  ['strings in an A', 'PUT', '/dns', { ...record, values: [['192.0.2.1']] }, /is a list/],
  ['an empty TXT', 'PUT', '/dns', { ...record, type: 'TXT', values: [[]] }, /at least one string/],
  ['two CNAMEs', 'PUT', '/dns', { ...record, type: 'CNAME', values: ['a.b', 'c.d'] }, /one CNAME only/],
  ['a bad target', 'PUT', '/dns', { ...record, type: 'CNAME', values: ['a b'] }, /is no domain name/],
  [
    'a CNAME at the top',
    'PUT',
    '/dns',
    { name: 'lab.test', type: 'CNAME', values: ['a.b'] },
    /SOA of its zone/,
  ],
  ['a CNAME beside', 'PUT', '/dns', { name: 'has.lab.test', type: 'CNAME', values: ['a.b'] }, /beside A/],
  [
    'beside a CNAME',
    'PUT',
    '/dns',
    { name: 'www.lab.test', type: 'A', values: ['192.0.2.1'] },
    /remove the CNAME/,
  ],
  [
    'an MX without number',
    'PUT',
    '/dns',
    { ...record, type: 'MX', values: ['mail.lab.test'] },
    /10 mail\.lab\.test/,
  ],
  ['an MX too high', 'PUT', '/dns', { ...record, type: 'MX', values: ['65536 m.lab.test'] }, /65535/],
  [
    'a CAA of no kind',
    'PUT',
    '/dns',
    { ...record, type: 'CAA', values: ['0 issues "x"'] },
    /issue, issuewild, iodef/,
  ],
  ['a CAA unquoted', 'PUT', '/dns', { ...record, type: 'CAA', values: ['0 issue x'] }, /in quotes/],
  ['a negative ttl', 'PUT', '/dns', { ...record, ttl: -1 }, /ttl of -1/],
  ['a missing field', 'PUT', '/dns', { name: 'a.lab.test', type: 'A' }, /values.*for example: \{/],
  ['a field too many', 'PUT', '/dns', { ...record, value: 'x' }, /additional properties \(value\)/],
  ['a text for a list', 'PUT', '/dns', { ...record, values: '192.0.2.1' }, /"values" must be array/],
  ['no object', 'PUT', '/dns', 'x', /must be object/],
  ['a removal of nothing', 'DELETE', '/dns', undefined, /name=app\.lab\.test/],
  ['a removal of no type', 'DELETE', '/dns?name=a.lab.test&type=ZZ', undefined, /"ZZ" is no record type/],
  ['a removal elsewhere', 'DELETE', '/dns?name=a.example.org', undefined, /outside/],
  [
    'a fault of no kind',
    'PUT',
    '/dns/faults',
    { name: 'a.lab.test', fault: 'slow' },
    /timeout, nxdomain, refused/,
  ],
  ['a fault of no name', 'PUT', '/dns/faults', { name: '', fault: 'servfail' }, /is no domain name/],
  ['a zone of no name', 'POST', '/dns/zones', { zone: '*.org' }, /is no domain name/],
  ['a zone at an alias', 'POST', '/dns/zones', { zone: 'www.lab.test' }, /cannot be a zone/],
];

test('whatever is wrong is answered 400 with a sentence that says what would be right', async (t) => {
  const dns = await startTestDns(t);
  dns.set('has.lab.test', 'A', ['192.0.2.1']);
  dns.set('www.lab.test', 'CNAME', ['has.lab.test']);
  const before = dns.list();
  const call = await startControl(t, dns);
  for (const [what, method, path, body, error] of wrong) {
    const answer = await call(method, path, body);
    assert.equal(answer.status, 400, what);
    assert.deepEqual(Object.keys(Object(answer.body)), ['error'], what);
    assert.match(Object(answer.body).error, error, what);
  }
  assert.deepEqual([dns.list(), dns.zones(), dns.faults()], [before, ['lab.test'], []]);
});

test('a body that is no JSON is refused in the same form, and other routes keep their own', async (t) => {
  const dns = await startTestDns(t);
  const app = Fastify();
  t.after(() => app.close());
  dnsRoutes(app, dns);
  app.get('/broken', () => {
    throw new Error('broken');
  });
  const headers = { 'content-type': 'application/json' };
  const bad = await app.inject({ method: 'PUT', url: '/dns', headers, payload: '{' });
  assert.deepEqual([bad.statusCode, Object.keys(bad.json())], [400, ['error']]);
  assert.deepEqual(Object.keys((await app.inject('/broken')).json()), ['statusCode', 'error', 'message']);
});

test('a server cannot be started with what would not work', async () => {
  const right = { address: '127.0.0.1', port: 0, nameServer: '127.0.0.1', upstreams: [] };
  await assert.rejects(startDns({ ...right, address: 'localhost' }), /"localhost" is no address/);
  await assert.rejects(startDns({ ...right, nameServer: '::1' }), /"::1" is no IPv4 address/);
  await assert.rejects(startDns({ ...right, zones: ['no zone'] }), /"no zone" is no domain name/);
  await assert.rejects(startDns({ ...right, upstreams: ['nowhere'] }), /"nowhere" is no upstream/);
});
