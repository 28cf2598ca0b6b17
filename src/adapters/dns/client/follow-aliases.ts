/**
 * What stands at a name now: by the zone's own servers where they know it, by the resolvers elsewhere, along aliases.
 * Resolvers may still remember what was there before.
 */
import type { DnsClient } from './dns-client.ts';
import type { Message } from './message.ts';
import type { NameServer } from './name-server.ts';
import { isWithin } from './names.ts';
import type { DnsRecord, RecordType } from './records.ts';
import { isDecided, type Resolvers } from './resolvers.ts';

const mostAliases = 10;

export interface Followed {
  /** The names the aliases lead to, in their order. */
  readonly aliases: readonly string[];
  readonly end:
    | { readonly kind: 'records'; readonly records: readonly DnsRecord[] }
    | { readonly kind: 'none'; readonly isNxdomain: boolean }
    | { readonly kind: 'loop' }
    | { readonly kind: 'failed' };
}

export interface FollowOptions {
  readonly client: DnsClient;
  readonly resolvers: Resolvers;
  /** A zone and one of its servers that answers. */
  readonly authority: { readonly zone: string; readonly server: NameServer } | undefined;
}

export async function follow(options: FollowOptions, name: string, type: RecordType): Promise<Followed> {
  const aliases: string[] = [];
  let at = name;
  for (;;) {
    const message = await nowAt(options, at, type);
    if (!message) return { aliases, end: { kind: 'failed' } };
    const before = at;
    for (let target = aliasAt(message, at); target !== undefined; target = aliasAt(message, at)) {
      if (target === name || aliases.includes(target) || aliases.length === mostAliases)
        return { aliases, end: { kind: 'loop' } };
      aliases.push(target);
      at = target;
    }
    const end = at;
    const records = message.answers.filter((record) => record.type === type && record.name === end);
    if (records.length > 0) return { aliases, end: { kind: 'records', records } };
    if (at === before) return { aliases, end: { kind: 'none', isNxdomain: message.rcode === 'NXDOMAIN' } };
    if (message.rcode === 'NXDOMAIN') return { aliases, end: { kind: 'none', isNxdomain: true } };
  }
}

async function nowAt(options: FollowOptions, name: string, type: RecordType): Promise<Message | undefined> {
  const { client, resolvers, authority } = options;
  if (authority && isWithin(name, authority.zone)) {
    const reply = await client.ask(authority.server, { name, type, isRecursive: false });
    // What it does not vouch for was delegated to others.
    if (reply.kind === 'answer' && reply.message.isAuthoritative && isDecided(reply.message))
      return ofZone(reply.message, authority.zone);
  }
  return resolvers.best(name, type);
}

/** A server is no authority for what lies outside its zone, also where an alias leads there. */
function ofZone(message: Message, zone: string): Message {
  const answers = message.answers.filter((record) => isWithin(record.name, zone));
  const leadsOut = answers.some((record) => record.type === 'CNAME' && !isWithin(record.target, zone));
  return { ...message, answers, rcode: leadsOut ? 'NOERROR' : message.rcode };
}

export function aliasAt({ answers }: Message, name: string): string | undefined {
  const alias = answers.find((record) => record.type === 'CNAME' && record.name === name);
  return alias?.type === 'CNAME' ? alias.target : undefined;
}
