/** What of an address says whose it is: one caller, and the customer that a provider gave a block of them to. */
import { isIPv4, isIPv6 } from 'node:net';

/** The caller: an address of IPv4, of IPv6 a /64, which is what one line has to call from. */
export function networkOf(ip: string): string {
  const address = unmapped(ip);
  return isIPv6(address) ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** The first 24 bits of an address, of IPv6 the first 48: what a provider gives to one customer. */
export function prefixOf(ip: string): string {
  const address = unmapped(ip);
  if (isIPv4(address)) return address.split('.').slice(0, 3).join('.');
  return isIPv6(address) ? groupsOf(address).slice(0, 3).join(':') : 'unknown';
}

function unmapped(ip: string): string {
  return ip.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** The eight groups of an IPv6 address, each in its shortest form. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16).toString(16));
}
