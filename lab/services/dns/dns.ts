/**
 * The lab's name server. Owns its zones (the authority for `lab.test` and those added later) and hands every other
 * name to the upstreams. It refuses zone transfers, keeps no cache, signs nothing, and delegates nothing: NS records
 * below a zone are plain data. An alias that leads out of our zones is answered as it stands, and not followed. Who
 * asks for recursion sees a resolver: what it was told to remember, and bad signatures where that was asked for.
 */
import { isIP, isIPv4 } from 'node:net';
import { CHECKING_DISABLED, RECURSION_DESIRED } from 'dns-packet';
import { zone as labZone } from '../../places.ts';
import { InputError } from '../control/input.ts';
import { listen, type Respond, type Source } from './listen.ts';
import {
  type Fault,
  type Found,
  faults as faultNames,
  foundByFault,
  lookUp,
  type Rcode,
  rcodes,
} from './lookup.ts';
import { fitted, nothingWith, type Query, readQuery, writeBadVersion, writeReply } from './message.ts';
import { checkedName, plainName } from './names.ts';
import { type LoggedQuery, QueryLog } from './query-log.ts';
import type { RecordSet, RecordValue } from './records.ts';
import { Remembered } from './remembered.ts';
import { forward, shownUpstream, type Upstream, upstreamOf } from './upstream.ts';
import { Zones } from './zones.ts';

export interface DnsOptions {
  readonly address: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly zones?: readonly string[];
  /** The IPv4 address of `ns.<zone>`. */
  readonly nameServer: string;
  readonly upstreams: readonly string[];
  /** How long one upstream may take over UDP, and again over TCP. */
  readonly upstreamTimeoutMs?: number;
}

export interface LabDns {
  readonly address: string;
  readonly port: number;
  zones(): string[];
  addZone(zone: string): void;
  /** Replaces the set of that name and type. */
  set(name: string, type: string, values: readonly RecordValue[], ttl?: number): RecordSet;
  /** Without a type, all of the name. Says how many sets went. */
  remove(name: string, type?: string): number;
  list(): RecordSet[];
  /** What resolvers still have of a name, whatever the zone says; no values for «there is none». */
  remember(name: string, type: string, values: readonly RecordValue[], ttl?: number): RecordSet;
  /** Without a type, all of the name. Says how many went. */
  forget(name: string, type?: string): number;
  remembered(): RecordSet[];
  /** For any name, ours or not; undefined ends the fault. */
  fail(name: string, fault: Fault | undefined): void;
  faults(): { name: string; fault: Fault }[];
  queries(name?: string): LoggedQuery[];
  close(): Promise<void>;
}

export async function startDns(options: DnsOptions): Promise<LabDns> {
  const { address, nameServer } = options;
  if (isIP(address) === 0)
    throw new InputError(`"${address}" is no address to listen on: 127.0.0.1 would be one.`);
  if (!isIPv4(nameServer)) throw new InputError(`"${nameServer}" is no IPv4 address for the name server.`);
  const zones = new Zones(options.zones ?? [labZone], nameServer);
  const upstreams = options.upstreams.map(upstreamOf);
  const faults = new Map<string, Fault>();
  const remembered = new Remembered();
  const log = new QueryLog();
  const stop = new AbortController();
  const answering = {
    zones,
    remembered,
    faults,
    log,
    upstreams,
    timeoutMs: options.upstreamTimeoutMs ?? 2000,
    stop: stop.signal,
  };
  const sockets = await listen(address, options.port, responder(answering));
  const itself = upstreams.find((each) => each.address === address && each.port === sockets.port);
  if (itself) {
    await sockets.close();
    throw new InputError(
      `${shownUpstream(itself)} is this server: as its own upstream it would ask itself for ever.`,
    );
  }
  let closing: Promise<void> | undefined;
  return {
    address,
    port: sockets.port,
    zones: () => zones.names(),
    addZone: (zone) => zones.add(zone),
    set: (name, type, values, ttl) => zones.set(name, type, values, ttl),
    remove: (name, type) => zones.remove(name, type),
    list: () => zones.list(),
    remember: (name, type, values, ttl) => remembered.set(name, type, values, ttl),
    forget: (name, type) => remembered.remove(name, type),
    remembered: () => remembered.list(),
    fail: (name, fault) => {
      const key = checkedName(name, { wildcard: false });
      if (fault === undefined) faults.delete(key);
      else if (faultNames.includes(fault)) faults.set(key, fault);
      else throw new InputError(`"${fault}" is no fault: there are ${faultNames.join(', ')}.`);
    },
    faults: () => [...faults].map(([name, fault]) => ({ name, fault })),
    queries: (name) => log.list(name),
    close: () => {
      stop.abort(new Error('the DNS server was closed'));
      closing ??= sockets.close();
      return closing;
    },
  };
}

interface Answering {
  readonly zones: Zones;
  readonly remembered: Remembered;
  readonly faults: ReadonlyMap<string, Fault>;
  readonly log: QueryLog;
  readonly upstreams: readonly Upstream[];
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

interface Decided {
  readonly reply: Buffer | undefined;
  /** For the log. */
  readonly said: string;
}

function responder(answering: Answering): Respond {
  return async (bytes: Buffer, { address, transport }: Source) => {
    const query = readQuery(bytes, transport);
    if (!query || 'refusal' in query) return query?.refusal;
    const { name, type } = query.question;
    const note = answering.log.add({ name, type, source: address, transport });
    const { reply, said } = await decide(query, answering);
    note(said);
    return reply;
  };
}

async function decide(query: Query, answering: Answering): Promise<Decided> {
  const { zones, remembered, upstreams } = answering;
  const asked: { name: string; type: string; class?: string | undefined } = query.question;
  const recursive = upstreams.length > 0;
  const ending = (found: Found | undefined, ours: boolean): Decided => {
    if (!found) return { reply: undefined, said: 'no answer, by a fault that was asked for' };
    // An authority that cannot or will not answer does not vouch for it.
    const authoritative = ours && (found.rcode === 'NOERROR' || found.rcode === 'NXDOMAIN');
    return { reply: writeReply(query, found, { authoritative, recursive }), said: found.rcode };
  };
  const simply = (rcode: Rcode) => ending(nothingWith(rcode), false);
  if (query.edns && query.edns.ednsVersion > 0)
    return { reply: writeBadVersion(query, { authoritative: false, recursive }), said: 'BADVERS' };
  const foreignClass = asked.class !== 'IN' && asked.class !== 'ANY';
  if (foreignClass || asked.type === 'AXFR' || asked.type === 'IXFR') return simply('REFUSED');
  const name = plainName(asked.name);
  const asResolver = (query.flags & RECURSION_DESIRED) !== 0;
  const validates = asResolver && (query.flags & CHECKING_DISABLED) === 0;
  const faultOf = (each: string) => {
    const fault = answering.faults.get(each);
    return fault === 'bogus' && !validates ? undefined : fault;
  };
  const kept = asResolver && !faultOf(name) ? remembered.find(asked) : undefined;
  if (kept) return ending(kept, false);
  if (zones.zoneOf(name) !== undefined) return ending(lookUp(zones, asked, faultOf), true);
  const fault = faultOf(name);
  if (fault) return ending(foundByFault(fault), false);
  return recursive ? askUpstreams(query, answering, simply) : simply('REFUSED');
}

async function askUpstreams(
  query: Query,
  { upstreams, timeoutMs, stop }: Answering,
  simply: (rcode: Rcode) => Decided,
): Promise<Decided> {
  const { reply, failures } = await forward(query.bytes, upstreams, timeoutMs, stop);
  const notes = failures.map((failure) => `; ${failure}`).join('');
  if (!reply) return { ...simply('SERVFAIL'), said: `SERVFAIL${notes}` };
  const code = reply.readUInt16BE(2) & 0xf;
  const name = Object.entries(rcodes).find(([, number]) => number === code)?.[0] ?? `RCODE_${code}`;
  return { reply: fitted(reply, query), said: `${name}${notes}` };
}
