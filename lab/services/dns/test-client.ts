/** A DNS client for tests, which shows the message and not what a resolver makes of it. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import * as packet from 'dns-packet';
import { type DnsOptions, type LabDns, startDns } from './dns.ts';

export interface TestContext {
  after(work: () => Promise<void> | void): void;
}

export async function startTestDns(t: TestContext, options: Partial<DnsOptions> = {}): Promise<LabDns> {
  const given = { address: '127.0.0.1', port: 0, nameServer: '127.0.0.53', upstreams: [], ...options };
  const dns = await startDns(given);
  t.after(() => dns.close());
  return dns;
}

export function resolverFor(dns: LabDns, timeout = 2000): Resolver {
  const resolver = new Resolver({ timeout, tries: 1 });
  resolver.setServers([`127.0.0.1:${dns.port}`]);
  return resolver;
}

export interface Reply {
  readonly packet: packet.DecodedPacket;
  readonly rcode: number;
  readonly size: number;
  readonly answers: readonly packet.Answer[];
  readonly authorities: readonly packet.Answer[];
}

export interface Ask {
  readonly name: string;
  readonly type: string;
  /** Adds EDNS with this size. */
  readonly udpPayloadSize?: number;
  readonly ednsVersion?: number;
}

const limitMs = 5000;

export function encodeAsk({ name, type, udpPayloadSize, ednsVersion = 0 }: Ask): Buffer {
  const sizes = { udpPayloadSize: udpPayloadSize ?? 0, extendedRcode: 0, ednsVersion };
  const opt: packet.OptAnswer = { type: 'OPT', name: '.', ...sizes, flags: 0, flag_do: false, options: [] };
  const query = packet.encode({
    type: 'query',
    id: 4711,
    flags: packet.RECURSION_DESIRED,
    questions: [{ name, type: 'A' }],
    additionals: udpPayloadSize === undefined ? [] : [opt],
  });
  // The type goes in by number, because the library's types leave out some that it knows.
  query.writeUInt16BE(typeCodes[type] ?? Number(type), Buffer.byteLength(name) + 14);
  return query;
}

const typeCodes: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
};

export function read(bytes: Buffer): Reply {
  const decoded = packet.decode(bytes);
  const { flags = 0, answers = [], authorities = [] } = decoded;
  return { packet: decoded, rcode: flags & 0xf, size: bytes.length, answers, authorities };
}

export async function sendUdp(port: number, query: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4');
  try {
    const signal = AbortSignal.timeout(limitMs);
    const answered = once(socket, 'message', { signal });
    socket.send(query, port, '127.0.0.1');
    const [bytes] = await answered;
    return bytes;
  } finally {
    socket.close();
  }
}

export async function askUdp(port: number, ask: Ask): Promise<Reply> {
  return read(await sendUdp(port, encodeAsk(ask)));
}

/** Sends all at once over one connection, and reads until as many answers are there. */
export async function sendTcp(port: number, queries: readonly Buffer[], half = false): Promise<Buffer[]> {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.setTimeout(limitMs, () => socket.destroy(new Error('no answer over TCP')));
    const framed = queries.map((query) => Buffer.concat([lengthOf(query), query]));
    socket.write(Buffer.concat(framed));
    if (half) socket.end();
    const replies: Buffer[] = [];
    let got = Buffer.alloc(0);
    for await (const chunk of socket) {
      got = Buffer.concat([got, chunk]);
      while (got.length >= 2 && got.length >= got.readUInt16BE(0) + 2) {
        const end = got.readUInt16BE(0) + 2;
        replies.push(got.subarray(2, end));
        got = got.subarray(end);
      }
      if (!half && replies.length === queries.length) break;
    }
    return replies;
  } finally {
    socket.destroy();
  }
}

export async function askTcp(port: number, ask: Ask): Promise<Reply> {
  const [reply = Buffer.alloc(0)] = await sendTcp(port, [encodeAsk(ask)]);
  return read(reply);
}

function lengthOf(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return length;
}
