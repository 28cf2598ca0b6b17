import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOf, context, factsWith } from '../../../../../test/support/security-facts.ts';

const status = (id: string, changes: Record<string, string>) => checkOf(id, factsWith(changes)).status;

test('an empty password, a second root and a stranger in the docker group are found', () => {
  assert.equal(status('empty_passwords', { accounts: 'empty guest\nzero root\nwhole' }), 'fail');
  assert.equal(status('extra_root_accounts', { accounts: 'zero root\nzero toor\nwhole' }), 'fail');
  assert.equal(status('docker_group', { accounts: 'zero root\ndocker deploy mallory\nwhole' }), 'warn');
  assert.equal(status('extra_root_accounts', { accounts: 'zero root' }), 'unknown');
});

test('NOPASSWD is ours in our own file for our own user only, and a broken sudoers is unknown', () => {
  const ours = factsWith().text('sudoers');
  const sudo = (line: string) => status('sudo_without_password', { sudoers: `${ours}\n${line}` });
  assert.equal(sudo(''), 'pass');
  assert.equal(sudo('line /etc/sudoers.d/90-cloud-init-users ubuntu ALL=(ALL) NOPASSWD:ALL'), 'warn');
  assert.equal(sudo('line /etc/sudoers.d/90-slipway-deploy ALL ALL=(ALL) NOPASSWD: ALL'), 'warn');
  assert.equal(sudo('line /etc/sudoers Defaults !authenticate'), 'warn');
  assert.equal(sudo('check /etc/sudoers.d/x:1:1: syntax error'), 'unknown');
});

test('weak keys are found by type and size, and a line that is no key is not passed over', () => {
  const keys = (...lines: string[]) =>
    status('authorized_keys', {
      authorized_keys: ['= root /root/.ssh/authorized_keys 1', ...lines, 'whole'].join('\n'),
    });
  assert.equal(keys('1024 SHA256:x old (DSA)'), 'fail');
  assert.equal(keys('1024 SHA256:x old (RSA)'), 'fail');
  assert.equal(keys('2048 SHA256:x ada@laptop (RSA)'), 'warn');
  assert.equal(keys('4096 SHA256:x ada@laptop (RSA)'), 'pass');
  assert.equal(keys('/root/.ssh/authorized_keys is not a public key file.'), 'unknown');
});

test('open file modes and wrong owners are found', () => {
  const good = factsWith().text('modes');
  const modes = (from: string, to: string) => status('file_modes', { modes: good.replace(from, to) });
  assert.equal(modes('600 root root /etc/ssh', '644 root root /etc/ssh'), 'fail');
  assert.equal(modes('640 root root /etc/shadow', '644 root root /etc/shadow'), 'fail');
  assert.equal(modes('home 700', 'home 755'), 'fail');
  assert.equal(modes('home 600 deploy', 'home 600 mallory'), 'fail');
  assert.equal(modes('shadow 640 root root /etc/shadow', ''), 'unknown');
  assert.equal(status('world_writable_etc', { world_writable: '/etc/cron.d/x\nwhole' }), 'fail');
  assert.equal(status('world_writable_etc', { world_writable: '' }), 'unknown');
});

test('the device’s own value counts as the kernel joins it with the one for all', () => {
  const good = factsWith().text('sysctl');
  const net = (from: string, to: string) => status('kernel_network', { sysctl: good.replace(from, to) });
  assert.equal(net('all/rp_filter 1', 'all/rp_filter 0'), 'warn');
  assert.equal(net('all/send_redirects 0', 'all/send_redirects 1'), 'warn');
  // A host that does not forward takes redirects when either says so.
  assert.equal(net('ip_forward 1', 'ip_forward 0'), 'warn');
  assert.equal(net('all/accept_source_route 0', 'all/accept_source_route 1'), 'warn');
});

test('in a container, what belongs to the host is not applicable, with what was seen', () => {
  const facts = factsWith({
    container: 'lxc',
    time: 'NTP=no\nNTPSynchronized=no',
    apparmor: 'enabled ',
    reboot: 'running 6.1.0',
  });
  for (const id of ['kernel_protection', 'time_synchronised', 'apparmor', 'reboot_needed'])
    assert.equal(checkOf(id, facts, context).status, 'not_applicable', id);
  assert.match(checkOf('kernel_protection', facts).evidence, /kptr_restrict 2/);
});

test('a full disk fails, a clock that nobody keeps fails, logs in memory warn', () => {
  const disk = (used: string) =>
    status('disk_space', { disk: `space /dev/vda1 100 80 20 ${used} /\ninodes /dev/vda1 0 0 0 - /` });
  assert.deepEqual(['79%', '80%', '90%'].map(disk), ['pass', 'warn', 'fail']);
  assert.equal(status('time_synchronised', { time: 'NTP=no\nNTPSynchronized=no' }), 'fail');
  assert.equal(
    status('time_synchronised', { time: 'NTPSynchronized=no\nLeap status     : Normal\nunit chrony' }),
    'pass',
  );
  assert.equal(status('logs_kept', { logs: '' }), 'warn');
  assert.equal(status('logs_kept', { logs: 'journal\nStorage=volatile' }), 'warn');
});

test('Docker’s logs, live-restore and new privileges are read from the daemon and its file', () => {
  const docker = (logging: string) =>
    `{"version":"26","liveRestore":false,"security":[],"logging":"${logging}"}`;
  const base = { containers: '"/web" {} {}', dockerd_arguments: 'dockerd', dockerd: '{}' };
  assert.equal(status('docker_log_rotation', { ...base, docker: docker('local') }), 'pass');
  assert.equal(status('docker_log_rotation', { ...base, docker: docker('json-file') }), 'warn');
  const bounded = '{"log-opts":{"max-size":"10m"},"no-new-privileges":true}';
  assert.equal(
    status('docker_log_rotation', { ...base, docker: docker('json-file'), dockerd: bounded }),
    'warn',
  );
  assert.equal(
    status('docker_log_rotation', { ...base, docker: docker('json-file'), dockerd: bounded, containers: '' }),
    'pass',
  );
  assert.equal(
    status('docker_no_new_privileges', { ...base, docker: docker('local'), dockerd: bounded }),
    'pass',
  );
  assert.equal(status('docker_live_restore', { ...base, docker: docker('local') }), 'warn');
});
