/** Facts for tests: what a well-kept Debian 13 answered, with some sections replaced. Only tests import this. */

import { Facts, type PortProbe, type Section } from '../../src/areas/servers/security/facts.ts';
import type { JudgeContext, SecurityCheck } from '../../src/areas/servers/security/rule.ts';
import { judge } from '../../src/areas/servers/security/security.ts';

export const now = new Date('2026-11-15T06:00:00Z');
export const context: JudgeContext = {
  host: '10.0.0.5',
  port: 22,
  username: 'deploy',
  ourAddress: '10.0.0.1',
  now,
};

/** One view of `sshd -T -C`, as OpenSSH 10.0 prints it, without the lines that no check reads. */
export function sshdView(user: string, address: string, changes: Record<string, string> = {}): string {
  const settings: Record<string, string> = {
    port: '22',
    listenaddress: '0.0.0.0:22',
    logingracetime: '30',
    maxauthtries: '3',
    permitrootlogin: 'no',
    pubkeyauthentication: 'yes',
    passwordauthentication: 'no',
    kbdinteractiveauthentication: 'no',
    x11forwarding: 'no',
    permitemptypasswords: 'no',
    allowtcpforwarding: 'no',
    allowagentforwarding: 'no',
    disableforwarding: 'no',
    ciphers: 'chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes256-ctr',
    macs: 'umac-128-etm@openssh.com,hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com',
    kexalgorithms: 'mlkem768x25519-sha256,sntrup761x25519-sha512,curve25519-sha256',
    hostkeyalgorithms: 'ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256',
    authenticationmethods: 'any',
    allowusers: 'deploy',
    ...changes,
  };
  const lines = Object.entries(settings).map(([key, value]) => (value === '' ? '' : `${key} ${value}`));
  return [`= ${user} ${address}`, ...lines].join('\n');
}

const good: Readonly<Record<string, string>> = {
  clock: '1794722400.5',
  end: '1794722402.5',
  connection: '10.0.0.1 51234 10.0.0.5 22',
  os: 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_ID="13"\nID=debian',
  container: 'none',
  sshd: [sshdView('root', '192.0.2.1'), sshdView('deploy', '192.0.2.1'), sshdView('deploy', '10.0.0.1')].join(
    '\n',
  ),
  sshd_running:
    'ActiveState=active\nStateChangeTimestamp=@1794720392\nNewestFile=1778070812.0 /etc/ssh/sshd_config.d',
  host_keys:
    '/etc/ssh/ssh_host_ed25519_key 256 SHA256:H1k0/CIGRirJyHMxS0dEzhx7VrAMt0363lfQRvdR6e0 f13 (ED25519)',
  listeners: 'LISTEN 0      128      0.0.0.0:22    0.0.0.0:* users:(("sshd",pid=98,fd=6))       ',
  addresses: [
    '1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever',
    '2: host0    inet 10.0.0.5/24 brd 10.0.0.255 scope global host0\\       valid_lft forever',
    '2: host0    inet6 fd00:5::5/64 scope global \\       valid_lft forever preferred_lft forever',
  ].join('\n'),
  routes: 'host0',
  iptables: '*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\nCOMMIT',
  ip6tables: '*filter\n:INPUT DROP [0:0]\nCOMMIT',
  ufw: 'Status: active\nDefault: deny (incoming), allow (outgoing), deny (routed)',
  boot_units: 'ssh.service enabled enabled\nufw.service enabled enabled\nufw.conf ENABLED=yes',
  fail2ban: [
    ...['service active', 'Status for the jail: sshd', '|- Filter', '|  |- Currently failed:\t0'],
    ...[
      '|  `- Journal matches:\t_SYSTEMD_UNIT=ssh.service + _COMM=sshd',
      '`- Actions',
      '   `- Banned IP list:\t',
    ],
    ...['action nftables port ssh', 'tool nft', 'tool iptables'],
    ...[
      'ignored These IP addresses/networks are ignored: |- 127.0.0.0/8 `- 10.0.0.1',
      "banned [{'sshd': []}]",
    ],
  ].join('\n'),
  apt: '0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.',
  apt_lists: [
    'release mirror.test_debian-security_dists_trixie-security_InRelease yes Date: Thu, 12 Nov 2026 23:08:29 UTC',
    'release mirror.test_debian_dists_trixie_InRelease yes Date: Sat, 12 Sep 2026 07:55:41 UTC',
  ].join('\n'),
  apt_config: [
    ...['APT::Periodic::Update-Package-Lists "1";', 'APT::Periodic::Unattended-Upgrade "1";'],
    ...['Unattended-Upgrade::Origins-Pattern:: "origin=Debian,label=Debian-Security";', 'package installed'],
    ...['timer apt-daily.timer active', 'timer apt-daily-upgrade.timer active'],
  ].join('\n'),
  reboot:
    'running 6.12.57+deb13-amd64\nkernel vmlinuz-6.12.57+deb13-amd64\nkernel vmlinuz-6.12.9+deb13-amd64',
  accounts: 'zero root\ndocker deploy\nwhole',
  sudoers:
    'check /etc/sudoers: parsed OK\ncheck /etc/sudoers.d/90-slipway-deploy: parsed OK\nline /etc/sudoers.d/90-slipway-deploy deploy ALL=(ALL) NOPASSWD: ALL',
  authorized_keys:
    '= deploy /home/deploy/.ssh/authorized_keys 1\n256 SHA256:KZDHUquYBU5WVJ/JanhfGB/Tsu+H6Zts5fshtmKyuhQ ada (ED25519)\nwhole',
  modes: [
    ...[
      'home 700 deploy deploy /home/deploy/.ssh',
      'home 600 deploy deploy /home/deploy/.ssh/authorized_keys',
    ],
    ...['private 600 root root /etc/ssh/ssh_host_ed25519_key', 'shadow 640 root root /etc/shadow'],
  ].join('\n'),
  world_writable: 'whole',
  sysctl: [
    ...['net/ipv4/tcp_syncookies 1', 'net/ipv4/ip_forward 1', 'net/ipv4/conf/all/rp_filter 1'],
    ...['net/ipv4/conf/all/accept_redirects 0', 'net/ipv4/conf/all/send_redirects 0'],
    ...['net/ipv4/conf/all/accept_source_route 0', 'net/ipv4/conf/host0/rp_filter 0'],
    ...['net/ipv4/conf/host0/accept_redirects 1', 'net/ipv4/conf/host0/send_redirects 0'],
    ...['net/ipv4/conf/host0/accept_source_route 1', 'kernel/kptr_restrict 2', 'kernel/dmesg_restrict 1'],
    ...['kernel/unprivileged_bpf_disabled 2', 'kernel/yama/ptrace_scope 1', 'fs/protected_hardlinks 1'],
    ...['fs/protected_symlinks 1', 'fs/suid_dumpable 0', 'kernel/core_pattern core'],
  ].join('\n'),
  core: '*               hard    core            0',
  time: 'CanNTP=yes\nNTP=yes\nNTPSynchronized=yes\nunit systemd-timesyncd',
  disk: 'space /dev/vda1 264212084 30677372  71513376      31% /\ninodes /dev/vda1 16777216 501993 16275223    3% /',
  apparmor: 'enabled Y\nenforced 12\nselinux ',
  logs: 'journal',
};

/** Not installed on it. */
const absent = ['nft', 'docker', 'containers', 'dockerd', 'dockerd_arguments'];

export type Change = string | Section | null;

/** `null` leaves the section out; a text replaces what it said. */
export function factsWith(
  changes: Readonly<Record<string, Change>> = {},
  probes?: readonly PortProbe[],
): Facts {
  const sections = new Map<string, Section>();
  for (const name of absent) sections.set(name, { code: '127', text: '' });
  for (const [name, text] of Object.entries(good)) sections.set(name, { code: '0', text });
  for (const [name, change] of Object.entries(changes)) {
    if (change === null) sections.delete(name);
    else sections.set(name, typeof change === 'string' ? { code: '0', text: change } : change);
  }
  const roundTrip = { sentMs: now.getTime(), endedMs: now.getTime() + 3_000 };
  return new Facts(sections, roundTrip, probes ?? [{ address: context.host, port: 22, state: 'open' }]);
}

export function checkOf(id: string, facts: Facts, ctx: JudgeContext = context): SecurityCheck {
  const found = judge(facts, ctx).find((check) => check.id === id);
  if (!found) throw new Error(`there is no check ${id}`);
  return found;
}

export const sectionNames = Object.keys(good);
