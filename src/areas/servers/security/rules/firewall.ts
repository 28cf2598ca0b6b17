/**
 * Whether a firewall refuses by default, on both protocols and after a reboot, and what is open in spite of it. What a
 * connection from here meets has the last word; the default of the rules counts where none can be tried.
 */
import { isIPv6 } from 'node:net';
import { isAppPort } from '../../../../app-ports.ts';
import type { Facts } from '../facts.ts';
import {
  interfaceAddresses,
  listeners,
  probedAddresses,
  reachablePorts,
  unusedPorts,
} from '../port-probes.ts';
import {
  fail,
  type JudgeContext,
  notApplicable,
  pass,
  type Rule,
  type RuleVerdict,
  unknown,
  warn,
} from '../rule.ts';
import { type IpFamily, inputDefault } from '../rule-sets.ts';

/** Of the ports that nobody uses. Undefined where no connection can be tried: silence of all proves nothing. */
function unusedPortState(
  facts: Facts,
  ctx: JudgeContext,
  family: IpFamily,
): 'closed' | 'filtered' | undefined {
  const address = probedAddresses(facts, ctx.host).find((each) => isIPv6(each) === (family === 'ipv6'));
  const probes = facts.probes.filter((probe) => probe.address === address);
  const unused = unusedPorts(facts);
  const tried = probes.filter(({ port }) => unused.includes(port));
  if (tried.length === 0 || !probes.some(({ state }) => state === 'open')) return undefined;
  return tried.every(({ state }) => state === 'filtered') ? 'filtered' : 'closed';
}

function byDefault(facts: Facts, ctx: JudgeContext, family: IpFamily): RuleVerdict {
  const name = family === 'ipv4' ? 'IPv4' : 'IPv6';
  const rules = inputDefault(facts, family);
  const tried = unusedPortState(facts, ctx, family);
  const ports = unusedPorts(facts).join(' and ');
  if (tried === 'filtered')
    return pass(`A new ${name} connection to port ${ports} is dropped. ${ufwState(facts)}`);
  if (rules === 'accept' && ['iptables', 'ip6tables', 'nft', 'ufw'].every((tool) => facts.isAbsent(tool)))
    return fail('Neither ufw nor nftables nor iptables is installed.');
  if (rules === 'accept')
    return fail(
      tried
        ? `A new ${name} connection to port ${ports} reaches the server. ${ufwState(facts)}`
        : `The rules accept a new ${name} connection by default. ${ufwState(facts)}`,
    );
  if (tried === 'closed' && rules === 'drop')
    return unknown(
      `The rules drop by default, but a new ${name} connection from here to port ${ports} was refused, not dropped: a rule before the default accepts it, perhaps from this address only, or rejects it.`,
    );
  return pass(
    `The rules ${rules} a new ${name} connection by default${tried ? '' : '; none was tried from here'}. ${ufwState(facts)}`,
  );
}

function ufwState(facts: Facts): string {
  if (facts.isAbsent('ufw')) return 'ufw is not installed.';
  const section = facts.sections.get('ufw');
  return (section?.text ?? '')
    .split('\n')
    .filter((line) => /^(Status|Default):/.test(line))
    .join(' ');
}

/** The service may have no IPv6 of its own: then the default of the rules decides in place of a connection. */
function couldAnswer(facts: Facts, address: string, port: number): boolean {
  const listens = listeners(facts).some(
    (each) => each.port === port && (each.address.includes(':') || each.address === '*'),
  );
  return address.includes(':') && listens && inputDefault(facts, 'ipv6') === 'accept';
}

export function expectedPorts(ctx: JudgeContext): number[] {
  return [ctx.port, 80, 443];
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
    judge: (facts, ctx) => byDefault(facts, ctx, 'ipv4'),
  },
  {
    id: 'firewall_ipv6',
    title: 'The firewall covers IPv6 as well',
    severity: 'high',
    lockoutRisk: true,
    fix: 'Set `IPV6=yes` in /etc/default/ufw and reload ufw, or use an nftables table of family inet.',
    judge(facts, ctx) {
      const addresses = interfaceAddresses(facts).filter(({ family }) => family === 'inet6');
      if (addresses.length === 0)
        return notApplicable('The server has no IPv6 address beyond the machine itself.');
      const { status, evidence } = byDefault(facts, ctx, 'ipv6');
      return { status, evidence: `${addresses.map(({ address }) => address).join(', ')}\n${evidence}` };
    },
  },
  {
    id: 'firewall_at_boot',
    title: 'The firewall is there again after a reboot',
    severity: 'medium',
    fix: 'Enable the service that loads the rules: `systemctl enable ufw` (and `ENABLED=yes` in /etc/ufw/ufw.conf), or `systemctl enable nftables`.',
    judge(facts) {
      if (inputDefault(facts, 'ipv4') === 'accept') return notApplicable('There is no firewall to load.');
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
      const openOn = (address: string) =>
        facts.probes.filter((probe) => probe.address === address && probe.state === 'open');
      if (!openOn(main).some(({ port }) => port === ctx.port))
        return unknown(`Even the SSH port of ${main} did not answer a connection from here.`);
      const surprising = facts.probes.filter(
        ({ port, state }) => state === 'open' && !isExpected(facts, ctx, port),
      );
      if (surprising.length > 0)
        return fail(
          surprising
            .map(({ address, port }) => `${shownPort(address, port)} answers (${whoListens(facts, port)})`)
            .join('\n'),
        );
      const tried = new Set(facts.probes.map(({ port }) => port));
      const untried = reachablePorts(facts).filter((port) => !tried.has(port));
      const doubtful = others
        .filter((address) => openOn(address).length === 0)
        .flatMap((address) =>
          reachablePorts(facts)
            .filter((port) => !isExpected(facts, ctx, port) && couldAnswer(facts, address, port))
            .map((port) => shownPort(address, port)),
        );
      if (doubtful.length > 0)
        return unknown(
          `IPv6 cannot be tried from here, and the rules do not refuse by default: ${doubtful.join(', ')}.`,
        );
      if (untried.length > 0)
        return unknown(`Too many ports listen to try all of them; ${untried.length} were not tried.`);
      const answering = facts.probes
        .filter(({ state }) => state === 'open')
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
