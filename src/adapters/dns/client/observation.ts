/** All that was observed of a domain: what findings are made of, without client anybody anything more. */
import type { Reply } from './exchange.ts';
import { aliasAt, type Followed } from './follow-aliases.ts';
import type { Message } from './message.ts';
import type { CaaRecord } from './records.ts';
import { type Bogus, isDecided } from './resolvers.ts';
import { referralIn, type ZoneServer } from './zone-servers.ts';

/** What one server said about the TXT record, as one of a few things it can be. */
export type TextAnswer =
  | { readonly kind: 'values'; readonly values: readonly string[]; readonly ttl: number }
  /** `ttl`: for how long a resolver remembers that there is nothing. */
  | { readonly kind: 'none'; readonly isNxdomain: boolean; readonly ttl: number | undefined }
  | {
      readonly kind: 'alias';
      readonly target: string;
      readonly values: readonly string[];
      readonly ttl: number;
    }
  | { readonly kind: 'failed'; readonly how: Failure; readonly why: string };

export type Failure = 'silent' | 'failing' | 'lame' | 'private' | 'unknown' | 'no way';

export interface DomainToCheck {
  /** A-labels; `*.` in front for a wildcard. */
  readonly hostname: string;
  /** The TXT record that proves the domain. */
  readonly record: { readonly name: string; readonly value: string };
  /** Of the server the name should point to; none where that is not known yet. */
  readonly serverAddresses: readonly string[];
  /** What our certificate authority is called in CAA records; none where CAA does not matter. */
  readonly authority: readonly string[];
}

export interface ServerAnswer {
  /** The name and address of a zone's own server, or the address of a resolver. */
  readonly server: string;
  readonly seen: TextAnswer;
}

export interface ResolverAnswer extends ServerAnswer {
  readonly isBogus: boolean;
}

export interface ZoneAnswer {
  readonly name: string;
  readonly servers: readonly ServerAnswer[];
  /** The serials of the zone, where its servers disagree. */
  readonly serials: readonly string[];
}

export type AddressAnswers = Record<'A' | 'AAAA', Followed>;

export interface StaleAddresses {
  readonly server: string;
  readonly addresses: readonly string[];
  readonly ttl: number;
}

export type CaaAnswer =
  | { readonly kind: 'none' }
  | { readonly kind: 'set'; readonly name: string; readonly records: readonly CaaRecord[] }
  | { readonly kind: 'failed'; readonly name: string };

export interface Observation {
  readonly domain: DomainToCheck;
  readonly zone: ZoneAnswer | undefined;
  /** Where the hostname is not known to DNS: the nearest name above it that is, or the root. */
  readonly nearest: string | undefined;
  readonly resolvers: readonly ResolverAnswer[];
  /** Where else the right value stands, for a record that is not where it should be. */
  readonly misplaced: string | undefined;
  /** One of the zone's own servers gave the right value over TCP as well; asked only where no resolver has seen it. */
  readonly isConfirmed: boolean;
  readonly addresses: AddressAnswers;
  readonly resolverAddresses: readonly StaleAddresses[];
  readonly caa: CaaAnswer;
  readonly bogus: readonly Bogus[];
  readonly isIncomplete: boolean;
  readonly kindOfAddress: (address: string) => string;
  readonly allowPrivate: boolean;
}

export function textOfReply(reply: Reply, name: string): TextAnswer {
  if (reply.kind === 'silence')
    return { kind: 'failed', how: reply.isOurs ? 'no way' : 'silent', why: reply.why };
  const { message } = reply;
  if (!isDecided(message)) {
    const why = [message.rcode, ...(message.explanation ? [message.explanation] : [])].join(': ');
    return { kind: 'failed', how: message.rcode === 'REFUSED' ? 'lame' : 'failing', why };
  }
  return textIn(message, name);
}

/** The same of a zone's own server, which has to vouch for what it says. */
export function textOfServer(
  server: ZoneServer,
  reply: Reply | undefined,
  zone: string,
  name: string,
): TextAnswer {
  if (server.at.kind === 'refused')
    return { kind: 'failed', how: 'private', why: `its address is ${server.at.address}` };
  if (server.at.kind === 'unknown' || !reply)
    return { kind: 'failed', how: 'unknown', why: 'its name has no address' };
  const seen = textOfReply(reply, name);
  if (seen.kind === 'failed' || reply.kind === 'silence' || reply.message.isAuthoritative) return seen;
  const referral = referralIn(reply.message, zone, name);
  // Right for a server of the zone above, and no word about the record.
  if (referral) return { kind: 'failed', how: 'no way', why: `it refers to the servers of ${referral.zone}` };
  return { kind: 'failed', how: 'lame', why: 'it answers without being an authority for the zone' };
}

function textIn(message: Message, name: string): TextAnswer {
  const texts = message.answers.flatMap((record) => (record.type === 'TXT' ? [record] : []));
  const target = aliasAt(message, name);
  const ttl = Math.min(...message.answers.map((record) => record.ttl));
  if (target !== undefined) return { kind: 'alias', target, values: texts.map(({ text }) => text), ttl };
  const own = texts.filter((record) => record.name === name);
  if (own.length > 0) return { kind: 'values', values: own.map(({ text }) => text), ttl };
  const soa = message.authorities.find((record) => record.type === 'SOA');
  const negative = soa?.type === 'SOA' ? Math.min(soa.ttl, soa.minimum) : undefined;
  return { kind: 'none', isNxdomain: message.rcode === 'NXDOMAIN', ttl: negative };
}

/** Whether it has the value, alone or among others. */
export function hasValue(seen: TextAnswer, value: string): boolean {
  return seen.kind === 'values' && seen.values.includes(value);
}

/** Whether some that answer have the value, and others do not. */
export function disagree(servers: readonly { readonly seen: TextAnswer }[], value: string): boolean {
  const answering = servers.filter(({ seen }) => seen.kind !== 'failed');
  return new Set(answering.map(({ seen }) => hasValue(seen, value))).size > 1;
}
