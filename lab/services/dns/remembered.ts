/** What the lab's resolver still has in its memory, as if asked before a change: only who asks for recursion sees it. */
import type { Asked, Found } from './lookup.ts';
import { checkedName, parentOf, plainName } from './names.ts';
import {
  checkedSet,
  checkedType,
  defaultTtl,
  type RecordSet,
  type RecordValue,
  toAnswer,
} from './records.ts';

export class Remembered {
  readonly #sets = new Map<string, RecordSet>();

  /** Without values it remembers that there are none. */
  set(text: string, kind: string, values: readonly RecordValue[], ttl = defaultTtl): RecordSet {
    const type = checkedType(kind);
    const name = checkedName(text, { wildcard: true });
    const set = values.length > 0 ? checkedSet(name, type, values, ttl) : { name, type, values: [], ttl };
    this.#sets.set(keyOf(name, type), set);
    return set;
  }

  remove(text: string, kind?: string): number {
    const type = kind === undefined ? undefined : checkedType(kind);
    const name = checkedName(text, { wildcard: true });
    const gone = this.list().filter((set) => set.name === name && (type === undefined || set.type === type));
    for (const set of gone) this.#sets.delete(keyOf(set.name, set.type));
    return gone.length;
  }

  list(): RecordSet[] {
    return [...this.#sets.values()];
  }

  find({ name, type }: Asked): Found | undefined {
    const set = this.#sets.get(keyOf(plainName(name), type));
    if (!set) return undefined;
    const answers = set.values.map((value) => toAnswer(name, set.type, value, set.ttl));
    if (answers.length > 0) return { rcode: 'NOERROR', answers, authorities: [] };
    const zone = parentOf(set.name);
    const [mname, rname] = [`ns.${zone}`, `hostmaster.${zone}`];
    const times = { serial: 1, refresh: 60, retry: 60, expire: 3600, minimum: set.ttl };
    const soa = { name: zone, type: 'SOA' as const, ttl: set.ttl, data: { mname, rname, ...times } };
    return { rcode: 'NOERROR', answers, authorities: [soa] };
  }
}

function keyOf(name: string, type: string): string {
  return `${name} ${type}`;
}
