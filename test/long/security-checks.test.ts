import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { changesOf, Inspected, type Statuses, statusesOf } from '../support/inspected.ts';
import { openLab } from '../support/lab.ts';

const lab = await openLab();

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
    const { state, score, checks } = await inspected.check();
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
    const { checks: now } = await inspected.check();
    const after = statusesOf(now);
    const evidence = now.find(({ id }) => id === 'security_updates')?.evidence;
    if (script.includes('uR)')) assert.match(after.security_updates ?? '', /pass|fail/, evidence);
    else assert.deepEqual(changesOf(before, after), expected, script);
    before = after;
  }
  await inspected.sh('echo Nonsense yes > /etc/ssh/sshd_config.d/01-x.conf');
  const { checks } = await inspected.check();
  const sshd = checks.filter(({ id }) => id.startsWith('ssh_'));
  assert.deepEqual([...new Set(sshd.map(({ status }) => status))], ['unknown']);
  assert.match(sshd[0]?.evidence ?? '', /Bad configuration option: Nonsense/);
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
