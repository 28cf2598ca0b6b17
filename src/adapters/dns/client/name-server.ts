/** Where a name server listens, and which of them may be asked. */
import { getServers } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';

export interface NameServer {
  readonly address: string;
  readonly port: number;
}

/** The kinds of addresses, as whoever guards what we connect to tells them apart. */
export type KindOfAddress = (address: string) => string;

/** `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`. */
function nameServerOf(text: string): NameServer {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const [, bracketed, plain, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  if (isIP(address) === 0) throw new Error(`“${text}” is no address of a name server`);
  return { address, port: Number(port) };
}

/** Those that were set, or those of this machine. */
export function resolversFrom(servers: readonly string[]): NameServer[] {
  return (servers.length > 0 ? servers : getServers()).map(nameServerOf);
}

export function shownServer({ address, port }: NameServer): string {
  if (port === 53) return address;
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

/** What a network of one's own is made of; everything else that is not public is never asked. */
const ownNetwork = ['loopback', 'private', 'documentation'];

/** Zones are anybody's, and their name servers can stand for any address: ours must not become one they reach through us. */
export function mayAsk(address: string, kindOf: KindOfAddress, allowPrivate: boolean): boolean {
  const kind = kindOf(address);
  return kind === 'public' || (allowPrivate && ownNetwork.includes(kind));
}
