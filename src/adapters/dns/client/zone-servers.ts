/** The zone a name lies in and its own name servers, found through the resolvers and then down its delegations. */
import type { DnsClient } from './dns-client.ts';
import type { Reply } from './exchange.ts';
import type { Message } from './message.ts';
import { type KindOfAddress, mayAsk, type NameServer } from './name-server.ts';
import { isWithin, upwards } from './names.ts';
import type { DnsRecord, RecordType } from './records.ts';
import { isDecided, type Resolvers } from './resolvers.ts';

/** Beyond these nothing new is learned, and a zone can list as many as it likes. */
const mostServers = 8;
const mostDelegations = 5;
const mostClimbed = 12;

export interface ZoneOptions {
  readonly client: DnsClient;
  readonly resolvers: Resolvers;
  readonly kindOfAddress: KindOfAddress;
  readonly allowPrivate: boolean;
  readonly port: number;
}

export interface ZoneServer {
  readonly name: string;
  readonly at:
    | { readonly kind: 'known'; readonly server: NameServer }
    | { readonly kind: 'refused'; readonly address: string }
    | { readonly kind: 'unknown' };
}

export interface Replied {
  readonly server: ZoneServer;
  /** Undefined where it has no address that may be asked. */
  readonly reply: Reply | undefined;
}

export interface Zone {
  readonly name: string;
  readonly replies: readonly Replied[];
  /** How many servers the zone names beyond those that were asked. */
  readonly left: number;
}

/** Asks every server of the zone for the record; undefined where no zone can be found at all. */
export async function askZone(
  options: ZoneOptions,
  name: string,
  type: RecordType,
): Promise<Zone | undefined> {
  let zone = await zoneOf(options.resolvers, name);
  if (zone === undefined) return undefined;
  // The root delegates all there is: that it was named as the zone means that there is nothing.
  if (zone === '') return { name: '', replies: [], left: 0 };
  const known = await options.resolvers.best(zone, 'NS');
  let named = serverNames(known?.answers ?? [], zone);
  let glue: readonly DnsRecord[] = [];
  for (let depth = 0; ; depth++) {
    const servers = await Promise.all(
      named.slice(0, mostServers).map((server) => locate(options, server, glue)),
    );
    const replies = await Promise.all(servers.map((server) => askOne(options.client, server, name, type)));
    const referral = agreedReferral(replies, zone, name);
    if (!referral || depth === mostDelegations)
      return { name: zone, replies, left: Math.max(0, named.length - mostServers) };
    named = serverNames(referral.records, referral.zone);
    glue = referral.glue;
    zone = referral.zone;
  }
}

/** By the SOA: at a zone's own name it is the answer, and below it says who knows that there is none. */
async function zoneOf(resolvers: Resolvers, name: string): Promise<string | undefined> {
  for (const candidate of upwards(name).slice(0, mostClimbed)) {
    const message = await resolvers.best(candidate, 'SOA');
    if (!message) continue;
    if (message.answers.some((record) => record.type === 'SOA' && record.name === candidate))
      return candidate;
    // Behind an alias it would be the zone of the target.
    if (message.answers.some((record) => record.type === 'CNAME')) continue;
    const soa = message.authorities.find((record) => record.type === 'SOA');
    if (soa && isWithin(candidate, soa.name)) return soa.name;
  }
  return undefined;
}

function serverNames(records: readonly DnsRecord[], zone: string): string[] {
  const names = records.flatMap((record) =>
    record.type === 'NS' && record.name === zone ? [record.target] : [],
  );
  return [...new Set(names)].sort();
}

/**
 * Followed only where all that answer refer to the same zone, and then to all the servers that any of them names: one
 * server that somebody else got hold of must not lead us away from the others.
 */
function agreedReferral(replies: readonly Replied[], zone: string, name: string): Referral | undefined {
  const messages = replies.flatMap(({ reply }) =>
    reply?.kind === 'answer' && isDecided(reply.message) ? [reply.message] : [],
  );
  const referrals = messages.map((message) => referralIn(message, zone, name));
  const [first] = referrals;
  if (!first || !referrals.every((each) => each?.zone === first.zone)) return undefined;
  const found = referrals.flatMap((each) => (each ? [each] : []));
  return {
    zone: first.zone,
    records: found.flatMap(({ records }) => records),
    glue: found.flatMap(({ glue }) => glue),
  };
}

interface Referral {
  readonly zone: string;
  readonly records: readonly DnsRecord[];
  readonly glue: readonly DnsRecord[];
}

export function referralIn(message: Message, zone: string, name: string): Referral | undefined {
  if (message.rcode !== 'NOERROR' || message.isAuthoritative || message.answers.length > 0) return undefined;
  const down = message.authorities.find(
    (record) =>
      record.type === 'NS' &&
      record.name !== zone &&
      isWithin(record.name, zone) &&
      isWithin(name, record.name),
  );
  if (!down) return undefined;
  // Whoever delegates knows the addresses of servers in its own zone, and vouches for no others.
  const glue = message.additionals.filter((record) => isWithin(record.name, zone));
  return { zone: down.name, records: message.authorities, glue };
}

async function locate(options: ZoneOptions, name: string, glue: readonly DnsRecord[]): Promise<ZoneServer> {
  const { resolvers, kindOfAddress, allowPrivate, port } = options;
  const isOfServer = (record: DnsRecord) => record.name === name;
  const given = addressesIn(glue.filter(isOfServer));
  const found = given.length > 0 ? given : await addressesOf(resolvers, name);
  const [first] = found;
  if (first === undefined) return { name, at: { kind: 'unknown' } };
  const allowed = found.find((address) => mayAsk(address, kindOfAddress, allowPrivate));
  if (allowed === undefined) return { name, at: { kind: 'refused', address: first } };
  return { name, at: { kind: 'known', server: { address: allowed, port } } };
}

/** IPv4 first: more machines have a way there. */
async function addressesOf(resolvers: Resolvers, name: string): Promise<string[]> {
  const messages = await Promise.all([resolvers.best(name, 'A'), resolvers.best(name, 'AAAA')]);
  return messages.flatMap((message) => addressesIn(message?.answers ?? []));
}

function addressesIn(records: readonly DnsRecord[]): string[] {
  return records.flatMap((record) => (record.type === 'A' || record.type === 'AAAA' ? [record.address] : []));
}

async function askOne(
  client: DnsClient,
  server: ZoneServer,
  name: string,
  type: RecordType,
): Promise<Replied> {
  if (server.at.kind !== 'known') return { server, reply: undefined };
  return { server, reply: await client.ask(server.at.server, { name, type, isRecursive: false }) };
}

/** The servers that vouch for what they say about the zone. */
export function healthyServers({ replies }: Zone): NameServer[] {
  return replies.flatMap(({ server, reply }) =>
    server.at.kind === 'known' &&
    reply?.kind === 'answer' &&
    reply.message.isAuthoritative &&
    isDecided(reply.message)
      ? [server.at.server]
      : [],
  );
}
