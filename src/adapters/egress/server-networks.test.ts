import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { tcpCheck } from '../../remote/ssh/tcp.ts';
import { listensPrivately, serverResolver } from './server-networks.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'web.example.com': ['8.8.4.4', '2606:4700::1'],
  'mine.example.com': ['8.8.8.8'],
  'inner.example.com': ['10.1.2.3'],
  'both.example.com': ['8.8.4.4', '10.1.2.3'],
  'loop.example.com': ['8.8.4.4', '::1'],
  'metadata.example.com': ['169.254.169.254'],
  // As the C library reads it.
  '2130706433': ['127.0.0.1'],
};
const parts = {
  lookup: async (name: string) => names[name] ?? [],
  ownAddresses: () => ['127.0.0.1', '::1', '8.8.8.8', '10.0.0.5', 'fd00::5'],
};

const cases: readonly [
  settings: string,
  resolve: ReturnType<typeof serverResolver>,
  Record<string, boolean>,
][] = [
  [
    'none',
    serverResolver({ allowPrivate: false, networks: [] }, parts),
    {
      '8.8.4.4': true,
      'web.example.com': true,
      '10.1.2.3': false,
      'inner.example.com': false,
      '192.0.2.1': false,
    },
  ],
  [
    'private',
    serverResolver({ allowPrivate: true, networks: [] }, parts),
    { '10.1.2.3': true, 'inner.example.com': true, 'fd00::9': true, '100.64.0.9': true, '192.0.2.1': true },
  ],
  [
    'a network that the machine itself stands in',
    serverResolver({ allowPrivate: false, networks: ['10.0.0.0/8', '127.0.0.0/8', '0.0.0.0/0'] }, parts),
    { '10.1.2.3': true, '192.168.0.1': true, 'fd00::9': false },
  ],
];

/** Whatever networks are named, and however they are written. */
const never = [
  ...['127.0.0.1', '127.8.8.8', '::1', '2130706433', '10.0.0.5', '8.8.8.8', 'mine.example.com', 'fd00::5'],
  ...[
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.5',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '64:ff9b::a00:5',
    '2002:7f00:1::1',
  ],
  ...['169.254.169.254', 'metadata.example.com', 'fe80::1', '0.0.0.0', '::', '224.0.0.1', '255.255.255.255'],
  ...['loop.example.com'],
];

test('where servers may stand is what the settings say, and never the machine itself', async () => {
  for (const [settings, resolve, expected] of cases) {
    for (const [host, isAllowed] of Object.entries(expected)) {
      const outcome = await resolve(host).then(
        () => true,
        (error: unknown) => Object(error).code,
      );
      assert.equal(outcome, isAllowed ? true : 'egress_refused', `${settings}: ${host}`);
    }
    for (const host of never) {
      const fault = await faultOf(() => resolve(host));
      assert.equal(fault.code, 'egress_refused', `${settings}: ${host}`);
      assert.equal(fault.errors?.[0]?.path, 'host');
    }
  }
});

test('whoever runs Slipway on the server that it deploys to names its address, and opens nothing else', async () => {
  const resolve = serverResolver({ allowPrivate: false, networks: ['8.8.8.8', '127.0.0.1/32'] }, parts);
  assert.deepEqual(await resolve('mine.example.com'), ['8.8.8.8']);
  assert.deepEqual(await resolve('127.0.0.1'), ['127.0.0.1']);
  for (const host of ['127.0.0.2', '::1', '10.0.0.5', 'loop.example.com'])
    assert.equal((await faultOf(() => resolve(host))).code, 'egress_refused', host);
  const { hint } = await faultOf(() =>
    serverResolver({ allowPrivate: true, networks: [] }, parts)('8.8.8.8'),
  );
  assert.match(hint ?? '', /SLIPWAY_SERVER_NETWORKS/);
  const link = serverResolver({ allowPrivate: true, networks: ['169.254.169.254', '0.0.0.0', '::'] }, parts);
  for (const host of ['169.254.169.254', '0.0.0.0', '::'])
    assert.equal((await faultOf(() => link(host))).code, 'egress_refused', `${host} is never a server`);
});

test('whoever changes the address of a name between two connections reaches nothing by it', async (t) => {
  let connections = 0;
  const trap = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((listens) => trap.listen(0, '127.0.0.1', listens));
  t.after(() => trap.close());
  const address = trap.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '10.0.0.5']];
  const lookup = async () => answers.shift() ?? [];
  const resolve = serverResolver({ allowPrivate: true, networks: ['127.0.0.1'] }, { ...parts, lookup });
  const endpoint = { host: 'rebound.example.com', port, resolve };
  await tcpCheck(endpoint);
  for (const code of ['egress_refused', 'egress_refused', 'name_not_resolved'])
    assert.equal((await faultOf(() => tcpCheck(endpoint))).code, code);
  assert.equal(connections, 1);
});

test('a service that listens on loopback or a private address stands in a private network', () => {
  for (const host of ['127.0.0.1', 'localhost', '::1', '10.0.0.5', '192.168.1.2', 'fd00::1', '100.64.0.1'])
    assert.ok(listensPrivately(host), host);
  for (const host of ['0.0.0.0', '::', '8.8.8.8', 'deploy.example.com'])
    assert.ok(!listensPrivately(host), host);
});
