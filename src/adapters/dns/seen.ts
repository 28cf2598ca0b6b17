/** All that a look saw: what findings are made of, without asking anybody anything more. */
import type { Followed } from './follow.ts';
import type { CaaRecord } from './records.ts';
import type { Bogus } from './resolvers.ts';
import type { SeenText } from './seen-text.ts';

export interface DomainToLookAt {
  /** A-labels; `*.` in front for a wildcard. */
  readonly hostname: string;
  /** The TXT record that proves the domain. */
  readonly record: { readonly name: string; readonly value: string };
  /** Of the server the name should point to; none where that is not known yet. */
  readonly serverAddresses: readonly string[];
  /** What our certificate authority is called in CAA records; none where CAA does not matter. */
  readonly authority: readonly string[];
}

export interface SeenAtServer {
  /** The name and address of a zone's own server, or the address of a resolver. */
  readonly server: string;
  readonly seen: SeenText;
}

export interface SeenAtResolver extends SeenAtServer {
  readonly isBogus: boolean;
}

export interface SeenZone {
  readonly name: string;
  readonly servers: readonly SeenAtServer[];
  /** The serials of the zone, where its servers disagree. */
  readonly serials: readonly string[];
}

export type SeenAddresses = Record<'A' | 'AAAA', Followed>;

export interface StaleAddresses {
  readonly server: string;
  readonly addresses: readonly string[];
  readonly ttl: number;
}

export type SeenCaa =
  | { readonly kind: 'none' }
  | { readonly kind: 'set'; readonly name: string; readonly records: readonly CaaRecord[] }
  | { readonly kind: 'failed'; readonly name: string };

export interface Seen {
  readonly domain: DomainToLookAt;
  readonly zone: SeenZone | undefined;
  /** Where the hostname is not known to DNS: the nearest name above it that is, or the root. */
  readonly nearest: string | undefined;
  readonly resolvers: readonly SeenAtResolver[];
  /** Where else the right value stands, for a record that is not where it should be. */
  readonly misplaced: string | undefined;
  /** One of the zone's own servers gave the right value over TCP as well; asked only where no resolver has seen it. */
  readonly isConfirmed: boolean;
  readonly addresses: SeenAddresses;
  readonly resolverAddresses: readonly StaleAddresses[];
  readonly caa: SeenCaa;
  readonly bogus: readonly Bogus[];
  readonly isIncomplete: boolean;
  readonly kindOfAddress: (address: string) => string;
  readonly allowPrivate: boolean;
}
