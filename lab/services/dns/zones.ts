/** The zones the lab is the authority for, and what is in them. Each has SOA, NS and its name server's address. */
import type { Answer } from 'dns-packet';
import { InputError } from '../control/input.ts';
import { checkedName, isWithin, parentOf, plainName } from './names.ts';
import {
  checkedSet,
  checkedType,
  defaultTtl,
  type LabRecordType,
  type RecordSet,
  type RecordValue,
} from './records.ts';

export type Sets = ReadonlyMap<LabRecordType, RecordSet>;

export class Zones {
  readonly #nameServer: string;
  readonly #serials = new Map<string, number>();
  readonly #sets = new Map<string, Map<LabRecordType, RecordSet>>();

  constructor(zones: readonly string[], nameServer: string) {
    this.#nameServer = nameServer;
    for (const zone of zones) this.add(zone);
  }

  add(text: string): void {
    const zone = checkedName(text, { wildcard: false });
    if (this.#sets.get(zone)?.has('CNAME'))
      throw new InputError(`${zone} has a CNAME and cannot be a zone: remove the CNAME first.`);
    // Seconds, so that a lab started later never shows a lower serial.
    if (!this.#serials.has(zone)) this.#serials.set(zone, Math.floor(Date.now() / 1000));
  }

  names(): string[] {
    return [...this.#serials.keys()].sort();
  }

  /** The innermost zone: a zone may lie within another. */
  zoneOf(name: string): string | undefined {
    for (let at = name; at !== ''; at = parentOf(at)) if (this.#serials.has(at)) return at;
    return undefined;
  }

  set(text: string, kind: string, values: readonly RecordValue[], ttl?: number): RecordSet {
    const type = checkedType(kind);
    const name = this.#ours(text);
    const set = checkedSet(name, type, values, ttl);
    const others = [...(this.#sets.get(name)?.keys() ?? [])].filter((other) => other !== type);
    if (type === 'CNAME' && (others.length > 0 || this.#serials.has(name)))
      throw new InputError(
        `${name} cannot have a CNAME beside ${others.join(', ') || 'the SOA of its zone'}.`,
      );
    if (others.includes('CNAME'))
      throw new InputError(`${name} has a CNAME, and cannot have ${type} beside it: remove the CNAME first.`);
    const sets = this.#sets.get(name) ?? new Map<LabRecordType, RecordSet>();
    this.#sets.set(name, sets.set(type, set));
    this.#changed(name);
    return set;
  }

  /** Says how many sets went; what every zone has by itself comes back. */
  remove(text: string, kind?: string): number {
    const type = kind === undefined ? undefined : checkedType(kind);
    const name = this.#ours(text);
    const sets = this.#sets.get(name);
    if (!sets) return 0;
    const before = sets.size;
    if (type === undefined) sets.clear();
    else sets.delete(type);
    const removed = before - sets.size;
    if (sets.size === 0) this.#sets.delete(name);
    if (removed > 0) this.#changed(name);
    return removed;
  }

  list(): RecordSet[] {
    return [...this.#sets.values()].flatMap((sets) => [...sets.values()]);
  }

  /** What is at a name, wildcards included; undefined where there is no such name (empty: a name without records). */
  match(name: string, zone: string): Sets | undefined {
    if (this.#exists(name)) return this.#at(name);
    let encloser = parentOf(name);
    // The zone itself always exists, so this ends there.
    while (encloser !== zone && !this.#exists(encloser)) encloser = parentOf(encloser);
    const wildcard = `*.${encloser}`;
    return this.#exists(wildcard) ? this.#at(wildcard) : undefined;
  }

  soa(zone: string, owner = zone): Answer {
    const [mname, rname] = [`ns.${zone}`, `hostmaster.${zone}`];
    const serial = this.#serials.get(zone) ?? 0;
    const times = { refresh: 60, retry: 60, expire: 3600, minimum: defaultTtl };
    return { name: owner, type: 'SOA', ttl: defaultTtl, data: { mname, rname, serial, ...times } };
  }

  #ours(text: string): string {
    const name = checkedName(text, { wildcard: true });
    if (this.zoneOf(name) !== undefined) return name;
    const zones = this.names().join(', ') || 'no zone yet';
    throw new InputError(`${plainName(text)} lies outside the lab's zones (${zones}): add its zone first.`);
  }

  #at(name: string): Sets {
    const sets = new Map(this.#sets.get(name));
    const add = (type: LabRecordType, value: string) =>
      sets.set(type, { name, type, values: [value], ttl: defaultTtl });
    if (this.#serials.has(name) && !sets.has('NS')) add('NS', `ns.${name}`);
    if (this.#isNameServer(name) && !sets.has('A') && !sets.has('CNAME')) add('A', this.#nameServer);
    return sets;
  }

  /** A name exists when something is at it or below it. */
  #exists(name: string): boolean {
    const below = (other: string) => isWithin(other, name);
    return this.#isNameServer(name) || [...this.#serials.keys(), ...this.#sets.keys()].some(below);
  }

  #isNameServer(name: string): boolean {
    return name.startsWith('ns.') && this.#serials.has(parentOf(name));
  }

  #changed(name: string): void {
    const zone = this.zoneOf(name);
    if (zone !== undefined) this.#serials.set(zone, (this.#serials.get(zone) ?? 0) + 1);
  }
}
