/** All that is asked about a domain: the record at every server, then addresses and CAA, as far as the limits allow. */
import { type FollowOptions, follow } from './follow-aliases.ts';
import { shownServer } from './name-server.ts';
import { isWithin, parentOf, upwards } from './names.ts';
import type {
  AddressAnswers,
  CaaAnswer,
  DomainToCheck,
  Observation,
  ResolverAnswer,
  ServerAnswer,
  StaleAddresses,
} from './observation.ts';
import { disagree, hasValue, textOfReply, textOfServer } from './observation.ts';
import type { CaaRecord } from './records.ts';
import { askZone, healthyServers, type Zone, type ZoneOptions } from './zone-servers.ts';

const mostAncestors = 6;

export async function observe(options: ZoneOptions, domain: DomainToCheck): Promise<Observation> {
  const { client, resolvers, kindOfAddress, allowPrivate } = options;
  const { name, value } = domain.record;
  const [zone, atResolvers] = await Promise.all([askZone(options, name, 'TXT'), resolvers.all(name, 'TXT')]);
  const servers = (zone?.replies ?? []).map(({ server, reply }): ServerAnswer => {
    const at = server.at.kind === 'known' ? ` (${shownServer(server.at.server)})` : '';
    return { server: `${server.name}${at}`, seen: textOfServer(server, reply, zone?.name ?? '', name) };
  });
  const seenByResolvers = atResolvers.map(
    ({ server, reply, isBogus }): ResolverAnswer => ({ server, seen: textOfReply(reply, name), isBogus }),
  );
  const healthy = zone ? healthyServers(zone) : [];
  const [server] = healthy;
  const authority = zone && server ? { zone: zone.name, server } : undefined;
  const now: FollowOptions = { client, resolvers, authority };
  const isRight = servers.some(({ seen }) => hasValue(seen, value));
  const isSeen = seenByResolvers.some(({ seen }) => hasValue(seen, value));
  const [addresses, resolverAddresses, caa, misplaced, isConfirmed, serials] = await Promise.all([
    addressesOf(now, domain.hostname),
    addressesAtResolvers(options, domain.hostname),
    domain.authority.length > 0 ? caaOf(now, domain.hostname) : { kind: 'none' as const },
    isRight || !zone ? undefined : misplacedAt(now, domain, zone.name),
    isRight && !isSeen && confirmed(options, healthy, domain),
    zone && disagree(servers, value) ? serialsOf(options, zone) : [],
  ]);
  const isGone = [addresses.A, addresses.AAAA].some(
    ({ end, aliases }) => aliases.length === 0 && end.kind === 'none' && end.isNxdomain,
  );
  return {
    domain,
    zone: zone && { name: zone.name, servers, serials },
    nearest: isGone && zone ? await nearestTo(now, domain.hostname, zone.name) : undefined,
    resolvers: seenByResolvers,
    misplaced,
    isConfirmed,
    addresses,
    resolverAddresses,
    caa,
    bogus: resolvers.bogus,
    isIncomplete: client.isExhausted,
    kindOfAddress,
    allowPrivate,
  };
}

async function addressesOf(now: FollowOptions, hostname: string): Promise<AddressAnswers> {
  const [A, AAAA] = await Promise.all([follow(now, hostname, 'A'), follow(now, hostname, 'AAAA')]);
  return { A, AAAA };
}

async function addressesAtResolvers({ resolvers }: ZoneOptions, hostname: string): Promise<StaleAddresses[]> {
  const found = await Promise.all([resolvers.all(hostname, 'A'), resolvers.all(hostname, 'AAAA')]);
  return found.flat().flatMap(({ server, reply }) => {
    if (reply.kind === 'silence') return [];
    const records = reply.message.answers.flatMap((record) =>
      record.type === 'A' || record.type === 'AAAA' ? [record] : [],
    );
    if (records.length === 0) return [];
    const ttl = Math.min(...records.map((record) => record.ttl));
    return [{ server, addresses: records.map(({ address }) => address), ttl }];
  });
}

/** Up the tree until there are any (RFC 8659). Top-level domains are left out: theirs forbid nobody. */
async function caaOf(now: FollowOptions, hostname: string): Promise<CaaAnswer> {
  for (const name of upwards(hostname.replace(/^\*\./, '')).filter((each) => each.includes('.'))) {
    const { end } = await follow(now, name, 'CAA');
    if (end.kind === 'failed' || end.kind === 'loop') return { kind: 'failed', name };
    const records = end.kind === 'records' ? end.records : [];
    const found = records.flatMap((record): CaaRecord[] => (record.type === 'CAA' ? [record] : []));
    if (found.length > 0) return { kind: 'set', name, records: found };
  }
  return { kind: 'none' };
}

/** Where people put it by mistake: many control panels add the zone to what is typed, and some have no field for a name. */
async function misplacedAt(
  now: FollowOptions,
  { hostname, record }: DomainToCheck,
  zone: string,
): Promise<string | undefined> {
  const doubled = `${record.name}.${zone}`;
  const label = record.name.slice(0, record.name.indexOf('.'));
  const places = [doubled, hostname.replace(/^\*\./, ''), zone, `${label}.${zone}`];
  const others = [...new Set(places)].filter(
    (place) => place !== record.name && place !== '' && place.length <= 253 && isWithin(place, zone),
  );
  const found = await Promise.all(
    others.map(async (place) => {
      const { end } = await follow(now, place, 'TXT');
      const records = end.kind === 'records' ? end.records : [];
      return records.some((each) => each.type === 'TXT' && each.text === record.value) ? place : undefined;
    }),
  );
  return found.find((place) => place !== undefined);
}

/** An answer over UDP can be forged by whoever guesses two numbers, and this one gives a domain away. */
async function confirmed(
  { client }: ZoneOptions,
  servers: ReturnType<typeof healthyServers>,
  { record }: DomainToCheck,
): Promise<boolean> {
  const query = { name: record.name, type: 'TXT', isRecursive: false } as const;
  const replies = await Promise.all(servers.map((server) => client.ask(server, query, true)));
  return replies.some((reply) => hasValue(textOfReply(reply, record.name), record.value));
}

async function serialsOf({ client }: ZoneOptions, zone: Zone): Promise<string[]> {
  const servers = healthyServers(zone);
  const found = await Promise.all(
    servers.map(async (server) => {
      const reply = await client.ask(server, { name: zone.name, type: 'SOA', isRecursive: false });
      const records = reply.kind === 'answer' ? reply.message.answers : [];
      const soa = records.find((record) => record.type === 'SOA');
      return soa?.type === 'SOA' ? [`${shownServer(server)} has serial ${soa.serial}`] : [];
    }),
  );
  return found.flat();
}

async function nearestTo(now: FollowOptions, hostname: string, zone: string): Promise<string> {
  const above = upwards(parentOf(hostname)).filter((name) => isWithin(name, zone) && name !== zone);
  for (const name of above.slice(-mostAncestors)) {
    const { end } = await follow(now, name, 'SOA');
    if (end.kind === 'records' || (end.kind === 'none' && !end.isNxdomain)) return name;
  }
  return zone;
}
