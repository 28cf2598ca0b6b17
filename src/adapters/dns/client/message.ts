/**
 * DNS messages as bytes. Written for answers of strangers: every read is checked against the end of what it is in,
 * names point backwards only, and the number of records is bounded. Only what a check of a domain needs is understood.
 */
import { type DnsRecord, type RecordType, readRecord, typeNumbers } from './records.ts';
import { Reader, Unreadable } from './wire.ts';

export interface Query {
  readonly name: string;
  readonly type: RecordType;
  /** Asks for recursion: for resolvers, never for a zone's own servers. */
  readonly isRecursive: boolean;
  /** CD: the answer even where its signatures are wrong. */
  readonly withoutValidation?: boolean;
}

export interface Message {
  readonly id: number;
  readonly isResponse: boolean;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly rcode: string;
  readonly question: { readonly name: string; readonly type: number; readonly klass: number } | undefined;
  readonly answers: readonly DnsRecord[];
  readonly authorities: readonly DnsRecord[];
  readonly additionals: readonly DnsRecord[];
  /** What a resolver says beside the code (RFC 8914), such as why signatures do not fit. */
  readonly explanation: string | undefined;
}

const mostRecords = 2_000;
/** What never needs fragments on its way. */
const udpSize = 1_232;
const internet = 1;
const rcodes = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];

export function encodeQuery(
  { name, type, isRecursive, withoutValidation = false }: Query,
  id: number,
): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE((isRecursive ? 0x0100 : 0) | (withoutValidation ? 0x0010 : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 10);
  const asked = Buffer.alloc(4);
  asked.writeUInt16BE(typeNumbers[type], 0);
  asked.writeUInt16BE(internet, 2);
  // EDNS: the root as owner, OPT, our size, no flags, no options.
  const edns = Buffer.alloc(11);
  edns.writeUInt16BE(typeNumbers.OPT, 1);
  edns.writeUInt16BE(udpSize, 3);
  return Buffer.concat([header, encodeName(name), asked, edns]);
}

function encodeName(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.').map((label) => Buffer.from(label, 'latin1'));
  if (labels.some((label) => label.length === 0 || label.length > 63))
    throw new Unreadable(`“${name}” is no name that can be asked for`);
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), label]);
  const encoded = Buffer.concat([...parts, Buffer.from([0])]);
  if (encoded.length > 255) throw new Unreadable(`“${name}” is too long to be asked for`);
  return encoded;
}

/** Throws `Unreadable` for anything that is not a whole, well-formed message. */
export function decodeMessage(bytes: Buffer): Message {
  const reader = new Reader(bytes);
  const id = reader.u16();
  const flags = reader.u16();
  const [questions, answers, authorities, additionals] = [
    reader.u16(),
    reader.u16(),
    reader.u16(),
    reader.u16(),
  ];
  if (questions > 1) throw new Unreadable(`it repeats ${questions} questions`);
  if (answers + authorities + additionals > mostRecords)
    throw new Unreadable(`it has ${answers + authorities + additionals} records`);
  const question =
    questions === 1 ? { name: reader.name(), type: reader.u16(), klass: reader.u16() } : undefined;
  const read = (count: number) => Array.from({ length: count }, () => readRecord(reader));
  const sections = [read(answers), read(authorities), read(additionals)] as const;
  const edns = sections[2].find((record) => record.type === 'OPT');
  const extended = edns?.type === 'OPT' ? edns.extendedRcode : 0;
  const rcode = (extended << 4) | (flags & 0xf);
  return {
    id,
    isResponse: (flags & 0x8000) !== 0,
    isAuthoritative: (flags & 0x0400) !== 0,
    isTruncated: (flags & 0x0200) !== 0,
    rcode: rcodes[rcode] ?? `code ${rcode}`,
    question,
    answers: sections[0],
    authorities: sections[1],
    additionals: sections[2],
    explanation: edns?.type === 'OPT' ? edns.explanation : undefined,
  };
}

/** Whether a message answers this query: strangers can send anything to our port. Refusals may leave the question out. */
export function answersTo(message: Message, query: Query, id: number): boolean {
  if (!message.isResponse || message.id !== id) return false;
  if (!message.question) return message.rcode !== 'NOERROR' && message.rcode !== 'NXDOMAIN';
  const { name, type, klass } = message.question;
  return name === query.name && type === typeNumbers[query.type] && klass === internet;
}
