import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startServer, stubbedNetwork } from '../../../test/support/egress-servers.ts';
import { faultOf } from '../../../test/support/faults.ts';
import { createEgress, type EgressOptions, type EgressParts } from './egress.ts';

const open = (t: TestContext, parts: EgressParts, options: Partial<EgressOptions> = {}) => {
  const egress = createEgress({ allowPrivate: false, ...options }, parts);
  t.after(() => egress.close());
  return egress;
};

/** A resolver that knows a few names, and takes numbers for addresses as the C library does. */
const names: Readonly<Record<string, readonly string[]>> = {
  'git.example.com': ['8.8.4.4'],
  localhost: ['::1', '127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  'internal.example.com': ['10.1.2.3'],
  'both.example.com': ['8.8.8.8', '192.168.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'mapped.example.com': ['::ffff:10.0.0.1'],
  '0x7f000001': ['127.0.0.1'],
};
const lookup = async (name: string) => names[name] ?? [];

test('every way to name an address that is not on the internet is refused before a packet is sent', async (t) => {
  const { dial, dialled } = stubbedNetwork();
  const egress = open(t, { lookup, dial });
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '0',
    '0.0.0.0',
    'localhost',
    'localhost.',
    'LOCALHOST:8080',
    '10.0.0.1:3000',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '169.254.169.254',
    'metadata.google.internal',
    '224.0.0.1',
    '255.255.255.255',
    '203.0.113.7',
    'internal.example.com',
    'both.example.com',
    'mapped.example.com',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[::127.0.0.1]',
    '[fe80::1]',
    '[fd00::1]',
    '[ff02::1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '①②⑦.⓪.⓪.①',
  ];
  for (const host of hosts) {
    const fault = await faultOf(() => egress.fetch(`http://${host}/`));
    assert.equal(fault.code, 'egress_refused', `${host}: ${fault.message}`);
    assert.ok(fault.hint, host);
  }
  for (const host of ['[::1]', '::ffff:127.0.0.1', 'localhost', '0x7f000001', 'internal.example.com']) {
    assert.equal((await faultOf(() => egress.resolve(host))).code, 'egress_refused', host);
  }
  assert.deepEqual(dialled, []);
});

test('only http and https, and no credentials in the address', async (t) => {
  const { dial, dialled } = stubbedNetwork();
  const egress = open(t, { lookup, dial });
  const canary = 'hunter2-canary';
  for (const url of [
    'ftp://git.example.com/',
    'file:///etc/passwd',
    'gopher://git.example.com/',
    'data:text/plain,x',
    'not an address',
    'http://',
    `https://user:${canary}@git.example.com/`,
    `https://${canary}@git.example.com/`,
  ]) {
    const fault = await faultOf(() => egress.fetch(url));
    assert.equal(fault.code, 'egress_refused', url);
    assert.ok(!JSON.stringify([fault.message, fault.hint, fault.evidence]).includes(canary));
  }
  assert.deepEqual(dialled, []);
});

test('the connection goes to the address that was checked, and a name that changes its mind is refused', async (t) => {
  const server = await startServer(t, (_request, response) => response.end('hello'));
  const { dial, dialled } = stubbedNetwork(server.port);
  const answers = [['8.8.4.4', '2606:4700::1'], ['127.0.0.1']];
  let asked = 0;
  const egress = open(t, { lookup: async () => answers[asked++] ?? [], dial });
  const response = await egress.fetch('http://git.example.com/', { headers: { connection: 'close' } });
  assert.equal(await response.text(), 'hello');
  assert.deepEqual(dialled, [
    [
      { address: '8.8.4.4', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ],
  ]);
  assert.equal(asked, 1, 'asked once for a connection');
  const fault = await faultOf(() => egress.fetch('http://git.example.com/'));
  assert.equal(fault.code, 'egress_refused');
  assert.equal(dialled.length, 1, 'no second connection');
});

test('the real connection uses the checked address and asks nobody again', async (t) => {
  const server = await startServer(t, (request, response) => response.end(request.headers.host));
  let asked = 0;
  const egress = open(
    t,
    {
      lookup: async () => {
        asked++;
        return ['127.0.0.1'];
      },
    },
    { allowPrivate: true },
  );
  // No resolver of this machine knows the name: only what was checked can lead to the server.
  const response = await egress.fetch(`http://nowhere.invalid:${server.port}/`);
  assert.equal(await response.text(), `nowhere.invalid:${server.port}`);
  assert.equal(asked, 1);
});

test('a redirect to a private address is told and not followed', async (t) => {
  const server = await startServer(t, (_request, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data?token=canary' }).end();
  });
  const { dial, dialled } = stubbedNetwork(server.port);
  const egress = open(t, { lookup, dial });
  const response = await egress.fetch('http://git.example.com/api');
  assert.equal(response.status, 302);
  assert.equal(dialled.length, 1);
});

test('names without an address, and addresses where nobody is, fail in words', async (t) => {
  const gone = await startServer(t, (_request, response) => response.end());
  const egress = open(t, { lookup }, { allowPrivate: true });
  const unknown = await faultOf(() => egress.fetch('http://unknown.example.com/'));
  assert.deepEqual(
    [unknown.code, unknown.message],
    ['egress_failed', 'The name unknown.example.com has no address.'],
  );
  const refusing = createEgress(
    { allowPrivate: false },
    { lookup: () => Promise.reject(new Error('SERVFAIL')) },
  );
  t.after(() => refusing.close());
  const failed = await faultOf(() => refusing.fetch('http://git.example.com/'));
  assert.deepEqual([failed.code, failed.evidence], ['egress_failed', 'SERVFAIL']);
  const port = gone.port;
  const refused = await faultOf(() => egress.fetch(`https://127.0.0.1:${port}/`));
  assert.equal(refused.code, 'egress_failed');
  assert.match(refused.message, /TLS/);
});

test('allowing private addresses lets loopback through, and never where clouds keep credentials', async (t) => {
  const server = await startServer(t, (_request, response) => response.end('here'));
  const egress = open(t, { dial: stubbedNetwork(server.port).dial, lookup }, { allowPrivate: true });
  assert.equal(await (await egress.fetch(server.url)).text(), 'here');
  assert.equal(await (await egress.fetch(`http://localhost:${server.port}`)).text(), 'here');
  assert.deepEqual(await egress.resolve('internal.example.com'), [{ address: '10.1.2.3', family: 4 }]);
  for (const host of ['169.254.169.254', '[fe80::1]', '224.0.0.1', '0.0.0.0', '[::ffff:169.254.169.254]']) {
    assert.equal((await faultOf(() => egress.fetch(`http://${host}/`))).code, 'egress_refused', host);
  }
});

test('a certificate is held against the name; only one that is trusted and right is taken', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'egress-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = ['-subj', '/CN=git.example.com', '-addext', 'subjectAltName=DNS:git.example.com'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  const answer: RequestListener = ({ socket, headers }, response) =>
    response.end(`${'servername' in socket ? socket.servername : ''} ${headers.host?.split(':')[0]}`);
  const server = await startServer(t, answer, tls);
  const there = async () => ['127.0.0.1'];
  const trusting = open(t, { lookup: there }, { allowPrivate: true, caFile: cert });
  const at = (name: string) => `https://${name}:${server.port}/`;
  const asked = async (name: string, headers = {}) => (await trusting.fetch(at(name), { headers })).text();
  assert.equal(
    await asked('git.example.com', { Host: 'other.example.com' }),
    'git.example.com git.example.com',
  );
  assert.equal(
    await asked('git.example.com.'),
    'git.example.com git.example.com.',
    'the dot is no part of the name',
  );
  const wrongName = await faultOf(() =>
    trusting.fetch(at('other.example.com'), { headers: { Host: 'git.example.com' } }),
  );
  assert.equal(wrongName.code, 'egress_failed');
  assert.match(wrongName.message, /certificate of other\.example\.com/);
  assert.equal(
    (await faultOf(() => trusting.fetch(`${server.url}/`))).code,
    'egress_failed',
    'by its number',
  );
  const plain = open(t, { lookup: there }, { allowPrivate: true });
  const unknown = await faultOf(() => plain.fetch(at('git.example.com')));
  assert.match(unknown.message, /not trusted/);
  const wrong = await faultOf(() => createEgress({ allowPrivate: false, caFile: join(folder, 'none.pem') }));
  assert.equal(wrong.code, 'wrong_setting');
});
