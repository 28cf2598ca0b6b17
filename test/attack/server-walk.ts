/**
 * Every way to give the machine of the service, or a network that is not meant for servers, as the address of a server.
 * Runs in a network of its own that has no way out (see `ssrf.test.ts`). Something listens on all of its addresses:
 * whoever connects to it has been fooled, and whoever is answered otherwise than where nothing listens has been told.
 */
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { ServerId, WorkspaceId } from '../../src/ids.ts';
import { callApi, startTestApp, type TestApp } from '../support/app.ts';
import { newPerson } from '../support/people.ts';
import { lastOperation } from '../support/servers.ts';
import { addServer } from '../support/servers-context.ts';

/** What `ssrf.test.ts` gives to the loopback of this network: addresses of the machine like any other. */
const own = ['10.77.0.1', '198.18.7.1', '8.8.8.8'];
const ofTheMachine = [
  ...[
    '127.0.0.1',
    '127.8.8.8',
    'localhost',
    'localhost.',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
  ],
  ...['2130706433', '0x7f.0.0.1', '0177.0.0.1', '127.1', '0', '0.0.0.0', '::', ...own, '::ffff:10.77.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b::a4d:1', '169.254.169.254', '::ffff:169.254.169.254', 'fe80::1'],
];
const ofOthers = ['10.0.0.1', '192.168.0.1', '172.16.0.1', '100.64.0.1', 'fd00::1', '203.0.113.1'];

interface Trap {
  readonly port: number;
  connections(): number;
}

async function startTrap(t: TestContext): Promise<Trap> {
  let connections = 0;
  const trap = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).end('SSH-2.0-OnlyInside_1.0\r\n');
  });
  await new Promise<void>((listens) => trap.listen(0, '::', listens));
  t.after(() => trap.close());
  const address = trap.address();
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, connections: () => connections };
}

/** What each call answers, and with which code. */
function attemptsAt(service: TestApp, token: string, saved: string, host: string, port: number) {
  const call = (method: string, path: string, body: object) =>
    callApi(service.url, method, path, { token, body });
  const server = { name: 'inner', host, port };
  return {
    generated: () => call('POST', '/servers', { ...server, auth: { type: 'generated' } }),
    password: () => call('POST', '/servers', { ...server, auth: { type: 'password', password: 'x' } }),
    change: () => call('PATCH', `/servers/${saved}`, { host, port }),
    look: () =>
      call('POST', '/servers/test-connection', { ...server, auth: { type: 'password', password: 'x' } }),
  };
}

async function walk(service: TestApp, trap: Trap, hosts: readonly string[]): Promise<void> {
  const { token } = await newPerson(service);
  const body = { name: 'web', host: 'web.invalid', auth: { type: 'generated' } };
  const saved = String((await service.call('POST', '/servers', { token, body })).body.id);
  for (const host of hosts) {
    const seen: Record<string, string>[] = [];
    // One port that answers, and one that does not: nobody can tell them apart.
    for (const port of [trap.port, 1]) {
      const told: Record<string, string> = {};
      for (const [name, attempt] of Object.entries(attemptsAt(service, token, saved, host, port))) {
        const { status, text } = await attempt();
        assert.match(text, /"code":"(egress_refused|invalid_input)"/, `${name} ${host}: ${status} ${text}`);
        assert.doesNotMatch(text, /OnlyInside|"step":"tcp"|port_refused|port_filtered/, `${name} ${host}`);
        told[name] = text.replace(/"(requestId|instance|at)":"[^"]*"/g, '');
      }
      seen.push(told);
    }
    assert.deepEqual(seen[0], seen[1], `${host} answers where something listens as it does elsewhere`);
    assert.equal(trap.connections(), 0, `${host} was connected to`);
  }
}

test('whoever wants to reach the machine of the service as a server is refused, and learns nothing', async (t) => {
  const trap = await startTrap(t);
  // As it is without the setting, on loopback: private networks are open, the machine itself is not.
  await walk(await startTestApp(t, { env: { SLIPWAY_SERVER_NETWORKS: '' } }), trap, ofTheMachine);
  await walk(await startTestApp(t, { env: { SLIPWAY_SERVER_NETWORKS: 'none' } }), trap, [
    ...ofTheMachine,
    ...ofOthers,
  ]);
  // The trap itself works: else nothing above would mean anything.
  await new Promise<void>((done) =>
    connect(trap.port, '10.77.0.1')
      .resume()
      .once('close', () => done()),
  );
  assert.equal(trap.connections(), 1);
});

test('a server that was registered at such an address before is not connected to any more, and says why', async (t) => {
  const trap = await startTrap(t);
  const service = await startTestApp(t, { env: { SLIPWAY_SERVER_NETWORKS: '' } });
  const { token } = await newPerson(service);
  const me = await service.call('GET', '/auth/me', { token });
  const workspaceId: WorkspaceId = Object(me.body.workspaces)[0].id;
  const { db, sealer } = service.app.store;
  const hostKey = 'SHA256:uNiVztksCsDhcc0u9e8BrrJXQVQzN2n4XLmbmkGQ8cY';
  for (const host of ['127.0.0.1', '10.77.0.1', 'localhost']) {
    for (const pin of [{ hostKey }, {}]) {
      const place = { host, port: trap.port, ...pin };
      const { id }: { id: ServerId } = await addServer(
        { db, sealer, clock: service.clock },
        workspaceId,
        place,
      );
      const tried = await service.call('POST', '/servers/test-connection', { token, body: { serverId: id } });
      assert.match(tried.text, /"step":"resolve","status":"failed".*"code":"egress_refused"/);
      const refreshed = await service.call('GET', `/servers/${id}/security?refresh=true`, { token });
      assert.notEqual(refreshed.status, 200, refreshed.text);
      assert.equal((await service.call('POST', `/servers/${id}/provision`, { token })).status, 202);
      const ended = await lastOperation(service, token, id, 'server_provision');
      assert.equal(Object(ended.fault).code, 'egress_refused', JSON.stringify(ended));
      assert.match(String(Object(ended.fault).hint), /SLIPWAY_SERVER_NETWORKS/);
      const { body } = await service.call('GET', `/servers/${id}`, { token });
      assert.equal(Object(body.problem).code, 'egress_refused');
    }
  }
  assert.equal(trap.connections(), 0);
});
