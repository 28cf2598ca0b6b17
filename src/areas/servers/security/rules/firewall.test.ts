import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Change,
  checkOf,
  context,
  factsWith,
  sshdView,
} from '../../../../../test/support/security-facts.ts';
import type { PortProbe, PortState } from '../facts.ts';

/** As ufw with an allowed SSH port and Docker leave it on Debian 13, shortened to what an incoming packet meets. */
const ufw = `*filter
:INPUT DROP [0:0]
:FORWARD DROP [0:0]
:DOCKER-USER - [0:0]
:ufw-after-input - [0:0]
:ufw-before-input - [0:0]
:ufw-not-local - [0:0]
:ufw-reject-input - [0:0]
:ufw-skip-to-policy-input - [0:0]
:ufw-user-input - [0:0]
-A INPUT -j ufw-before-input
-A INPUT -j ufw-after-input
-A INPUT -j ufw-reject-input
-A FORWARD -j DOCKER-USER
-A DOCKER-USER -j RETURN
-A ufw-after-input -p udp -m udp --dport 137 -j ufw-skip-to-policy-input
-A ufw-after-input -m addrtype --dst-type BROADCAST -j ufw-skip-to-policy-input
-A ufw-before-input -i lo -j ACCEPT
-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A ufw-before-input -m conntrack --ctstate INVALID -j DROP
-A ufw-before-input -j ufw-not-local
-A ufw-before-input -d 224.0.0.251/32 -p udp -m udp --dport 5353 -j ACCEPT
-A ufw-before-input -j ufw-user-input
-A ufw-not-local -m addrtype --dst-type LOCAL -j RETURN
-A ufw-not-local -m limit --limit 3/min --limit-burst 10 -j LOG --log-prefix "[UFW BLOCK] "
-A ufw-not-local -j DROP
-A ufw-skip-to-policy-input -j DROP
-A ufw-user-input -p tcp -m tcp --dport 22 -j ACCEPT
COMMIT`;

const host = context.host;
const probed = (address: string, ports: Readonly<Record<number, PortState>>): PortProbe[] =>
  Object.entries(ports).map(([port, state]) => ({ address, port: Number(port), state }));
const tried = (state: PortState) => probed(host, { 22: 'open', 51234: state, 61234: state });

test('a firewall counts when ports that nobody uses are silent from outside, whatever its rules seem to say', () => {
  const open = '*filter\n:INPUT ACCEPT [0:0]\nCOMMIT';
  const active = (iptables: string, probes: PortProbe[]) =>
    checkOf('firewall_active', factsWith({ iptables }, probes));
  assert.equal(active(ufw, tried('filtered')).status, 'pass');
  assert.equal(active(open, tried('filtered')).status, 'pass');
  assert.equal(active(open, tried('closed')).status, 'fail');
  assert.match(active(open, tried('closed')).evidence, /51234 and 61234 reaches the server/);
  // The rules promise more than they keep, or make an exception for us: neither is known.
  const everything = ufw.replace('--dport 22 -j ACCEPT', '--dport 1:65535 -j ACCEPT');
  assert.equal(active(everything, tried('closed')).status, 'unknown');
  // A rule that rejects looks from outside like a port on which nobody listens.
  const rejects = open.replace('COMMIT', '-A INPUT -j REJECT --reject-with icmp-port-unreachable\nCOMMIT');
  assert.equal(active(rejects, tried('closed')).status, 'pass');
});

test('where nothing answers from here, silence proves nothing: the default of the rules counts', () => {
  const silent = probed(host, { 22: 'filtered', 51234: 'filtered', 61234: 'filtered' });
  const active = (iptables: Change, nft: Change = { code: '127', text: '' }) =>
    checkOf('firewall_active', factsWith({ iptables, nft }, silent)).status;
  assert.equal(active(ufw), 'pass');
  assert.equal(active(ufw.replace(':INPUT DROP', ':INPUT ACCEPT')), 'fail');
  const rules = (...lines: string[]) => ['*filter', ...lines, 'COMMIT'].join('\n');
  assert.equal(active(rules(':INPUT ACCEPT [0:0]', '-A INPUT -i lo -j ACCEPT', '-A INPUT -j DROP')), 'pass');
  assert.equal(active(rules(':INPUT ACCEPT [0:0]', '-A INPUT -i lo -j DROP')), 'fail');
  assert.equal(active(rules(':INPUT ACCEPT [0:0]', ':FORWARD DROP [0:0]')), 'fail');
  const none = { code: '127', text: '' };
  const nft = (family: string, policy: string, ...last: object[]) =>
    JSON.stringify({
      nftables: [
        { metainfo: { version: '1.1.3', json_schema_version: 1 } },
        { chain: { family, table: 'guard', name: 'in', type: 'filter', hook: 'input', prio: 0, policy } },
        { rule: { family, table: 'guard', chain: 'in', expr: last } },
      ],
    });
  const ssh = { match: { op: '==', left: { payload: { protocol: 'tcp', field: 'dport' } }, right: 22 } };
  assert.equal(active(none, nft('inet', 'drop', ssh, { accept: null })), 'pass');
  assert.equal(active(none, nft('inet', 'accept', ssh, { accept: null })), 'fail');
  assert.equal(active(none, nft('inet', 'accept', ssh, { drop: null })), 'fail');
  assert.equal(active(none, nft('inet', 'accept', { counter: { packets: 1 } }, { drop: null })), 'pass');
  assert.equal(active(none, nft('ip6', 'drop', ssh, { accept: null })), 'fail');
});

const ipv6Address = '3: eth0    inet6 2a01:4f8:c0c:1::1/64 scope global \\       valid_lft forever';
const both = `${factsWith().text('addresses')}\n${ipv6Address}`;
const listens = (...ports: number[]) =>
  [22, ...ports]
    .flatMap((port) => [`LISTEN 0 128 0.0.0.0:${port} 0.0.0.0:*`, `LISTEN 0 128 [::]:${port} [::]:*`])
    .join('\n');

test('IPv6 that is open while IPv4 is closed fails, by its rules and by its ports', () => {
  const changes = {
    addresses: both,
    ip6tables: '*filter\n:INPUT ACCEPT [0:0]\nCOMMIT',
    listeners: listens(6379),
  };
  const facts = factsWith(changes, [
    ...[...tried('filtered'), ...probed(host, { 6379: 'filtered' })],
    ...probed('2a01:4f8:c0c:1::1', { 22: 'open', 6379: 'open', 51234: 'closed', 61234: 'closed' }),
  ]);
  assert.equal(checkOf('firewall_active', facts).status, 'pass');
  assert.equal(checkOf('firewall_ipv6', facts).status, 'fail');
  const ports = checkOf('open_ports', facts);
  assert.equal(ports.status, 'fail');
  assert.match(ports.evidence, /^\[2a01:4f8:c0c:1::1\]:6379 answers/);
});

test('where IPv6 cannot be tried from here, silence proves nothing: the rules decide, or it is unknown', () => {
  const probes = ['10.0.0.5', '2a01:4f8:c0c:1::1'].flatMap((address) =>
    probed(address, { 22: address === host ? 'open' : 'filtered', 6379: 'filtered' }),
  );
  const status = (policy: string) =>
    checkOf(
      'open_ports',
      factsWith(
        { addresses: both, ip6tables: `*filter\n:INPUT ${policy} [0:0]\nCOMMIT`, listeners: listens(6379) },
        probes,
      ),
    ).status;
  assert.equal(status('DROP'), 'pass');
  assert.equal(status('ACCEPT'), 'unknown');
});

test('a port of an application is no surprise where the proxy listens on it, and is one where somebody else does', () => {
  const status = (program: string, port: number) =>
    checkOf(
      'open_ports',
      factsWith(
        { listeners: `LISTEN 0 4096 0.0.0.0:${port} 0.0.0.0:* users:(("${program}",pid=7,fd=4))` },
        probed(host, { 22: 'open', [port]: 'open' }),
      ),
    ).status;
  assert.equal(status('haproxy', 21_000), 'pass');
  assert.equal(status('haproxy', 21_999), 'pass');
  assert.equal(status('haproxy', 22_000), 'fail');
  assert.equal(status('node', 21_000), 'fail');
});

const docker = {
  docker: '{"version":"26.1.5","liveRestore":true,"security":["name=no-new-privileges"],"logging":"local"}',
  containers: '"/db" {"5432/tcp":[{"HostIp":"0.0.0.0","HostPort":"5432"}],"80/tcp":null} {}',
  dockerd: '{}',
  dockerd_arguments: '/usr/sbin/dockerd\n-H\nfd://',
  iptables: ufw,
  listeners: `${listens()}\nLISTEN 0 4096 0.0.0.0:5432 0.0.0.0:* users:(("docker-proxy",pid=7,fd=4))`,
};

test('ufw is active, yet the port that Docker publishes answers: the firewall passes, the port fails', () => {
  const facts = factsWith(docker, [
    { address: host, port: 22, state: 'open' },
    { address: host, port: 5432, state: 'open' },
  ]);
  assert.equal(checkOf('firewall_active', facts).status, 'pass');
  assert.equal(checkOf('open_ports', facts).status, 'fail');
  const published = checkOf('docker_published_ports', facts);
  assert.equal(published.status, 'fail');
  assert.equal(published.evidence, '10.0.0.5:5432 answers: container db');
  assert.equal(checkOf('docker_firewall', facts).status, 'warn');
});

test('a published port that is silent from outside is covered; without one to try, rules that drop count', () => {
  const rule = '-A DOCKER-USER -i host0 -m conntrack --ctstate NEW -j DROP\n-A DOCKER-USER -j RETURN';
  const dropping = { ...docker, iptables: ufw.replace('-A DOCKER-USER -j RETURN', rule) };
  const covered = (changes: typeof docker, probes?: PortProbe[]) =>
    checkOf('docker_firewall', factsWith(changes, probes)).status;
  assert.equal(covered(docker, probed(host, { 22: 'open', 5432: 'filtered' })), 'pass');
  assert.equal(covered(dropping, probed(host, { 22: 'open', 5432: 'open' })), 'warn');
  assert.equal(covered(dropping), 'pass');
  assert.equal(covered(docker), 'warn');
  // Refused, which a container does that does not listen: nothing is known of the firewall by that.
  assert.equal(covered(docker, probed(host, { 22: 'open', 5432: 'closed' })), 'warn');
});

test("Docker's TCP port fails by its settings, its arguments or a socket, and warns on loopback", () => {
  const api = (changes: Record<string, string>) =>
    checkOf('docker_api', factsWith({ ...docker, ...changes })).status;
  assert.equal(api({}), 'pass');
  assert.equal(api({ dockerd: '{"hosts":["unix:///var/run/docker.sock","tcp://0.0.0.0:2375"]}' }), 'fail');
  assert.equal(api({ dockerd_arguments: 'dockerd\n-H=tcp://0.0.0.0:4243' }), 'fail');
  assert.equal(api({ listeners: 'LISTEN 0 128 *:2375 *:* users:(("systemd",pid=1,fd=4))' }), 'fail');
  assert.equal(api({ dockerd: '{"hosts":["tcp://127.0.0.1:2375"]}' }), 'warn');
  assert.equal(api({ dockerd: '{"hosts":' }), 'unknown');
});

test('fail2ban of Debian 12, dead for want of a log file, does not pass', () => {
  const dead = `service failed
ERROR   Failed to access socket path: /var/run/fail2ban/fail2ban.sock. Is fail2ban running?
ERROR   Failed during configuration: Have not found any log file for sshd jail`;
  const check = checkOf('fail2ban_bans', factsWith({ fail2ban: dead }));
  assert.equal(check.status, 'fail');
  assert.match(check.evidence, /Have not found any log file/);
  assert.equal(checkOf('own_address_not_banned', factsWith({ fail2ban: dead })).status, 'not_applicable');
});

test('fail2ban that hears nothing, has no tool or guards another port does not ban', () => {
  const alive = factsWith().text('fail2ban');
  const journal = /Journal matches.*/;
  const bans = (fail2ban: string, more: Record<string, string> = {}) =>
    checkOf('fail2ban_bans', factsWith({ fail2ban, ...more })).status;
  assert.equal(bans(alive), 'pass');
  assert.equal(bans(alive.replace(journal, 'File list:\t/var/log/auth.log')), 'fail');
  const written = (seconds: number) =>
    `${alive.replace(journal, 'File list:\t/var/log/auth.log')}\nlog /var/log/auth.log 100 ${seconds}`;
  assert.equal(bans(written(1_794_720_000)), 'pass');
  assert.equal(bans(written(1_784_720_000)), 'fail');
  assert.equal(bans(alive.replace('tool nft\n', '')), 'fail');
  const split = { sshd: sshdView('root', '192.0.2.1', { sshdsessionpath: '/usr/lib/openssh/sshd-session' }) };
  assert.equal(bans(alive, split), 'pass');
  assert.equal(bans(alive.replace('ssh.service', 'sshd.service'), split), 'fail');
  assert.equal(bans(alive, { sshd: sshdView('root', '192.0.2.1', { port: '2222' }) }), 'fail');
});

test('our own address that is banned is found, and one that could be is warned of', () => {
  const alive = factsWith().text('fail2ban');
  const own = (fail2ban: string) => checkOf('own_address_not_banned', factsWith({ fail2ban })).status;
  assert.equal(own(alive), 'pass');
  assert.equal(own(alive.replace("'sshd': []", "'sshd': ['203.0.113.9', '10.0.0.1']")), 'fail');
  assert.equal(own(alive.replace(/^ignored .*$/m, 'ignored No IP address/network is ignored')), 'warn');
  assert.equal(own(alive.replace('`- 10.0.0.1', '`- 10.0.0.0/24')), 'pass');
});
