import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { attempt } from '../../lab/command.ts';
import { applyStep, makePlan } from '../../src/areas/servers/hardening/hardening.ts';
import type { StepId } from '../../src/areas/servers/hardening/plan.ts';
import { newId } from '../../src/ids.ts';
import { Secret } from '../../src/secret.ts';
import { answers, Inspected } from '../support/inspected.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { installing } from '../support/packages.ts';
import { connect } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

/** Hardens over the port that is given, with the proofs of the service; a second plan finds nothing to do. */
async function harden(t: TestContext, server: TestServer, port: number, steps: readonly StepId[]) {
  const privateKey = new Secret(readFileSync(server.about.keyFile ?? '', 'utf8'));
  const remote = connect(t, server, { port, privateKey });
  const wish = { username: 'root', sshPort: port, ourAddress: lab.about.address, allowPorts: [], steps };
  const plan = await makePlan(remote, wish);
  const verifyLogin = async () => void (await connect(t, server, { port, privateKey }).output(['true']));
  const options = { runId: newId(), verifyLogin, log: () => undefined };
  for (const { id } of plan.steps) await applyStep(remote, plan, id, options);
  const second = await makePlan(remote, wish);
  assert.deepEqual(second.steps, []);
  return plan;
}

test('a server whose systemd holds the SSH port, and not port 22, is hardened over that port and stays reachable', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const { address, name } = server.about;
  const inspected = new Inspected(t, server, 2222);
  await inspected.sh(`mkdir -p /etc/systemd/system/ssh.socket.d
printf '[Socket]\\nListenStream=\\nListenStream=2222\\n' > /etc/systemd/system/ssh.socket.d/port.conf
systemctl daemon-reload; systemctl disable --quiet --now ssh.service 2> /dev/null; systemctl enable --quiet --now ssh.socket
docker run --quiet --detach --publish 8080:80 nginx > /dev/null
ip addr add fd00:213::5/64 dev host0 nodad`);
  const neighbour = await lab.fresh(t, 'bare');
  const prober = new Inspected(t, neighbour);
  await prober.sh('ip addr add fd00:213::6/64 dev host0 nodad');
  const reaches = async (port: number) => {
    const script = `timeout 3 bash -c 'exec 3<>/dev/tcp/fd00:213::5/${port}' 2> /dev/null`;
    return (await lab.client.console(neighbour.about.name, 'bash', '-c', script)).code === 0;
  };
  await until(async () => (await reaches(2222)) && (await reaches(8080)), 'both ports to answer');

  const { ssh_config_applied: before } = await inspected.statuses();
  assert.equal(before, 'pass');
  const steps = ['firewall', 'docker_ports', 'ssh_settings', 'ssh_no_passwords'] as const;
  const plan = await harden(t, server, 2222, steps);
  assert.deepEqual(
    plan.steps.map(({ id }) => id),
    steps,
  );
  const after = await inspected.statuses();
  assert.deepEqual(
    [after.ssh_config_applied, after.ssh_password_login, after.firewall_active, after.firewall_ipv6],
    ['pass', 'pass', 'pass', 'pass'],
  );
  const options = ['-p', '2222', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'];
  const login = await attempt('ssh', [
    '-i',
    server.about.keyFile ?? '',
    ...options,
    `root@${address}`,
    'true',
  ]);
  assert.equal(login.code, 0, login.stderr);
  // Over both protocols.
  assert.equal(await answers(address, 8080, 2_000), false);
  assert.deepEqual([await reaches(2222), await reaches(8080)], [true, false]);
  const failed = await lab.client.console(name, 'systemctl', '--failed', '--plain', '--no-legend');
  assert.doesNotMatch(failed.stdout, /ssh/);
});

test('where ufw is the firewall it stays so, lets in what is needed, and never counts our logins', async (t) => {
  const server = await lab.fresh(t, 'docker');
  const inspected = new Inspected(t, server);
  await inspected.sh(`${installing('ufw')}ufw limit 22/tcp > /dev/null; ufw --force enable > /dev/null
docker run --quiet --detach --publish 8080:80 nginx > /dev/null`);
  const steps = ['firewall', 'docker_ports', 'ssh_settings'] as const;
  const plan = await harden(t, server, 22, steps);
  assert.deepEqual(
    plan.steps.map(({ id }) => id),
    steps,
  );
  const status = await inspected.sh('ufw status');
  const ours = RegExp.escape(lab.about.address);
  assert.match(status, new RegExp(`^22/tcp +ALLOW +${ours} *$`, 'm'));
  assert.match(status, /^22\/tcp +LIMIT +Anywhere *$/m);
  for (const open of ['80/tcp', '443/tcp', '21000:21999/tcp', '443/udp'])
    assert.match(status, new RegExp(`^${open} +ALLOW +Anywhere *$`, 'm'));
  assert.doesNotMatch(await inspected.sh('nft list tables'), /inet slipway$/m);
  assert.equal(await answers(server.about.address, 8080, 2_000), false);
  // More logins in a moment than the limit lets in.
  for (let login = 1; login <= 8; login += 1) await server.ssh('true');
  const { firewall_active, firewall_at_boot, docker_published_ports } = await inspected.statuses();
  assert.deepEqual([firewall_active, firewall_at_boot, docker_published_ports], ['pass', 'pass', 'pass']);
});

test('fail2ban on Debian 12 is dead as installed, bans with the systemd backend, and may not ban us', async (t) => {
  const inspected = new Inspected(t, await lab.fresh(t, 'bookworm'));
  await inspected.sh(installing('fail2ban'));
  const bans = async (ourAddress = '203.0.113.7') => {
    const { fail2ban_bans, own_address_not_banned } = await inspected.statuses({ ourAddress });
    return [fail2ban_bans, own_address_not_banned];
  };
  assert.deepEqual(await bans(), ['fail', 'not_applicable']);
  const jail = (more: string) =>
    inspected.sh(`printf '[DEFAULT]\\nbackend = systemd\\n${more}' > /etc/fail2ban/jail.d/50-x.local
${installing('python3-systemd')}systemctl restart fail2ban
for i in $(seq 100); do fail2ban-client status sshd >/dev/null 2>&1 && break; sleep 0.1; done`);
  await jail('');
  assert.deepEqual(await bans(), ['pass', 'warn']);
  await inspected.sh('fail2ban-client set sshd banip 203.0.113.7');
  assert.deepEqual(await bans(), ['pass', 'fail']);
  await jail('ignoreip = 203.0.113.0/24\\n[sshd]\\nport = 2222\\n');
  assert.deepEqual(await bans(), ['fail', 'pass']);
});
