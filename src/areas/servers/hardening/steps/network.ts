/**
 * The firewall, the ports that Docker publishes around it, and fail2ban. The rules are tables of our own, each loaded
 * by a unit of our own: a drop there is final, whatever other tables say, and a restart of Docker does not touch them.
 * Where ufw is active it stays the firewall, and gets the missing allowances by its own command.
 */
import { isIPv6 } from 'node:net';
import { appPorts, isAppPort } from '../../../../app-ports.ts';
import { nftTable, nftUnit } from '../../../../remote/units/nft-table.ts';
import { paths } from '../paths.ts';
import type { StepPlan } from '../plan.ts';
import { plainAddress } from '../plan-request.ts';
import { sshPorts } from './ssh.ts';
import {
  fileChange,
  header,
  isUnchanged,
  missingPackages,
  type Planning,
  type StepMaker,
  step,
} from './step.ts';

const wants = '/etc/systemd/system/sysinit.target.wants';

function firewallRules(ports: readonly number[], tcp: readonly number[], ours: string): string {
  const family = isIPv6(ours) ? 'ip6' : 'ip';
  return `  chain input {
    type filter hook input priority filter; policy drop;
    iif "lo" accept
    ${family} saddr ${ours} tcp dport { ${ports.join(', ')} } accept
    ct state established,related accept
    ct state invalid drop
    tcp dport { ${tcp.join(', ')}, ${appPorts.first}-${appPorts.last} } accept
    udp dport 443 accept
    include "/etc/slipway/cluster.d/*.nft"
    icmp type { echo-request, destination-unreachable, time-exceeded, parameter-problem } accept
    icmpv6 type { echo-request, destination-unreachable, packet-too-big, time-exceeded, parameter-problem, nd-neighbor-solicit, nd-neighbor-advert, nd-router-advert, mld-listener-query, mld-listener-report, mld-listener-done, mld2-listener-report } accept
    udp sport 67 udp dport 68 accept
    ip6 saddr fe80::/10 udp sport 547 udp dport 546 accept
    iifname "docker0" accept
    iifname "docker_gwbridge" accept
    iifname "br-*" accept
    counter
  }
`;
}

// Protocols by their numbers (6 TCP, 17 UDP): a small server has no /etc/protocols to look names up in.
// A published port is one whose destination Docker has rewritten; the port that was asked for is in the original
// direction of the connection. Containers among themselves and towards the outside are not touched.
function dockerRules(tcp: readonly number[]): string {
  return `  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    ct state established,related accept
    oifname "docker0" jump outside
    oifname "docker_gwbridge" jump outside
    oifname "br-*" ct status dnat jump outside
  }
  chain outside {
    iifname "docker0" return
    iifname "docker_gwbridge" return
    iifname "br-*" return
    iif "lo" return
    include "/etc/slipway/cluster.d/published/*.nft"
    ct status dnat meta l4proto 6 ct original proto-dst { ${tcp.join(', ')} } return
    ct status dnat meta l4proto 17 ct original proto-dst 443 return
    counter drop
  }
`;
}

interface TableStep extends Pick<StepPlan, 'id' | 'title' | 'why' | 'lockoutRisk'> {
  readonly table: string;
  readonly rules: string;
  readonly path: string;
  readonly unitPath: string;
  readonly description: string;
}

function tableStep({ state }: Planning, about: TableStep): StepPlan | undefined {
  const { id, title, why, lockoutRisk, table, rules, path, unitPath, description } = about;
  const unit = unitPath.slice(unitPath.lastIndexOf('/') + 1);
  const files = [
    fileChange(state, path, `${header}${nftTable(table, rules)}`),
    fileChange(state, unitPath, `${header}${nftUnit(description, path, table)}`),
  ];
  const now = state.units.get(unit);
  const isLoaded = now?.enabled === 'enabled' && now.active === 'active' && state.tables.has(table);
  if (isUnchanged(files) && isLoaded) return undefined;
  return step({
    id,
    title,
    why,
    lockoutRisk,
    files,
    packages: missingPackages(state, ['nftables']),
    commands: [
      ['nft', '--check', '--file', path],
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', unit],
      ['systemctl', 'reload-or-restart', unit],
    ],
    alsoTouches: [wants],
    checks: [
      { kind: 'succeeds', argv: ['nft', 'list', 'table', ...table.split(' ')] },
      { kind: 'succeeds', argv: ['systemctl', 'is-active', unit] },
    ],
    undo: [{ do: 'drop_table', unit, table }],
  });
}

/** SSH first, then what everybody may reach. Ports of applications are open as a range: nft takes no port twice in a set. */
function openTcp({ state, request }: Planning): number[] {
  const all = [...sshPorts(state, request.sshPort), 80, 443, ...request.allowPorts];
  return [...new Set(all)].filter((port) => !isAppPort(port)).sort((a, b) => a - b);
}

export const firewall: StepMaker = (planning) => {
  const { state, request, note } = planning;
  const tcp = openTcp(planning);
  const why = `Open: ${tcp.join(', ')}, ${appPorts.first} to ${appPorts.last} (TCP), 443 (UDP), ICMP. Everything else from outside is dropped, over IPv6 too.`;
  if (state.isFirewalldActive) {
    note('firewall', 'Left out: firewalld is active and stays the firewall of this server.');
    return undefined;
  }
  if (state.ufw) return ufwStep(planning, tcp, why);
  const open = new Set([...tcp.map((port) => `tcp ${port}`), 'udp 443', 'udp 68', 'udp 546']);
  const isOpen = (each: string) =>
    open.has(each) || (each.startsWith('tcp ') && isAppPort(Number(each.slice(4))));
  const closed = state.listeners.filter((each) => !isOpen(each));
  const plan = tableStep(planning, {
    id: 'firewall',
    title: 'Close every port that is not needed',
    why,
    lockoutRisk: true,
    table: 'inet slipway',
    rules: firewallRules(sshPorts(state, request.sshPort), tcp, plainAddress(request.ourAddress)),
    path: paths.firewall,
    unitPath: paths.firewallUnit,
    description: 'Firewall of Slipway',
  });
  if (plan && closed.length > 0)
    note('firewall', `Listens now, and is closed from outside afterwards: ${closed.join(', ')}.`);
  return plan;
};

function ufwStep({ state, request }: Planning, tcp: readonly number[], why: string): StepPlan | undefined {
  const wanted = [...tcp.map((port) => `${port}/tcp`), `${appPorts.first}:${appPorts.last}/tcp`, '443/udp'];
  const absent = wanted.filter((each) => !state.ufw?.has(each) && !state.ufw?.has(each.replace(/\/.*/, '')));
  // Ours before all others: a limit on logins would take the proofs of the steps that follow for an attack.
  const ours = plainAddress(request.ourAddress);
  const unsure = sshPorts(state, request.sshPort).filter(
    (port) => !state.ufw?.has(`${port}/tcp from ${ours}`),
  );
  if (absent.length + unsure.length === 0) return undefined;
  return step({
    id: 'firewall',
    title: 'Let ufw allow what is needed',
    why,
    commands: [
      ...absent.map((each) => ['ufw', 'allow', each]),
      ...unsure.map((port) => [
        ...['ufw', 'prepend', 'allow', 'proto', 'tcp', 'from', ours, 'to', 'any', 'port', String(port)],
      ]),
    ],
    alsoTouches: ['/etc/ufw'],
    checks: [{ kind: 'succeeds', argv: ['ufw', 'status'], says: 'Status: active' }],
    undo: [{ do: 'restart_unit', unit: 'ufw.service' }],
  });
}

export const dockerPorts: StepMaker = (planning) => {
  const tcp = [...new Set([80, 443, ...planning.request.allowPorts])].sort((a, b) => a - b);
  return tableStep(planning, {
    id: 'docker_ports',
    title: 'Close ports that Docker opens around the firewall',
    why: `Docker publishes past every firewall. From outside only ${tcp.join(', ')} reach a container; containers among themselves are free.`,
    lockoutRisk: true,
    table: 'inet slipway_docker',
    rules: dockerRules(tcp),
    path: paths.dockerPorts,
    unitPath: paths.dockerPortsUnit,
    description: 'Ports published by Docker, as Slipway allows them',
  });
};

export const fail2ban: StepMaker = (planning) => {
  const { state, request } = planning;
  const ours = plainAddress(request.ourAddress);
  const wanted = ['fail2ban', 'python3-systemd', 'nftables'];
  const current = state.files.get(paths.fail2ban) ?? '';
  const kept = /^ignoreip = (.*)$/m.exec(current)?.[1]?.split(' ') ?? state.ignoredByFail2ban;
  const ignored = [...new Set(['127.0.0.1/8', '::1', ...kept, ours])];
  const text = `${header}[sshd]
enabled = true
backend = systemd
banaction = nftables-multiport
port = ${sshPorts(state, request.sshPort).join(',')}
maxretry = 5
findtime = 10m
bantime = 1h
ignoreip = ${ignored.join(' ')}
`;
  const files = [fileChange(state, paths.fail2ban, text)];
  const packages = missingPackages(state, wanted);
  const runs = state.units.get('fail2ban.service')?.active === 'active';
  const ignoresUs = state.ignoredByFail2ban.includes(ours);
  if (packages.length === 0 && isUnchanged(files) && runs && ignoresUs) return undefined;
  return step({
    id: 'fail2ban',
    title: 'Ban addresses that guess logins',
    why: `Five failures in ten minutes are an hour's ban. ${ours} is never banned.`,
    packages,
    files,
    commands: [
      ['systemctl', 'enable', 'fail2ban.service'],
      ['systemctl', 'restart', 'fail2ban.service'],
    ],
    alsoTouches: ['/etc/systemd/system/multi-user.target.wants'],
    checks: [{ kind: 'succeeds', argv: ['fail2ban-client', 'get', 'sshd', 'ignoreip'], says: ours }],
    undo: [{ do: 'restart_unit', unit: 'fail2ban.service' }],
  });
};
