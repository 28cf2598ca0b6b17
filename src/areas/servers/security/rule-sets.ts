/**
 * What the firewall's rules do by default, as far as they state it: the policy of a chain, or a last
 * rule without a condition. No packet is followed through them: what really comes through, a connection from outside
 * shows, and only where none can be tried does the default count.
 */
import { type Facts, isRecord, parseFactJson, UnreadableFact } from './facts.ts';

export type IpFamily = 'ipv4' | 'ipv6';
export type DefaultVerdict = 'drop' | 'reject' | 'accept';

/** For a new connection to the server itself. */
export function inputDefault(facts: Facts, family: IpFamily): DefaultVerdict {
  const ufw = facts.sections.get('ufw')?.text ?? '';
  if (/^Status: active$/m.test(ufw) && /^Default: reject \(incoming\)/m.test(ufw)) return 'reject';
  const owners = ['inet', family === 'ipv4' ? 'ip' : 'ip6'];
  const chains = nftChains(facts).filter((chain) => chain.hook === 'input' && owners.includes(chain.family));
  const found = [iptablesDefault(iptablesOf(facts, family)), ...chains.map(chainDefault)];
  return found.find((each) => each === 'drop') ?? found.find((each) => each === 'reject') ?? 'accept';
}

/** Whether somebody has put rules before Docker's own that drop what is forwarded to containers. */
export function hasForwardRules(facts: Facts): boolean {
  const chains = nftChains(facts).filter(({ family, table }) => !isDockers(family, table) && !isOurs(table));
  const tables = new Set(
    chains.filter(({ hook }) => hook === 'forward' || hook === 'prerouting').map(({ table }) => table),
  );
  const refuses = (chain: NftChain) =>
    chain.policy === 'drop' || chain.rules.flat().some((part) => 'drop' in part || 'reject' in part);
  if (chains.some((chain) => tables.has(chain.table) && refuses(chain))) return true;
  // Without rules of Docker for IPv6, such connections end at its proxy, and the rules for input hold.
  const saved = [iptablesOf(facts, 'ipv4'), iptablesOf(facts, 'ipv6')];
  const docker = saved.filter((each, index) => index === 0 || /^:DOCKER-USER /m.test(each));
  return docker.every((each) => /^-A DOCKER-USER .*-j (DROP|REJECT)/m.test(each));
}

/** Where rules are loaded that refuse what containers may not reach: those of `adapters/docker/network-rules.ts`. */
export function hasAppRules(facts: Facts): boolean {
  const hooks = nftChains(facts).flatMap(({ table, hook }) => (table === 'slipway_apps' ? [hook] : []));
  return hooks.includes('input') && hooks.includes('forward');
}

/** They are about what comes from containers, not about what goes to them. */
function isOurs(table: string): boolean {
  return table === 'slipway_apps' || table === 'slipway_builds';
}

function isDockers(family: string, table: string): boolean {
  return table.startsWith('docker') || (family !== 'inet' && /^(filter|nat|mangle|raw)$/.test(table));
}

/** The table `filter` of `iptables-save`. Where no table is loaded, it prints nothing, or only comments. */
function iptablesOf(facts: Facts, family: IpFamily): string {
  const section = family === 'ipv4' ? 'iptables' : 'ip6tables';
  const saved = facts.isAbsent(section) ? '' : facts.text(section);
  const [first] = saved.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (first !== undefined && !first.startsWith('*'))
    throw new UnreadableFact('The rules of iptables cannot be read.');
  return /^\*filter\n([\s\S]*?)^COMMIT/m.exec(saved)?.[1] ?? '';
}

function iptablesDefault(filter: string): DefaultVerdict {
  const last = filter.split('\n').findLast((line) => line.startsWith('-A INPUT ')) ?? '';
  const target = /^-A INPUT (?:-m comment --comment (?:"[^"]*"|\S+) )?-j (DROP|REJECT)\b/.exec(last)?.[1];
  if (target !== undefined) return target === 'DROP' ? 'drop' : 'reject';
  return /^:INPUT DROP /m.test(filter) ? 'drop' : 'accept';
}

interface NftChain {
  readonly family: string;
  readonly table: string;
  readonly hook: unknown;
  readonly policy: unknown;
  readonly rules: readonly (readonly Record<string, unknown>[])[];
}

/** Of `nft -j list ruleset`. */
function nftChains(facts: Facts): NftChain[] {
  if (facts.isAbsent('nft')) return [];
  const root = parseFactJson(facts.text('nft'), 'nft');
  const items = isRecord(root) && Array.isArray(root.nftables) ? root.nftables.filter(isRecord) : [];
  const rules = items.flatMap(({ rule }) => (isRecord(rule) ? [rule] : []));
  return items.flatMap(({ chain }) => {
    if (!isRecord(chain)) return [];
    const { family, table, name, hook, policy } = chain;
    const own = rules.filter((rule) => rule.family === family && rule.table === table && rule.chain === name);
    const parts = own.map(({ expr }) => (Array.isArray(expr) ? expr.filter(isRecord) : []));
    return [{ family: String(family), table: String(table), hook, policy, rules: parts }];
  });
}

function chainDefault({ policy, rules }: NftChain): DefaultVerdict {
  const last = rules.at(-1) ?? [];
  const isUnconditional = last.every((part) =>
    ['counter', 'log', 'drop', 'reject'].some((key) => key in part),
  );
  if (isUnconditional && last.some((part) => 'drop' in part)) return 'drop';
  if (isUnconditional && last.some((part) => 'reject' in part)) return 'reject';
  return policy === 'drop' ? 'drop' : 'accept';
}
