/** What an authority answers: records, aliases followed within our zones, and the two kinds of nothing. */
import type { Answer } from 'dns-packet';
import { plainName } from './names.ts';
import { toAnswer } from './records.ts';
import type { Sets, Zones } from './zones.ts';

export const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;
export type Rcode = keyof typeof rcodes;

/** `bogus` is what a validating resolver makes of wrong signatures: an error, except for whoever says not to validate. */
export const faults = ['servfail', 'timeout', 'nxdomain', 'refused', 'bogus'] as const;
export type Fault = (typeof faults)[number];

export interface Found {
  readonly rcode: Rcode;
  readonly answers: readonly Answer[];
  readonly authorities: readonly Answer[];
}

export interface Asked {
  /** In the case of the query, which the answer repeats. */
  readonly name: string;
  readonly type: string;
}

/** The same for a name of ours and one that is forwarded; undefined is silence. */
export function foundByFault(
  fault: Fault,
  answers: Answer[] = [],
  authorities: Answer[] = [],
): Found | undefined {
  switch (fault) {
    case 'timeout':
      return undefined;
    case 'nxdomain':
      return { rcode: 'NXDOMAIN', answers, authorities };
    case 'servfail':
    case 'bogus':
      return { rcode: 'SERVFAIL', answers: [], authorities: [] };
    case 'refused':
      return { rcode: 'REFUSED', answers: [], authorities: [] };
  }
}

/** A fault of an alias's target is a fault of the alias, as it would be for whoever resolves it. */
export function lookUp(
  zones: Zones,
  asked: Asked,
  faultOf: (name: string) => Fault | undefined,
): Found | undefined {
  const answers: Answer[] = [];
  const seen = new Set<string>();
  let owner = asked.name;
  for (;;) {
    const name = plainName(owner);
    const zone = zones.zoneOf(name);
    // Out of our zones, or in a circle: whoever asks has what there is, and decides.
    if (zone === undefined || seen.has(name)) return { rcode: 'NOERROR', answers, authorities: [] };
    seen.add(name);
    const nothing = [zones.soa(zone)];
    const fault = faultOf(name);
    if (fault) return foundByFault(fault, answers, nothing);
    const sets = zones.match(name, zone);
    if (!sets) return { rcode: 'NXDOMAIN', answers, authorities: nothing };
    const alias = sets.get('CNAME');
    const [target] = alias?.values ?? [];
    if (alias && typeof target === 'string' && asked.type !== 'CNAME' && asked.type !== 'ANY') {
      answers.push(toAnswer(owner, 'CNAME', target, alias.ttl));
      owner = target;
      continue;
    }
    const found = answersIn(sets, owner, asked.type);
    const wantsSoa = asked.type === 'SOA' || asked.type === 'ANY';
    if (name === zone && wantsSoa) found.push(zones.soa(zone, owner));
    return {
      rcode: 'NOERROR',
      answers: [...answers, ...found],
      authorities: found.length > 0 ? [] : nothing,
    };
  }
}

function answersIn(sets: Sets, owner: string, type: string): Answer[] {
  return [...sets.values()]
    .filter((set) => type === 'ANY' || set.type === type)
    .flatMap((set) => set.values.map((value) => toAnswer(owner, set.type, value, set.ttl)));
}
