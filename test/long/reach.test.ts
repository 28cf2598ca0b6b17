import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ensureProxy } from '../../src/adapters/proxy/proxy.ts';
import { applyStep, makePlan } from '../../src/areas/servers/hardening/hardening.ts';
import { ensureSettings } from '../../src/areas/servers/provision.ts';
import { ensureNetworkRules, removeNetworkRules } from '../../src/engine/single-server/single-server.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import {
  allAre,
  build,
  exporterPort,
  layTraps,
  loopbackPort,
  metadata,
  neighbour,
  type RunningApp,
  runApp,
  trapsMet,
  tryFrom,
} from '../support/reach.ts';
import { proveReach } from '../support/reach-proof.ts';
import { orderReboot } from '../support/reboot.ts';
import { connect, failsWith } from '../support/remote.ts';
import { hangMs, until } from '../support/until.ts';

const lab = await openLab();

async function madeReady(t: TestContext, remote: Remote): Promise<void> {
  await ensureSettings(remote, { signal: t.signal, log: () => undefined });
  await ensureProxy(remote, t.signal);
  await remote.output(['docker', 'pull', '--quiet', 'node:24-slim'], { timeoutMs: hangMs });
}

test('on Debian 12, with its Docker 20.10, nothing more is reached', async (t) => {
  const server = await lab.fresh(t, 'bookworm');
  const remote = connect(t, server);
  await madeReady(t, remote);
  await proveReach(t, server, remote, 'all');
});

test('where Docker uses the older kind of iptables, nothing more is reached', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const remote = connect(t, server);
  // What Docker has loaded in the newer kind would hold beside.
  const change = `systemctl stop docker.socket docker.service
nft flush ruleset
for each in iptables ip6tables; do update-alternatives --set "$each" "/usr/sbin/$each-legacy"; done
systemctl start docker`;
  await remote.script(change, [], { timeoutMs: hangMs });
  await madeReady(t, remote);
  assert.match((await remote.output(['iptables', '--version'])).toString(), /legacy/);
  await proveReach(t, server, remote, 'all');
});

const wanted = (server: TestServer, { gateway }: RunningApp) => [
  ...metadata.map((each) => `${each}:80`),
  ...[server.about.address, gateway].flatMap((each) => [`${each}:22`, `${each}:${exporterPort}`]),
];

test('whoever waits for a restart of Docker, a reboot or hardening finds no gap, and nobody is locked out', async (t) => {
  const server = await lab.fresh(t, 'provisioned');
  const remote = connect(t, server);
  await layTraps(remote);
  const app = await runApp(remote, 2000);
  const targets = wanted(server, app);
  const isRefused = async (when: string) =>
    assert.deepEqual(await tryFrom(remote, app.name, targets), allAre('refused', targets), when);
  await isRefused('at first');

  // It flushes all rules, those of Docker too.
  await remote.output(['systemctl', 'restart', 'nftables']);
  await isRefused('after a restart of nftables');
  await remote.output(['systemctl', 'restart', 'docker'], { timeoutMs: hangMs });
  await isRefused('after a restart of Docker');

  const { user: username, port: sshPort } = server.about;
  const steps = ['firewall', 'docker_ports'] as const;
  const wish = { username, sshPort, ourAddress: lab.about.address, allowPorts: [], steps } as const;
  const plan = await makePlan(remote, wish);
  const verifyLogin = async () => void (await server.ssh('true'));
  for (const { id } of plan.steps)
    await applyStep(remote, plan, id, { runId: 'reach', verifyLogin, log: () => undefined });
  await isRefused('hardened');
  await server.ssh('true');

  const booted = () =>
    server.trySsh('cat /proc/sys/kernel/random/boot_id; systemctl show -p UserspaceTimestamp');
  const before = (await booted()).stdout;
  await orderReboot(lab.client, server.about.name);
  await until(async () => {
    const now = await booted();
    return now.code === 0 && now.stdout !== before;
  }, 'the server to be back');
  const again = connect(t, server);
  await until(
    async () => (await again.run(['docker', 'exec', app.name, 'true'])).code === 0,
    'the application',
  );
  await layTraps(again);
  assert.deepEqual(await tryFrom(again, app.name, targets), allAre('refused', targets), 'after a reboot');
});

test('the owner opens what they want, and removal leaves nothing behind', async (t) => {
  const server = await lab.fresh(t, 'provisioned');
  const remote = connect(t, server);
  await layTraps(remote);
  const app = await runApp(remote, 2000);
  const opened = [`${app.gateway}:${exporterPort}`, `${metadata[0]}:80`];
  assert.deepEqual(await tryFrom(remote, app.name, opened), allAre('refused', opened));
  await remote.writeFile(
    '/etc/slipway/allowed.d/mine.nft',
    `tcp dport { ${exporterPort}, ${loopbackPort} } accept\nip daddr ${metadata[0]} tcp dport 80 accept\n`,
    { mode: 0o644 },
  );
  await remote.output(['systemctl', 'reload', 'slipway-app-network']);
  assert.deepEqual(await tryFrom(remote, app.name, opened), allAre('open', opened));
  await build(remote, `FROM scratch\nADD http://127.0.0.1:${loopbackPort}/ /file\n`);

  await remote.output(['rm', '/etc/slipway/allowed.d/mine.nft']);
  await removeNetworkRules(remote, t.signal);
  await removeNetworkRules(remote, t.signal);
  assert.doesNotMatch((await remote.output(['nft', 'list', 'tables'])).toString(), /slipway/);
  const left = await remote.script(
    'ls -d /etc/slipway /etc/systemd/system/slipway-app* 2>/dev/null || :',
    [],
  );
  assert.equal(left.toString(), '');
});

test('whoever builds where Docker has no control group of its own gets nothing of the loopback either', async (t) => {
  const remote = connect(t, await lab.fresh(t, 'provisioned'));
  await layTraps(remote);
  await remote.script('pidof dockerd > /sys/fs/cgroup/unified/cgroup.procs', []);
  for (const each of ['first', 'second'])
    await assert.rejects(
      build(remote, `FROM scratch\nADD http://127.0.0.1:${loopbackPort}/${each} /file\n`),
      failsWith('build_failed', /127\.0\.0\.1/),
    );
  assert.deepEqual(await trapsMet(remote), []);
});

test('whoever kills a build leaves no rules for ever, and one that cannot be guarded is not begun', async (t) => {
  const server = await lab.fresh(t, 'provisioned');
  const remote = connect(t, server);
  await layTraps(remote);
  const wait = `require('node:http').get('http://${neighbour}/wait')`;
  const building = build(remote, `FROM node:24-slim\nRUN ${JSON.stringify(['node', '-e', wait])}\n`);
  const waits = until(async () => (await trapsMet(remote)).includes(`${neighbour}:80`), 'the build to wait');
  await Promise.race([waits, building]);
  await remote.script("systemctl kill --signal KILL 'slipway-reach-*.service'", []);
  await assert.rejects(building);
  assert.match((await remote.output(['nft', 'list', 'tables'])).toString(), /slipway_builds/);
  await ensureNetworkRules(remote, { insists: false, signal: t.signal });
  assert.doesNotMatch((await remote.output(['nft', 'list', 'tables'])).toString(), /slipway_builds/);

  await remote.output(['mv', '/usr/sbin/nft', '/usr/sbin/nft.away']);
  await assert.rejects(
    build(remote, 'FROM scratch\nCOPY file /other\n'),
    failsWith('build_failed', /cannot keep a build from its own services/),
  );
});
