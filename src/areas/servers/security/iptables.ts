/** What a packet meets in the rules of `iptables-save`: they are walked, as the kernel does, for one new connection. */
import { BlockList, isIPv4 } from 'node:net';
import { Unreadable } from './facts.ts';

export interface Packet {
  readonly family: 'ipv4' | 'ipv6';
  readonly device: string;
  readonly source: string;
  readonly port: number;
}

export type Fate = 'accept' | 'drop';

interface Chain {
  policy: string;
  readonly rules: string[][];
}

/** Undefined where the rules say nothing about such packets at all. */
export function iptablesFate(saved: string, chainName: string, packet: Packet): Fate | undefined {
  const chains = readChains(saved);
  const chain = chains.get(chainName);
  if (!chain) return undefined;
  const fate = walk(chains, chainName, packet, 0);
  return fate === 'accept' || fate === 'drop' ? fate : chain.policy === 'DROP' ? 'drop' : 'accept';
}

/** The chains of the table `filter`. */
export function readChains(saved: string): Map<string, Chain> {
  const chains = new Map<string, Chain>();
  let table = '';
  // Where no table is loaded, nothing is printed, or only what it says of itself.
  const told = saved.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (told.length > 0 && !told[0]?.startsWith('*'))
    throw new Unreadable('The rules of iptables cannot be read.');
  for (const line of saved.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1).trim();
    if (table !== 'filter') continue;
    const [head = '', name = ''] = line.split(' ');
    if (head.startsWith(':')) chains.set(head.slice(1), { policy: name, rules: [] });
    else if (head === '-A') chains.get(name)?.rules.push(words(line).slice(2));
  }
  return chains;
}

function words(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map((found) => found[1] ?? found[2] ?? '');
}

function walk(chains: Map<string, Chain>, name: string, packet: Packet, depth: number): Fate | 'return' {
  if (depth > 20) return 'return';
  for (const rule of chains.get(name)?.rules ?? []) {
    if (!applies(rule, packet)) continue;
    const at = rule.findIndex((word) => word === '-j' || word === '-g');
    const target = at < 0 ? '' : (rule[at + 1] ?? '');
    if (target === 'ACCEPT') return 'accept';
    if (target === 'DROP' || target === 'REJECT') return 'drop';
    if (target === 'RETURN') return 'return';
    if (!chains.has(target)) continue;
    const fate = walk(chains, target, packet, depth + 1);
    if (fate !== 'return' || rule[at] === '-g') return fate;
  }
  return 'return';
}

/** A condition that is not known here is taken as not met: then the probe from outside has the last word. */
function applies(rule: readonly string[], packet: Packet): boolean {
  for (let at = 0; at < rule.length; at += 1) {
    const isNegated = rule[at] === '!';
    if (isNegated) at += 1;
    const option = rule[at] ?? '';
    if (option === '-j' || option === '-g') return true;
    const value = rule[at + 1] ?? '';
    if (option === '--syn') {
      if (isNegated) return false;
      continue;
    }
    at += option === '--tcp-flags' ? 2 : 1;
    if (option === '-m' || option === '--comment') continue;
    const isMet = condition(option, option === '--tcp-flags' ? (rule[at] ?? '') : value, packet);
    if (isMet === undefined || isMet === isNegated) return false;
  }
  return true;
}

function condition(option: string, value: string, packet: Packet): boolean | undefined {
  const list = value.split(',');
  switch (option) {
    case '-p':
      return value === 'tcp' || value === 'all' || value === '6';
    case '-i':
      return value.endsWith('+') ? packet.device.startsWith(value.slice(0, -1)) : packet.device === value;
    case '-s':
      return isWithin(packet.source, value);
    case '--dport':
    case '--dports':
    case '--ctorigdstport':
      return list.some((range) => {
        const [from = '', to = from] = range.split(':');
        return packet.port >= Number(from) && packet.port <= Number(to === '' ? 65_535 : to);
      });
    case '--ctstate':
    case '--state':
      return list.includes('NEW');
    case '--ctdir':
      return value === 'ORIGINAL';
    case '--dst-type':
      return value === 'LOCAL';
    case '--tcp-flags':
      return value === 'SYN';
    default:
      return undefined;
  }
}

export function isWithin(address: string, network: string): boolean {
  const [base = '', length] = network.split('/');
  const family = isIPv4(base) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  try {
    if (length === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(length), family);
  } catch {
    // No address: a host name, or a mask written out. It holds nothing.
    return false;
  }
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
