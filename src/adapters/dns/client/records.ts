/** The records that are read. Of others only the number of their type is known. */
import { type Reader, Unreadable } from './wire.ts';

export const typeNumbers = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  AAAA: 28,
  OPT: 41,
  CAA: 257,
} as const;
export type RecordType = keyof typeof typeNumbers;

interface Common {
  readonly name: string;
  readonly ttl: number;
}

export interface CaaRecord extends Common {
  readonly type: 'CAA';
  readonly isCritical: boolean;
  /** In lower case. */
  readonly tag: string;
  readonly value: string;
}

export interface SoaRecord extends Common {
  readonly type: 'SOA';
  readonly serial: number;
  /** For how long «there is nothing» may be remembered, at most. */
  readonly minimum: number;
}

export type DnsRecord =
  | (Common & { readonly type: 'A' | 'AAAA'; readonly address: string })
  | (Common & { readonly type: 'NS' | 'CNAME'; readonly target: string })
  | (Common & { readonly type: 'TXT'; readonly text: string })
  | CaaRecord
  | SoaRecord
  | (Common & { readonly type: 'OPT'; readonly extendedRcode: number; readonly explanation?: string })
  | (Common & { readonly type: 'other'; readonly number: number });

const internet = 1;
const names = new Map<number, RecordType>(
  Object.entries(typeNumbers).flatMap(([name, number]) => (isType(name) ? [[number, name]] : [])),
);

function isType(name: string): name is RecordType {
  return name in typeNumbers;
}

export function readRecord(reader: Reader): DnsRecord {
  const name = reader.name();
  const number = reader.u16();
  const klass = reader.u16();
  const ttl = reader.u32();
  const data = reader.part(reader.u16());
  const type = names.get(number);
  if (type === 'OPT') return { name, ttl: 0, type, extendedRcode: ttl >>> 24, ...readExplanation(data) };
  if (type === undefined || klass !== internet) return { name, ttl, type: 'other', number };
  // RFC 2181: one with the highest bit set counts as none.
  const record = readData({ name, ttl: ttl > 0x7fff_ffff ? 0 : ttl }, type, data);
  if (!data.isAtEnd) throw new Unreadable(`a record ${type} has more bytes than it should`);
  return record;
}

function readData(common: Common, type: Exclude<RecordType, 'OPT'>, data: Reader): DnsRecord {
  switch (type) {
    case 'A':
      return { ...common, type, address: [...data.bytes(4)].join('.') };
    case 'AAAA':
      return { ...common, type, address: shownV6(data.bytes(16)) };
    case 'NS':
    case 'CNAME':
      return { ...common, type, target: data.name() };
    case 'TXT':
      return { ...common, type, text: readText(data) };
    case 'CAA': {
      const isCritical = (data.u8() & 0x80) !== 0;
      const tag = data.bytes(data.u8()).toString('latin1').toLowerCase();
      return { ...common, type, isCritical, tag, value: data.rest().toString('latin1') };
    }
    case 'SOA': {
      data.name();
      data.name();
      const serial = data.u32();
      data.bytes(12);
      return { ...common, type, serial, minimum: data.u32() };
    }
  }
}

/** The strings of one record are one text: that is how a value longer than 255 bytes is written. */
function readText(data: Reader): string {
  const strings: Buffer[] = [];
  while (!data.isAtEnd) strings.push(data.bytes(data.u8()));
  return Buffer.concat(strings).toString('utf8');
}

/** As Node and URLs write it: the longest run of zeros left out, RFC 5952. */
function shownV6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

const explained: Readonly<Record<number, string>> = {
  5: 'DNSSEC Indeterminate',
  6: 'DNSSEC Bogus',
  7: 'Signature Expired',
  8: 'Signature Not Yet Valid',
  9: 'DNSKEY Missing',
  10: 'RRSIGs Missing',
  12: 'NSEC Missing',
  22: 'No Reachable Authority',
  23: 'Network Error',
};

function readExplanation(data: Reader): { explanation?: string } {
  const found: string[] = [];
  while (!data.isAtEnd) {
    const code = data.u16();
    const option = data.part(data.u16());
    if (code !== 15) continue;
    const info = option.u16();
    const text = option.rest().toString('utf8');
    found.push([explained[info] ?? `extended error ${info}`, ...(text === '' ? [] : [text])].join(': '));
  }
  return found.length > 0 ? { explanation: found.join('; ') } : {};
}
