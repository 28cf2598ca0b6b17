/** The records the lab can hold, written as in a zone file, and what they are on the wire. */
import { isIPv4, isIPv6 } from 'node:net';
import { type Answer, type CaaData, encodingLength, type MxData } from 'dns-packet';
import { InputError } from '../control/input.ts';
import { checkedName } from './names.ts';

export const recordTypes = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'TXT'] as const;
export type LabRecordType = (typeof recordTypes)[number];

/** One record. Only TXT takes a list: the strings of one record. */
export type RecordValue = string | readonly string[];

export interface RecordSet {
  readonly name: string;
  readonly type: LabRecordType;
  readonly values: readonly RecordValue[];
  readonly ttl: number;
}

/** Short, because records in a lab change all the time and whoever caches would miss it. */
export const defaultTtl = 5;
const longestTtl = 2 ** 31 - 1;
/** Below the 64 KiB of a message, with room for the names on the way to it. */
const largestSet = 60_000;
const caaTags = ['issue', 'issuewild', 'iodef'] as const;

export function checkedType(text: string): LabRecordType {
  const type = recordTypes.find((each) => each === text.toUpperCase());
  if (type) return type;
  throw new InputError(`"${text}" is no record type the lab knows: it takes ${recordTypes.join(', ')}.`);
}

export function checkedSet(
  name: string,
  type: LabRecordType,
  values: readonly RecordValue[],
  ttl = defaultTtl,
): RecordSet {
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > longestTtl)
    throw new InputError(`A ttl of ${ttl} is not possible: it is a whole number of seconds, such as 60.`);
  if (values.length === 0)
    throw new InputError(`${type} of ${name} needs at least one value; to take it away, remove it.`);
  if (type === 'CNAME' && values.length > 1)
    throw new InputError(`${name} can have one CNAME only, and ${values.length} were given.`);
  const written = values.map((value) => JSON.stringify(value));
  const twice = written.find((value, index) => written.indexOf(value) !== index);
  if (twice !== undefined)
    throw new InputError(`${type} of ${name} has the value ${twice} twice; once is enough.`);
  const answers = values.map((value) => toAnswer(name, type, value, ttl));
  if (encodingLength({ answers }) > largestSet)
    throw new InputError(
      `${type} of ${name} has over ${largestSet} bytes, more than a DNS message can carry.`,
    );
  return { name, type, values: structuredClone(values), ttl };
}

/** Made anew for every message, because the encoder writes into what it is given. */
export function toAnswer(name: string, type: LabRecordType, value: RecordValue, ttl: number): Answer {
  if (type === 'TXT') return { name, type, ttl, data: txtStrings(value) };
  if (typeof value !== 'string')
    throw new InputError(`A value of ${type} is one text, and ${JSON.stringify(value)} is a list.`);
  switch (type) {
    case 'A':
      if (!isIPv4(value))
        throw new InputError(`"${value}" is no IPv4 address: A takes one such as 192.0.2.1.`);
      return { name, type, ttl, data: value };
    case 'AAAA':
      if (!isIPv6(value) || value.includes('%'))
        throw new InputError(`"${value}" is no IPv6 address: AAAA takes one such as 2001:db8::1.`);
      return { name, type, ttl, data: value };
    case 'CNAME':
    case 'NS':
      checkedName(value, { wildcard: false });
      return { name, type, ttl, data: value };
    case 'MX':
      return { name, type, ttl, data: mxData(value) };
    case 'CAA':
      return { name, type, ttl, data: caaData(value) };
  }
}

/** Cut by bytes and not by characters: a character may lie across two strings, as with any other server. */
function txtStrings(value: RecordValue): Buffer[] {
  const strings = typeof value === 'string' ? [value] : value;
  if (strings.length === 0)
    throw new InputError('A TXT record needs at least one string, which may be empty.');
  return strings.flatMap((text) => {
    const bytes = Buffer.from(text);
    const count = Math.max(1, Math.ceil(bytes.length / 255));
    return Array.from({ length: count }, (_, index) => bytes.subarray(index * 255, index * 255 + 255));
  });
}

function mxData(value: string): MxData {
  const [, preference = '', exchange = ''] = /^(\d{1,5})\s+(\S+)$/.exec(value) ?? [];
  if (exchange === '' || Number(preference) > 65_535)
    throw new InputError(
      `"${value}" is no MX value: it is a number up to 65535 and a host: "10 mail.lab.test".`,
    );
  // A single dot is how a domain says that it takes no mail.
  if (exchange !== '.') checkedName(exchange, { wildcard: false });
  return { preference: Number(preference), exchange };
}

function caaData(value: string): CaaData {
  const [, flags = '', name = '', text = ''] = /^(\d{1,3})\s+(\w+)\s+"([^"]*)"$/.exec(value) ?? [];
  const tag = caaTags.find((each) => each === name.toLowerCase());
  if (tag === undefined || Number(flags) > 255)
    throw new InputError(
      `'${value}' is no CAA value: it is a number up to 255, one of ${caaTags.join(', ')}, and a text in quotes: '0 issue "ca.lab.test"'.`,
    );
  return { flags: Number(flags), tag, value: text };
}
