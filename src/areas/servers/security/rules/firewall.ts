/** Whether a firewall refuses by default, on both protocols and after a reboot, and what answers in spite of it. */
import { isAppPort } from '../../../../adapters/proxy/app-ports.ts';
import type { Facts } from '../facts.ts';
import { iptablesFate, type Packet } from '../iptables.ts';
import { nftFate } from '../nft.ts';
import { interfaceAddresses, listeners, probedAddresses, reachablePorts } from '../port-probes.ts';
import {
  fail,
  type JudgeContext,
  notApplicable,
  pass,
  type Rule,
  unknown,
  type Verdict,
  warn,
} from '../rule.ts';

type Family = Packet['family'];

/** Ports that a server has no reason to open to everyone; a default that refuses refuses these. */
const telling = [3306, 51_234];

/** Whether every way into the machine for such a packet ends in a drop. */
export function isRefused(facts: Facts, family: Family, port: number): boolean {
  const device = facts.lines('routes')[0] ?? interfaceAddresses(facts)[0]?.device ?? 'eth0';
  const packet = { family, device, source: family === 'ipv4' ? '192.0.2.1' : '2001:db8::1', port };
  const section = family === 'ipv4' ? 'iptables' : 'ip6tables';
  const saved = facts.isAbsent(section) ? '' : facts.text(section);
  if (iptablesFate(saved, 'INPUT', packet) === 'drop') return true;
  if (facts.isAbsent('nft')) return false;
  // What iptables can print, iptables has made; its conditions are only readable there.
  const isItsOwn = (owner: string, table: string) =>
    owner === (family === 'ipv4' ? 'ip' : 'ip6') && saved.split('\n').includes(`*${table}`);
  return nftFate(facts.text('nft'), 'input', packet, isItsOwn) === 'drop';
}

function byDefault(facts: Facts, family: Family): Verdict {
  const name = family === 'ipv4' ? 'IPv4' : 'IPv6';
  const open = telling.filter((port) => !isRefused(facts, family, port));
  if (open.length === 0)
    return pass(`A new ${name} connection to port ${telling.join(' or ')} is dropped. ${ufwState(facts)}`);
  if (['iptables', 'ip6tables', 'nft', 'ufw'].every((tool) => facts.isAbsent(tool)))
    return fail('Neither ufw nor nftables nor iptables is installed.');
  return fail(`A new ${name} connection to port ${open.join(' and ')} would be accepted. ${ufwState(facts)}`);
}

function ufwState(facts: Facts): string {
  if (facts.isAbsent('ufw')) return 'ufw is not installed.';
  const section = facts.sections.get('ufw');
  return (section?.text ?? '')
    .split('\n')
    .filter((line) => /^(Status|Default):/.test(line))
    .join(' ');
}

/** The service may have no IPv6 of its own: then the rules decide in place of a connection. */
function couldAnswer(facts: Facts, address: string, port: number): boolean {
  const listens = listeners(facts).some(
    (each) => each.port === port && (each.address.includes(':') || each.address === '*'),
  );
  return address.includes(':') && listens && !isRefused(facts, 'ipv6', port);
}

export function expectedPorts(ctx: JudgeContext): number[] {
  return [ctx.port, 80, 443, ...(ctx.allowPorts ?? [])];
}

/** The proxy answers for applications on ports of their own. Anybody else who listens there is a surprise all the same. */
function isExpected(facts: Facts, ctx: JudgeContext, port: number): boolean {
  if (expectedPorts(ctx).includes(port)) return true;
  const programs = listeners(facts).filter((each) => each.port === port);
  return isAppPort(port) && programs.length > 0 && programs.every(({ program }) => program === 'haproxy');
}

export const firewallRules: readonly Rule[] = [
  {
    id: 'firewall_active',
    title: 'A firewall refuses what is not allowed',
    severity: 'high',
    lockoutRisk: true,
    fix: 'Allow the SSH port, 80 and 443 first, then enable ufw, or load nftables rules with `policy drop` for input.',
    judge: (facts) => byDefault(facts, 'ipv4'),
  },
  {
    id: 'firewall_ipv6',
    title: 'The firewall covers IPv6 as well',
    severity: 'high',
    lockoutRisk: true,
    fix: 'Set `IPV6=yes` in /etc/default/ufw and reload ufw, or use an nftables table of family inet.',
    judge(facts) {
      const addresses = interfaceAddresses(facts).filter(({ family }) => family === 'inet6');
      if (addresses.length === 0)
        return notApplicable('The server has no IPv6 address beyond the machine itself.');
      const { status, evidence } = byDefault(facts, 'ipv6');
      return { status, evidence: `${addresses.map(({ address }) => address).join(', ')}\n${evidence}` };
    },
  },
  {
    id: 'firewall_at_boot',
    title: 'The firewall is there again after a reboot',
    severity: 'medium',
    fix: 'Enable the service that loads the rules: `systemctl enable ufw` (and `ENABLED=yes` in /etc/ufw/ufw.conf), or `systemctl enable nftables`.',
    judge(facts) {
      if (byDefault(facts, 'ipv4').status !== 'pass') return notApplicable('There is no firewall to load.');
      const units = facts.lines('boot_units').map((line) => line.split(/\s+/)[0] ?? '');
      const loaders = units.filter((unit) => {
        if (unit === 'ufw.service') return facts.lines('boot_units').includes('ufw.conf ENABLED=yes');
        return /^(nftables|netfilter-persistent|firewalld)\.service$|^slipway-.*firewall.*\.service$/.test(
          unit,
        );
      });
      return loaders.length > 0 ? pass(loaders.join(', ')) : warn('No enabled service loads firewall rules.');
    },
  },
  {
    id: 'open_ports',
    title: 'From outside, only SSH, 80, 443 and applications answer',
    severity: 'high',
    fix: 'Stop what listens there, bind it to 127.0.0.1, or let the firewall refuse the port.',
    judge(facts, ctx) {
      const [main = ctx.host, ...others] = probedAddresses(facts, ctx.host);
      const heard = (address: string) =>
        facts.probes.filter((probe) => probe.address === address && probe.answers);
      if (!heard(main).some(({ port }) => port === ctx.port))
        return unknown(`Even the SSH port of ${main} did not answer a connection from here.`);
      const surprising = facts.probes.filter(({ port, answers }) => answers && !isExpected(facts, ctx, port));
      if (surprising.length > 0)
        return fail(
          surprising
            .map(({ address, port }) => `${shownPort(address, port)} answers (${whoListens(facts, port)})`)
            .join('\n'),
        );
      const tried = new Set(facts.probes.map(({ port }) => port));
      const untried = reachablePorts(facts).filter((port) => !tried.has(port));
      const doubtful = others
        .filter((address) => heard(address).length === 0)
        .flatMap((address) =>
          reachablePorts(facts)
            .filter((port) => !isExpected(facts, ctx, port) && couldAnswer(facts, address, port))
            .map((port) => shownPort(address, port)),
        );
      if (doubtful.length > 0)
        return unknown(`IPv6 cannot be tried from here, and no rule refuses ${doubtful.join(', ')}.`);
      if (untried.length > 0)
        return unknown(`Too many ports listen to try all of them; ${untried.length} were not tried.`);
      const answering = facts.probes
        .filter(({ answers }) => answers)
        .map(({ address, port }) => shownPort(address, port));
      return pass(`Answers: ${answering.join(', ')}. Tried: ${[...tried].join(', ')}.`);
    },
  },
];

export function shownPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function whoListens(facts: Facts, port: number): string {
  const programs = listeners(facts)
    .filter((each) => each.port === port)
    .map(({ program }) => program);
  return [...new Set(programs.filter((name) => name !== ''))].join(', ') || 'by a rule of Docker';
}
