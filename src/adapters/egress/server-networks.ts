/**
 * Where servers may stand: which addresses the service logs in to. Those of the internet, those of private networks where
 * this instance says so, and none of the machine that it runs on unless that address is named. What is not allowed is
 * refused before a packet is sent there, so nobody learns what answers.
 */
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { errorText, Fault } from '../../fault.ts';
import { type Lookup, systemLookup } from './address-guard.ts';
import { type AddressKind, kindOfAddress, networksOf } from './address-kinds.ts';

export interface ServerNetworks {
  readonly allowPrivate: boolean;
  /** Addresses or CIDR blocks. */
  readonly networks: readonly string[];
}

/** What tests put in the place of the machine. */
export interface ServerNetworksParts {
  readonly lookup?: Lookup;
  readonly ownAddresses?: () => readonly string[];
}

type Refused = Exclude<AddressKind, 'public'> | 'own';

/** No server of anybody's has such an address, whatever a network that was named covers: clouds keep credentials there. */
const never: readonly Refused[] = ['link-local', 'multicast', 'unspecified', 'reserved'];

const inWords: Record<Refused, string> = {
  own: 'the machine that Slipway runs on',
  loopback: 'the machine that Slipway runs on',
  private: 'a private network',
  'link-local': 'the machine’s own link, where clouds keep credentials',
  multicast: 'a group of machines',
  documentation: 'examples and tests',
  unspecified: 'no machine',
  reserved: 'nobody on the internet',
};

/** From the host of a server to its addresses. One that is not allowed refuses the host, or the order of an answer would decide. */
export function serverResolver(
  { allowPrivate, networks }: ServerNetworks,
  { lookup = systemLookup, ownAddresses = interfaceAddresses }: ServerNetworksParts = {},
): (host: string) => Promise<readonly string[]> {
  const allowed = listOf([...networks, ...(allowPrivate ? networksOf(['private', 'documentation']) : [])]);
  const named = listOf(networks.filter(isSingle));
  // A network is named for the servers in it, not for the service's own ports, which nobody but the machine reaches.
  const refusalOf = (address: string): Refused | undefined => {
    const kind = kindOfAddress(address);
    if (kind !== 'public' && never.includes(kind)) return kind;
    if (contains(named, address)) return undefined;
    if (kind === 'loopback' || (kind !== 'public' && !contains(allowed, address))) return kind;
    return contains(listOf(ownAddresses()), address) ? 'own' : undefined;
  };
  return async (host) => {
    const found = isIP(host) === 0 ? await addressesOf(host, lookup) : [host];
    for (const address of found) {
      const refused = refusalOf(address);
      if (refused) throw refusal(host, address, refused);
    }
    return found;
  };
}

/** Whoever reaches a service that listens here stands in the same network, or was let in by its operator. */
export function listensPrivately(host: string): boolean {
  const kind = kindOfAddress(host);
  return host === 'localhost' || kind === 'loopback' || kind === 'private';
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
}

function isSingle(network: string): boolean {
  const [address = '', bits] = network.split('/');
  return bits === undefined || Number(bits) === (isIP(address) === 4 ? 32 : 128);
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    list.addSubnet(address, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

async function addressesOf(host: string, lookup: Lookup): Promise<readonly string[]> {
  const unresolved = (evidence: string, cause?: unknown) =>
    new Fault('name_not_resolved', `The name ${host} does not resolve to an address.`, {
      hint: 'Check the spelling, or give the IP address of the server.',
      evidence,
      cause,
    });
  const found = await lookup(host).catch((error: unknown) => {
    throw unresolved(errorText(error), error);
  });
  if (found.length === 0) throw unresolved('it has none');
  return found;
}

function refusal(host: string, address: string, refused: Refused): Fault {
  const says = `is an address of ${inWords[refused]}, where no server may stand`;
  const byName = 'Whoever runs this instance can name the address itself in SLIPWAY_SERVER_NETWORKS.';
  const hints: Partial<Record<Refused, string>> = {
    own: `${byName} Then Slipway deploys to the machine it runs on.`,
    loopback: `Give the public address of the server. ${byName}`,
    private:
      'Give the public address of the server. Whoever runs this instance can name its network in SLIPWAY_SERVER_NETWORKS.',
  };
  return new Fault('egress_refused', `${host} ${says}.`, {
    hint: hints[refused] ?? 'Give the public address of the server.',
    evidence: address === host ? `${address} (${refused})` : `${host} resolves to ${address} (${refused})`,
    errors: [{ path: 'host', message: says }],
  });
}
