/**
 * Which addresses a name may stand for. Whoever connects uses exactly what it gives: asking again could get another
 * answer. One address that is not allowed is enough to refuse the name, or the order of an answer would decide.
 */
import { lookup as lookUp, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { errorCode, errorText, Fault } from '../../fault.ts';
import { type AddressKind, kindOfAddress } from './address-kinds.ts';

/** From a name to all of its addresses. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** What a network of one's own is made of. Link-local stays closed: clouds keep credentials there. */
const ownNetwork: readonly AddressKind[] = ['loopback', 'private', 'documentation'];

const inWords: Record<Exclude<AddressKind, 'public'>, string> = {
  loopback: 'the machine itself',
  private: 'a private network',
  'link-local': 'the machine’s own link, where clouds keep credentials',
  multicast: 'a group of machines',
  documentation: 'examples and tests',
  unspecified: 'no machine',
  reserved: 'nobody on the internet',
};

export type Guard = (hostname: string) => Promise<readonly CheckedAddress[]>;

export function createGuard(allowPrivate: boolean, lookup: Lookup): Guard {
  const isAllowed = (kind: AddressKind) => kind === 'public' || (allowPrivate && ownNetwork.includes(kind));
  return async (hostname) => {
    const name = hostname.replace(/^\[(.*)\]$/, '$1');
    const found = isIP(name) === 0 ? await addressesOf(name, lookup) : [name];
    for (const address of found) {
      const kind = kindOfAddress(address);
      if (kind !== 'public' && !isAllowed(kind)) throw refusal(name, address, kind, allowPrivate);
    }
    return found.map((address) => ({ address, family: isIP(address) === 4 ? 4 : 6 }));
  };
}

async function addressesOf(name: string, lookup: Lookup): Promise<readonly string[]> {
  const found = await lookup(name).catch((error: unknown) => {
    throw new Fault('egress_failed', `The name ${name} does not resolve to an address.`, {
      hint: 'Check the spelling of the address.',
      evidence: errorText(error),
      cause: error,
    });
  });
  if (found.length > 0) return found;
  throw new Fault('egress_failed', `The name ${name} has no address.`, {
    hint: 'Check the spelling of the address.',
  });
}

function refusal(
  name: string,
  address: string,
  kind: Exclude<AddressKind, 'public'>,
  allowPrivate: boolean,
): Fault {
  const mayBeAllowed = !allowPrivate && ownNetwork.includes(kind);
  return new Fault('egress_refused', `${name} is an address of ${inWords[kind]}, and is not connected to.`, {
    hint: mayBeAllowed
      ? 'Give an address on the internet. Whoever runs this instance can allow addresses of its own network in the settings.'
      : 'Give an address on the internet.',
    evidence: address === name ? `${address} (${kind})` : `${name} resolves to ${address} (${kind})`,
  });
}

export const systemLookup: Lookup = async (name) => {
  const found = await lookUp(name, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

export function lookupAt(servers: readonly string[]): Lookup {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  resolver.setServers(servers);
  return async (name) => {
    // `localhost` and the names that a container network gives are known to the machine only.
    if (!name.replace(/\.$/, '').includes('.')) return systemLookup(name);
    const answers = await Promise.allSettled([resolver.resolve6(name), resolver.resolve4(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    // That there is nothing of one kind is an answer; that a server is silent is not.
    const serious = failed.find((reason) => !['ENODATA', 'ENOTFOUND'].includes(errorCode(reason) ?? ''));
    if (found.length === 0 && failed.length > 0) throw serious ?? failed[0];
    return found;
  };
}
