/** What is open from outside: real connections from here to every port that could be. */
import { isIP, isIPv6 } from 'node:net';
import { type Facts, type PortProbe, UnreadableFact } from './facts.ts';
import { publishedPorts } from './published-ports.ts';
import type { SecurityContext } from './rule.ts';

export interface TcpListener {
  readonly address: string;
  readonly port: number;
  readonly program: string;
}

const timeoutMs = 2_000;
const concurrency = 16;
/** A server that claims more is not worth a scan of minutes; what is left out is reported. */
const maxPorts = 150;
/** Where nothing listens on these, and they do not even refuse, a firewall drops what it does not allow. */
const unusualPorts = [51_234, 61_234];

/** Every TCP socket that listens, by `ss -tlnHp`. */
export function listeners(facts: Facts): TcpListener[] {
  return facts.lines('listeners').map((line) => {
    const local = line.split(/\s+/)[3] ?? '';
    const found = /^(.*):(\d+)$/.exec(local);
    if (!found) throw new UnreadableFact(`A listening socket cannot be read: ${line}`);
    const address = (found[1] ?? '').replace(/^\[|\]$/g, '').replace(/%.*$/, '');
    return { address, port: Number(found[2]), program: /users:\(\("([^"]*)"/.exec(line)?.[1] ?? '' };
  });
}

export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

/** Ports that something beyond the machine itself could reach, if no firewall were there. */
export function reachablePorts(facts: Facts): number[] {
  const open = listeners(facts).filter(({ address }) => !isLoopbackAddress(address));
  const published = facts.isAbsent('containers') ? [] : publishedPorts(facts);
  const ports = [...open, ...published].map(({ port }) => port);
  return [...new Set(ports)].sort((a, b) => a - b);
}

/** Ports to try on which nobody is expected to answer. */
export function unusedPorts(facts: Facts): number[] {
  const used = reachablePorts(facts);
  return unusualPorts.filter((port) => !used.includes(port));
}

/** The IPv6 address that the internet would use, if the server has one. */
function globalIpv6(facts: Facts): string | undefined {
  return interfaceAddresses(facts).find(({ family, address }) => family === 'inet6' && /^[23]/.test(address))
    ?.address;
}

export function interfaceAddresses(facts: Facts): { device: string; family: string; address: string }[] {
  const lines = facts.lines('addresses');
  if (!lines.some((line) => / inet6? /.test(line)))
    throw new UnreadableFact('The server reported no address of its own.');
  return lines.flatMap((line) => {
    const [, device = '', family = '', address = ''] = line.split(/\s+/);
    const counts = /scope global/.test(line) && !/ (temporary|deprecated|tentative) /.test(line);
    return counts && !/^(docker|br-|veth|virbr|lo)/.test(device)
      ? [{ device, family, address: address.replace(/\/.*$/, '') }]
      : [];
  });
}

/** The address given by the user, and the server's IPv6 address where the first is another. */
export function probedAddresses(facts: Facts, host: string): string[] {
  const ipv6 = globalIpv6(facts);
  return ipv6 !== undefined && !(isIP(host) && isIPv6(host)) ? [host, ipv6] : [host];
}

export async function probeFromOutside(facts: Facts, ctx: SecurityContext): Promise<PortProbe[]> {
  const wanted = probedAddresses(facts, ctx.host).flatMap((address) =>
    // The SSH port first: where it is not open, silence of the others proves nothing.
    [...new Set([ctx.port, ...unusedPorts(facts), ...reachablePorts(facts)])]
      .slice(0, maxPorts)
      .map((port) => ({ address, port })),
  );
  const probes: PortProbe[] = [];
  const one = async () => {
    for (let next = wanted.shift(); next; next = wanted.shift()) {
      probes.push({ ...next, state: await ctx.connect(next.address, next.port, timeoutMs) });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return probes.sort((a, b) => a.address.localeCompare(b.address) || a.port - b.port);
}
