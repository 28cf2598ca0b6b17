import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  type Check,
  checkSecurity,
  type SecurityContext,
  type SecurityReport,
} from '../../src/areas/servers/security/security.ts';
import { newId, type ServerId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { fingerprintOf } from '../../src/remote/host-keys.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { Secret } from '../../src/secret.ts';
import { openLab, type TestServer } from '../support/lab.ts';

const lab = await openLab();

type Statuses = Record<string, Check['status']>;

class Inspected {
  readonly server: TestServer;
  readonly #remote: Remote;
  roundTrips = 0;

  constructor(t: TestContext, server: TestServer) {
    this.server = server;
    const { about } = server;
    const shown = about.hostKeys.find((each) => each.startsWith('ssh-ed25519 ')) ?? '';
    const pool = createRemotePool(createLog('silent'));
    t.after(() => pool.close());
    const remote = pool.to({
      ...{ serverId: newId<ServerId>(), host: about.address, port: about.port, username: about.user },
      privateKey: new Secret(readFileSync(about.keyFile ?? `${lab.about.dir}/id_ed25519`, 'utf8')),
      hostKey: fingerprintOf(Buffer.from(shown.split(' ')[1] ?? '', 'base64')),
    });
    const counted = <A extends unknown[], R>(call: (...args: A) => R) => {
      return (...args: A) => {
        this.roundTrips += 1;
        return call(...args);
      };
    };
    this.#remote = {
      ...remote,
      ...{ run: counted(remote.run), output: counted(remote.output), script: counted(remote.script) },
      ...{ stream: counted(remote.stream), readFile: counted(remote.readFile) },
    };
  }

  check(changes: Partial<SecurityContext> = {}): Promise<SecurityReport> {
    const { address, port, user } = this.server.about;
    const ctx = { host: address, port, username: user, now: new Date(), connect: answers };
    return checkSecurity(this.#remote, { ...ctx, ...changes });
  }

  async statuses(changes: Partial<SecurityContext> = {}): Promise<Statuses> {
    return statusesOf((await this.check(changes)).checks);
  }

  /** As root, by the console. */
  async sh(script: string): Promise<string> {
    const { code, stdout, stderr } = await lab.client.console(this.server.about.name, 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout;
  }
}

function statusesOf(checks: readonly Check[]): Statuses {
  return Object.fromEntries(checks.map(({ id, status }) => [id, status]));
}

function answers(host: string, port: number, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket
      .once('connect', () => end(true))
      .once('timeout', () => end(false))
      .once('error', () => end(false));
  });
}

/** What is another than before. */
function changesOf(before: Statuses, after: Statuses): Statuses {
  return Object.fromEntries(Object.entries(after).filter(([id, status]) => before[id] !== status));
}

/** Names, modes, owners, sizes and times of everything that a check could touch; and the contents of /etc. */
const picture = `find /etc /root /home /usr/local /boot /var/lib /var/cache /var/spool -xdev \
  -not -path '/var/lib/systemd/*' -not -path '/var/lib/docker/*' -not -path '/var/lib/containerd/*' \
  -printf '%p %y %m %u %g %s %T@\\n' | sort; find /etc -type f -exec sha256sum {} + | sort -k 2`;

function differingLines(one: string, other: string): string[] {
  const [before, after] = [new Set(one.split('\n')), new Set(other.split('\n'))];
  return [...before.symmetricDifference(after)];
}

const expectedOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [status = '', ...ids] = line.trim().split(/:? /);
      return ids.map((id) => [id, status] as const);
    });

const fresh = expectedOf(`
  fail: ssh_password_login ssh_macs firewall_active fail2ban_bans automatic_updates
  warn: ssh_root_login kernel_network
  pass: ssh_keyboard_interactive ssh_empty_passwords ssh_config_applied open_ports package_sources os_supported
  pass: empty_passwords extra_root_accounts sudo_without_password authorized_keys file_modes world_writable_etc
  pass: clock_offset
  not_applicable: reboot_needed kernel_protection firewall_ipv6`);
const withDocker = expectedOf(`
  pass: docker_published_ports docker_api
  warn: docker_firewall docker_live_restore docker_log_rotation`);

for (const variant of ['bare', 'docker', 'bookworm'] as const) {
  test(`a fresh ${variant} server is at risk, for reasons that are told in one round trip, and nothing on it changes`, async (t) => {
    const inspected = new Inspected(t, await lab.fresh(t, variant));
    const before = await inspected.sh(picture);
    const startedAt = performance.now();
    const { state, score, checks } = await inspected.check();
    assert.ok(performance.now() - startedAt < 15_000);
    assert.ok(inspected.roundTrips <= 3, `${inspected.roundTrips} round trips`);
    assert.deepEqual(differingLines(before, await inspected.sh(picture)), []);
    assert.equal(state, 'at_risk');
    assert.ok(score > 40 && score < 85, `${score}`);
    const statuses = statusesOf(checks);
    const docker = variant === 'bare' ? expectedOf('not_applicable: docker_api') : withDocker;
    for (const [id, status] of [...fresh, ...docker]) assert.equal(statuses[id], status, id);
    // The lists that the lab keeps may have grown old; nothing else may be in the dark.
    const dark = checks.filter(({ id, status }) => status === 'unknown' && id !== 'security_updates');
    assert.deepEqual(
      dark.map(({ id, evidence }) => `${id}: ${evidence}`),
      [],
    );
  });
}

test('one thing is changed on the server, and exactly its check changes', async (t) => {
  const inspected = new Inspected(t, await lab.fresh(t, 'bare'));
  const dropIn = (name: string, text: string) =>
    `printf '${text}\\n' > /etc/ssh/sshd_config.d/${name}.conf; systemctl reload ssh`;
  const release = '/var/lib/apt/lists/*security*InRelease';
  const steps: readonly (readonly [string, Statuses])[] = [
    [`sed -i "s/^Date: .*/Date: $(date -uR)/" ${release}`, {}],
    [`sed -i "s/^Date: .*/Date: $(date -uR -d '9 days ago')/" ${release}`, { security_updates: 'unknown' }],
    // The first value wins: the later file changes nothing.
    [dropIn('05-first', 'PasswordAuthentication no'), { ssh_password_login: 'pass' }],
    [dropIn('50-later', 'PasswordAuthentication yes'), {}],
    ['useradd --create-home --shell /bin/bash eve', {}],
    [dropIn('06-match', 'Match User eve\\n  PasswordAuthentication yes'), { ssh_password_login: 'fail' }],
    [dropIn('07-root', 'Match all\\nPermitRootLogin no'), { ssh_root_login: 'pass' }],
    ['touch -d "1 hour" /etc/ssh/sshd_config.d/05-first.conf', { ssh_config_applied: 'warn' }],
    ['passwd --delete eve', { empty_passwords: 'fail' }],
    ['useradd --non-unique --uid 0 toor', { extra_root_accounts: 'fail' }],
    [
      "echo 'eve ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/eve; chmod 440 /etc/sudoers.d/eve",
      { sudo_without_password: 'warn' },
    ],
    ['chmod 644 /etc/shadow', { file_modes: 'fail' }],
    ['touch /etc/open; chmod 666 /etc/open', { world_writable_etc: 'fail' }],
    [
      'ssh-keygen -q -t rsa -b 2048 -N "" -f /tmp/k; cat /tmp/k.pub >> /root/.ssh/authorized_keys',
      { authorized_keys: 'warn' },
    ],
    [
      'systemd-run --quiet --unit=listener systemd-socket-activate --accept --listen=0.0.0.0:6379 cat',
      { open_ports: 'fail' },
    ],
    [
      'echo "deb [trusted=yes] http://x.test/debian x main" > /etc/apt/sources.list.d/x.list',
      { package_sources: 'fail' },
    ],
    [
      'mkdir -p /etc/systemd/journald.conf.d; printf "[Journal]\\nStorage=volatile\\n" > /etc/systemd/journald.conf.d/x.conf',
      { logs_kept: 'warn' },
    ],
  ];
  let before = await inspected.statuses();
  for (const [script, expected] of steps) {
    await inspected.sh(script);
    const after = await inspected.statuses();
    if (script.includes('uR)')) assert.match(after.security_updates ?? '', /pass|fail/);
    else assert.deepEqual(changesOf(before, after), expected, script);
    before = after;
  }
  await inspected.sh('echo Nonsense yes > /etc/ssh/sshd_config.d/01-x.conf');
  const { checks } = await inspected.check();
  const sshd = checks.filter(({ id }) => id.startsWith('ssh_'));
  assert.deepEqual([...new Set(sshd.map(({ status }) => status))], ['unknown']);
  assert.match(sshd[0]?.evidence ?? '', /Bad configuration option: Nonsense/);
});

test('a firewall counts when it really refuses, on each protocol by itself', async (t) => {
  const inspected = new Inspected(t, await lab.fresh(t, 'bare'));
  await inspected.sh('apt-get install -y -qq nftables >/dev/null 2>&1');
  const rules = (family: string, policy: string) =>
    inspected.sh(`nft flush ruleset; nft add table ${family} guard
nft 'add chain ${family} guard in { type filter hook input priority 0; policy ${policy}; }'
nft add rule ${family} guard in ct state established,related accept
nft add rule ${family} guard in iif lo accept
nft add rule ${family} guard in tcp dport 22 accept`);
  const firewall = async () => {
    const { firewall_active, firewall_ipv6, firewall_at_boot } = await inspected.statuses();
    return [firewall_active, firewall_ipv6, firewall_at_boot];
  };
  assert.deepEqual(await firewall(), ['fail', 'not_applicable', 'not_applicable']);
  await rules('ip', 'drop');
  assert.deepEqual(await firewall(), ['pass', 'not_applicable', 'warn']);
  await inspected.sh('ip addr add fd00:213::5/64 dev host0 nodad; systemctl enable nftables 2>/dev/null');
  assert.deepEqual(await firewall(), ['pass', 'fail', 'pass']);
  await rules('inet', 'drop');
  assert.deepEqual(await firewall(), ['pass', 'pass', 'pass']);
  await rules('inet', 'accept');
  assert.deepEqual(await firewall(), ['fail', 'fail', 'not_applicable']);
});

test('a port that Docker publishes answers in spite of ufw, until DOCKER-USER refuses it', async (t) => {
  const inspected = new Inspected(t, await lab.fresh(t, 'docker'));
  await inspected.sh(
    'apt-get install -y -qq ufw >/dev/null 2>&1; ufw allow 22/tcp >/dev/null; ufw --force enable >/dev/null',
  );
  await inspected.sh('docker run --quiet --detach --name web --publish 8080:80 nginx >/dev/null');
  const before = await inspected.statuses();
  const { firewall_active, firewall_at_boot, open_ports, docker_published_ports, docker_firewall } = before;
  assert.deepEqual([firewall_active, firewall_at_boot], ['pass', 'pass']);
  assert.deepEqual([open_ports, docker_published_ports, docker_firewall], ['fail', 'fail', 'warn']);
  await inspected.sh('iptables -I DOCKER-USER -i host0 -m conntrack --ctstate NEW -j DROP');
  assert.deepEqual(changesOf(before, await inspected.statuses()), {
    ...{ open_ports: 'pass', docker_published_ports: 'pass', docker_firewall: 'pass' },
  });
});

test('fail2ban on Debian 12 is dead as installed, bans with the systemd backend, and may not ban us', async (t) => {
  const inspected = new Inspected(t, await lab.fresh(t, 'bookworm'));
  await inspected.sh('apt-get install -y -qq fail2ban >/dev/null 2>&1');
  const bans = async (ourAddress = '203.0.113.7') => {
    const { fail2ban_bans, own_address_not_banned } = await inspected.statuses({ ourAddress });
    return [fail2ban_bans, own_address_not_banned];
  };
  assert.deepEqual(await bans(), ['fail', 'not_applicable']);
  const jail = (more: string) =>
    inspected.sh(`printf '[DEFAULT]\\nbackend = systemd\\n${more}' > /etc/fail2ban/jail.d/50-x.local
apt-get install -y -qq python3-systemd >/dev/null 2>&1; systemctl restart fail2ban
for i in $(seq 100); do fail2ban-client status sshd >/dev/null 2>&1 && break; sleep 0.1; done`);
  await jail('');
  assert.deepEqual(await bans(), ['pass', 'warn']);
  await inspected.sh('fail2ban-client set sshd banip 203.0.113.7');
  assert.deepEqual(await bans(), ['pass', 'fail']);
  await jail('ignoreip = 203.0.113.0/24\\n[sshd]\\nport = 2222\\n');
  assert.deepEqual(await bans(), ['fail', 'pass']);
});

test('by a sudo user, all of it works the same, and our address is known without being told', async (t) => {
  const inspected = new Inspected(t, await lab.fresh(t, 'sudo'));
  const key = readFileSync(`${lab.about.dir}/id_ed25519.pub`, 'utf8').trim();
  await inspected.sh(`install -d -m 700 -o deploy -g deploy /home/deploy/.ssh
echo '${key}' > /home/deploy/.ssh/authorized_keys
chown deploy:deploy /home/deploy/.ssh/authorized_keys; chmod 600 /home/deploy/.ssh/authorized_keys
echo 'deploy ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/90-slipway-deploy; chmod 440 /etc/sudoers.d/90-slipway-deploy`);
  const { state, checks } = await inspected.check();
  assert.equal(state, 'at_risk');
  const statuses = statusesOf(checks);
  assert.equal(statuses.ssh_root_login, 'pass');
  assert.equal(statuses.ssh_password_login, 'fail');
  assert.equal(statuses.sudo_without_password, 'pass');
  const evidence = (id: string) => checks.find((check) => check.id === id)?.evidence ?? '';
  assert.match(evidence('ssh_password_login'), /deploy/);
  assert.match(evidence('ssh_password_login'), new RegExp(`deploy from ${RegExp.escape(lab.about.address)}`));
  assert.match(evidence('authorized_keys'), /ED25519 256 .*\(deploy\)/);
  // A hash never leaves the server.
  assert.doesNotMatch(JSON.stringify(checks), /\$6\$|\$y\$|BEGIN .*PRIVATE KEY/);
});
