/** From a name to all of its addresses: by the machine's own means, or by name servers that were set. */
import { lookup, Resolver } from 'node:dns/promises';
import { errorCode } from '../../fault.ts';

export type Lookup = (name: string) => Promise<readonly string[]>;

export const systemLookup: Lookup = async (name) => {
  const found = await lookup(name, { all: true, order: 'verbatim' });
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
