/** DNS messages as bytes: what of a query is taken, and how an answer is kept within the size the client can take. */
import * as packet from 'dns-packet';
import { type Found, type Rcode, rcodes } from './lookup.ts';

/** What never needs fragments; larger answers go over TCP, as with the large public servers. */
export const ownUdpSize = 1232;
const headerSize = 12;
const largest = 65_535;
/** Opcode, RD and CD are the asker's, and stand in the answer as in the query. */
const echoedFlags = 0x7800 | packet.RECURSION_DESIRED | packet.CHECKING_DISABLED;

export type Transport = 'udp' | 'tcp';

export interface Query {
  readonly bytes: Buffer;
  readonly id: number;
  readonly flags: number;
  readonly question: packet.Question;
  readonly edns: packet.OptAnswer | undefined;
  /** The most bytes an answer may have. */
  readonly limit: number;
}

/** Undefined where no answer is due: to answer an answer would start an endless exchange. */
export function readQuery(
  bytes: Buffer,
  transport: Transport,
): Query | { readonly refusal: Buffer } | undefined {
  if (bytes.length < headerSize || bytes.readUInt16BE(2) & 0x8000) return undefined;
  if (bytes.readUInt16BE(2) & 0x7800) return { refusal: bareReply(bytes, 'NOTIMP') };
  const read = decoded(bytes);
  const question = read?.questions?.[0];
  if (!read || !question || read.questions?.length !== 1 || !survives(question, bytes))
    return { refusal: bareReply(bytes, 'FORMERR') };
  const edns = read.additionals?.find((each) => each.type === 'OPT');
  const udpLimit = Math.max(512, Math.min(edns?.udpPayloadSize ?? 0, ownUdpSize));
  const limit = transport === 'tcp' ? largest : udpLimit;
  return { bytes, id: bytes.readUInt16BE(0), flags: read.flags ?? 0, question, edns, limit };
}

/** The decoder throws at any byte out of place, and that is all that can be known: the query is malformed. */
function decoded(bytes: Buffer): packet.DecodedPacket | undefined {
  try {
    return packet.decode(bytes);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** A name with a dot within a label or bytes that are no text would come back as another name. */
function survives(question: packet.Question, bytes: Buffer): boolean {
  const again = packet.encode({ questions: [question] }).subarray(headerSize);
  return again.equals(bytes.subarray(headerSize, headerSize + again.length));
}

export interface ReplyFlags {
  readonly authoritative: boolean;
  readonly recursive: boolean;
}

export function writeReply(query: Query, found: Found, kind: ReplyFlags): Buffer {
  const whole = encodeReply(query, found, kind, 0);
  if (whole.length <= query.limit) return whole;
  if (query.limit === largest) return encodeReply(query, nothingWith('SERVFAIL'), kind, 0);
  return encodeReply(query, nothingWith(found.rcode), kind, packet.TRUNCATED_RESPONSE);
}

export function nothingWith(rcode: Rcode): Found {
  return { rcode, answers: [], authorities: [] };
}

/** RFC 6891: a version we do not know is answered with BADVERS, which needs the upper bits in the OPT record. */
export function writeBadVersion(query: Query, kind: ReplyFlags): Buffer {
  return encodeReply(query, nothingWith('NOERROR'), kind, 0, 1);
}

function encodeReply(query: Query, found: Found, kind: ReplyFlags, extra: number, extendedRcode = 0): Buffer {
  const authoritative = kind.authoritative ? packet.AUTHORITATIVE_ANSWER : 0;
  const recursive = kind.recursive ? packet.RECURSION_AVAILABLE : 0;
  const flags = (query.flags & echoedFlags) | authoritative | recursive | extra | rcodes[found.rcode];
  return packet.encode({
    type: 'response',
    id: query.id,
    flags,
    questions: [query.question],
    answers: [...found.answers],
    authorities: [...found.authorities],
    additionals: query.edns ? [ownOpt(query.edns, extendedRcode)] : [],
  });
}

function ownOpt(asked: packet.OptAnswer, extendedRcode: number): packet.OptAnswer {
  const flags = asked.flags & packet.DNSSEC_OK;
  const sizes = { udpPayloadSize: ownUdpSize, extendedRcode, ednsVersion: 0 };
  return { type: 'OPT', name: '.', ...sizes, flags, flag_do: flags !== 0, options: [] };
}

function bareReply(bytes: Buffer, rcode: Rcode): Buffer {
  const reply = Buffer.alloc(headerSize);
  reply.writeUInt16BE(bytes.readUInt16BE(0), 0);
  reply.writeUInt16BE(0x8000 | (bytes.readUInt16BE(2) & echoedFlags) | rcodes[rcode], 2);
  return reply;
}

/** A question is never compressed: its labels are followed by an empty one, the type and the class. */
export function questionEnd(bytes: Buffer): number {
  let at = 12;
  while ((bytes[at] ?? 0) !== 0) at += (bytes[at] ?? 0) + 1;
  return at + 5;
}

/** An answer from elsewhere, within what the client can take: what does not fit is fetched over TCP. */
export function fitted(reply: Buffer, query: Query): Buffer {
  if (reply.length <= query.limit) return reply;
  const cut = Buffer.from(reply.subarray(0, questionEnd(reply)));
  cut.writeUInt16BE(cut.readUInt16BE(2) | packet.TRUNCATED_RESPONSE, 2);
  cut.fill(0, 6, headerSize);
  return cut;
}
