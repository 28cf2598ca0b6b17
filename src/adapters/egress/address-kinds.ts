/** What kind of address something is, by the registries of special-purpose addresses, IPv6 forms of IPv4 included. */
import { BlockList, isIP, isIPv4 } from 'node:net';

export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'multicast'
  | 'documentation'
  | 'unspecified'
  | 'reserved';

type Special = Exclude<AddressKind, 'public'>;

/** The first that fits counts. */
const specialV4: readonly (readonly [Special, string, number])[] = [
  ['unspecified', '0.0.0.0', 8],
  ['loopback', '127.0.0.0', 8],
  ['private', '10.0.0.0', 8],
  ['private', '172.16.0.0', 12],
  ['private', '192.168.0.0', 16],
  // Shared by the customers of a provider, and by overlay networks.
  ['private', '100.64.0.0', 10],
  // Where clouds keep the credentials of their machines.
  ['link-local', '169.254.0.0', 16],
  ['documentation', '192.0.2.0', 24],
  ['documentation', '198.51.100.0', 24],
  ['documentation', '203.0.113.0', 24],
  ['documentation', '198.18.0.0', 15],
  ['reserved', '192.0.0.0', 24],
  ['reserved', '192.88.99.0', 24],
  ['multicast', '224.0.0.0', 4],
  ['reserved', '240.0.0.0', 4],
];

const specialV6: readonly (readonly [Special, string, number])[] = [
  ['private', 'fc00::', 7],
  ['documentation', '2001:db8::', 32],
  ['documentation', '2001:2::', 48],
  ['documentation', '3fff::', 20],
];

/** The CIDR blocks of such kinds, without the IPv6 addresses that stand for an IPv4 address in them. */
export function networksOf(kinds: readonly Special[]): string[] {
  return [...specialV4, ...specialV6].flatMap(([kind, network, bits]) =>
    kinds.includes(kind) ? [`${network}/${bits}`] : [],
  );
}

const v4Lists = specialV4.map(([kind, network, bits]) => {
  const list = new BlockList();
  list.addSubnet(network, bits, 'ipv4');
  return { kind, list };
});

export function kindOfAddress(address: string): AddressKind {
  if (isIP(address) === 0) return 'reserved';
  return isIPv4(address) ? kindOfV4(address) : kindOfV6(groupsOf(address));
}

function kindOfV4(address: string): AddressKind {
  return v4Lists.find(({ list }) => list.check(address, 'ipv4'))?.kind ?? 'public';
}

/** Only 2000::/3 is the internet; of that, what is set aside is taken out. What carries an IPv4 address is as that is. */
function kindOfV6(groups: readonly number[]): AddressKind {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const isZero = (...some: readonly number[]) => some.every((group) => group === 0);
  if (isZero(a, b, c, d, e)) {
    if (f === 0xffff) return notPublic(kindOfV4(dotted(g, h)));
    if (isZero(f, g)) return h === 0 ? 'unspecified' : h === 1 ? 'loopback' : 'reserved';
    return 'reserved';
  }
  if (a === 0x64 && b === 0xff9b && isZero(c, d, e, f)) return kindOfV4(dotted(g, h));
  if (a >> 8 === 0xff) return 'multicast';
  if (a >> 9 === 0x7e) return 'private';
  if (a >> 6 === 0x3fa) return 'link-local';
  if (a >> 13 !== 1) return 'reserved';
  if (a === 0x2002) return kindOfV4(dotted(b, c));
  if (a === 0x2001 && b === 0) return worse(kindOfV4(dotted(c, d)), kindOfV4(dotted(~g, ~h)));
  if (a === 0x2001 && b === 0xdb8) return 'documentation';
  if (a === 0x2001 && b === 2 && c === 0) return 'documentation';
  if (a === 0x2001 && b < 0x200) return 'reserved';
  if (a === 0x3fff && b < 0x1000) return 'documentation';
  return 'public';
}

/** A mapped address is a way to write an IPv4 address past a check; nobody has to. */
function notPublic(kind: AddressKind): AddressKind {
  return kind === 'public' ? 'reserved' : kind;
}

function worse(one: AddressKind, other: AddressKind): AddressKind {
  return one === 'public' ? other : one;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high, low >> 8, low].map((part) => part & 0xff).join('.');
}

/** The eight numbers of an address that `isIP` takes for IPv6, in whatever way it is written. */
function groupsOf(address: string): number[] {
  const text = address.replace(/%.*$/, '').replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [one = 0, two = 0, three = 0, four = 0] = parts.slice(0, 4).map(Number);
    return `${((one << 8) | two).toString(16)}:${((three << 8) | four).toString(16)}`;
  });
  const [before = '', after] = text.split('::');
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const head = read(before);
  const tail = after === undefined ? [] : read(after);
  const gap = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array<number>(gap).fill(0), ...tail];
}
