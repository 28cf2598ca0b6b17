/** What a packet meets in the rules of `nft -j list ruleset`. In nftables a drop is final, an accept only for its chain. */

import { type Fate, isWithin, type Packet } from './iptables.ts';
import { isRecord, parseJson } from './json.ts';

type Json = Record<string, unknown>;

interface Chain {
  readonly key: string;
  readonly family: string;
  readonly hook: unknown;
  readonly policy: unknown;
  readonly rules: unknown[][];
}

interface Ruleset {
  readonly chains: ReadonlyMap<string, Chain>;
  readonly sets: ReadonlyMap<string, unknown>;
}

/** Drop where any chain at that hook drops it; undefined where there is no such chain. */
export function nftFate(
  text: string,
  hook: string,
  packet: Packet,
  isSkipped: (family: string, table: string) => boolean,
): Fate | undefined {
  const ruleset = readRuleset(text, isSkipped);
  const families = ['inet', packet.family === 'ipv4' ? 'ip' : 'ip6'];
  const bases = [...ruleset.chains.values()].filter(
    (chain) => chain.hook === hook && families.includes(chain.family),
  );
  if (bases.length === 0) return undefined;
  return bases.some((chain) => (walk(ruleset, chain, packet, 0) ?? chain.policy) === 'drop')
    ? 'drop'
    : 'accept';
}

function readRuleset(text: string, isSkipped: (family: string, table: string) => boolean): Ruleset {
  const root = parseJson(text, 'nft');
  const items = isRecord(root) && Array.isArray(root.nftables) ? root.nftables.filter(isRecord) : [];
  const chains = new Map<string, Chain>();
  const sets = new Map<string, unknown>();
  for (const item of items) {
    const { chain, set, rule } = item;
    if (isRecord(chain) && !isSkipped(String(chain.family), String(chain.table))) {
      const key = keyOf(chain, chain.name);
      chains.set(key, {
        key,
        family: String(chain.family),
        hook: chain.hook,
        policy: chain.policy,
        rules: [],
      });
    }
    if (isRecord(set)) sets.set(keyOf(set, `@${String(set.name)}`), { set: set.elem });
    if (isRecord(rule) && Array.isArray(rule.expr))
      chains.get(keyOf(rule, rule.chain))?.rules.push(rule.expr);
  }
  return { chains, sets };
}

function keyOf(item: Json, name: unknown): string {
  return `${String(item.family)} ${String(item.table)} ${String(name)}`;
}

/** Undefined: it came to the end, or a `return`. */
function walk(ruleset: Ruleset, chain: Chain, packet: Packet, depth: number): Fate | undefined {
  if (depth > 20) return undefined;
  for (const rule of chain.rules) {
    for (const part of rule.filter(isRecord)) {
      if (isRecord(part.match) && !isMet(ruleset, chain, part.match, packet)) break;
      if ('xt' in part) break;
      const verdict = isRecord(part.vmap) ? fromMap(ruleset, chain, part.vmap, packet) : part;
      if ('accept' in verdict) return 'accept';
      if ('drop' in verdict || 'reject' in verdict) return 'drop';
      if ('return' in verdict) return undefined;
      const to = isRecord(verdict.jump) ? verdict.jump : verdict.goto;
      const next = isRecord(to) ? ruleset.chains.get(siblingOf(chain, to.target)) : undefined;
      const fate = next && walk(ruleset, next, packet, depth + 1);
      if (fate || (next && 'goto' in verdict)) return fate;
    }
  }
  return undefined;
}

function siblingOf(chain: Chain, name: unknown): string {
  return [...chain.key.split(' ').slice(0, 2), String(name)].join(' ');
}

function fromMap(ruleset: Ruleset, chain: Chain, { key, data }: Json, packet: Packet): Json {
  const value = fieldOf(key, packet);
  const pairs = isRecord(data) && Array.isArray(data.set) ? data.set : [];
  for (const pair of pairs) {
    if (!Array.isArray(pair) || value === undefined) continue;
    const [wanted, verdict]: unknown[] = pair;
    if (contains(ruleset, chain, wanted, value) && isRecord(verdict)) return verdict;
  }
  return {};
}

/** A condition that is not known here is taken as not met. */
function isMet(ruleset: Ruleset, chain: Chain, { op, left, right }: Json, packet: Packet): boolean {
  const value = fieldOf(left, packet);
  if (value === undefined) return false;
  return contains(ruleset, chain, right, value) !== (op === '!=');
}

function fieldOf(left: unknown, { device, family, source, port }: Packet): string | number | undefined {
  if (!isRecord(left)) return undefined;
  const { meta, payload, ct, fib } = left;
  const isV4 = family === 'ipv4';
  if (isRecord(meta)) {
    const values: Record<string, string> = {
      iif: device,
      iifname: device,
      l4proto: 'tcp',
      nfproto: family,
      protocol: isV4 ? 'ip' : 'ip6',
      pkttype: 'host',
    };
    return values[String(meta.key)];
  }
  if (isRecord(ct)) return ct.key === 'state' ? 'new' : ct.key === 'proto-dst' ? port : undefined;
  if (isRecord(fib)) return fib.result === 'type' ? 'local' : undefined;
  if (!isRecord(payload)) return undefined;
  const { protocol, field } = payload;
  if (field === 'dport') return protocol === 'tcp' || protocol === 'th' ? port : undefined;
  if (field === 'saddr') return protocol === (isV4 ? 'ip' : 'ip6') ? source : undefined;
  return field === (isV4 ? 'protocol' : 'nexthdr') ? 'tcp' : undefined;
}

function contains(ruleset: Ruleset, chain: Chain, right: unknown, value: string | number): boolean {
  if (typeof right === 'string' && right.startsWith('@')) {
    const named = ruleset.sets.get(siblingOf(chain, right));
    return named !== undefined && contains(ruleset, chain, named, value);
  }
  if (Array.isArray(right)) return right.some((each) => contains(ruleset, chain, each, value));
  if (!isRecord(right))
    return (
      right === value ||
      (typeof right === 'string' && /\*$/.test(right) && String(value).startsWith(right.slice(0, -1)))
    );
  const { set, range, prefix, elem } = right;
  if (set !== undefined) return contains(ruleset, chain, set, value);
  if (isRecord(elem)) return contains(ruleset, chain, elem.val, value);
  if (Array.isArray(range))
    return typeof value === 'number' && value >= Number(range[0]) && value <= Number(range[1]);
  return isRecord(prefix) && isWithin(String(value), `${String(prefix.addr)}/${String(prefix.len)}`);
}
