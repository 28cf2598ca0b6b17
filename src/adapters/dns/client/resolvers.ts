/** DnsClient the configured resolvers, as everybody else's computers do. Remembers where one of them found bad signatures. */
import type { DnsClient } from './dns-client.ts';
import type { Reply } from './exchange.ts';
import type { Message } from './message.ts';
import { type NameServer, shownServer } from './name-server.ts';
import type { RecordType } from './records.ts';

export interface ResolverReply {
  readonly server: string;
  readonly reply: Reply;
  /** The resolver refuses the answer, and gives it when told not to validate; `reply` is what it gave then. */
  readonly isBogus: boolean;
}

export interface Bogus {
  readonly server: string;
  readonly name: string;
  readonly type: RecordType;
  readonly explanation: string | undefined;
}

export class Resolvers {
  readonly #client: DnsClient;
  readonly #servers: readonly NameServer[];
  readonly #bogus = new Map<string, Bogus>();

  constructor(client: DnsClient, servers: readonly NameServer[]) {
    this.#client = client;
    this.#servers = servers;
  }

  /** The first that each resolver refused. */
  get bogus(): readonly Bogus[] {
    return [...this.#bogus.values()];
  }

  all(name: string, type: RecordType): Promise<ResolverReply[]> {
    return Promise.all(this.#servers.map((server) => this.#ask(server, name, type)));
  }

  /** What the first resolver that can answer says, in the order they were set. */
  async best(name: string, type: RecordType): Promise<Message | undefined> {
    const replies = (await this.all(name, type)).map(({ reply }) => reply);
    return replies.flatMap((reply) => (reply.kind === 'answer' ? [reply.message] : [])).find(isDecided);
  }

  async #ask(server: NameServer, name: string, type: RecordType): Promise<ResolverReply> {
    const shown = shownServer(server);
    const query = { name, type, isRecursive: true };
    const reply = await this.#client.ask(server, query);
    if (reply.kind === 'silence' || reply.message.rcode !== 'SERVFAIL')
      return { server: shown, reply, isBogus: false };
    const anyway = await this.#client.ask(server, { ...query, withoutValidation: true });
    if (anyway.kind === 'silence' || !isDecided(anyway.message))
      return { server: shown, reply, isBogus: false };
    if (!this.#bogus.has(shown))
      this.#bogus.set(shown, { server: shown, name, type, explanation: reply.message.explanation });
    return { server: shown, reply: anyway, isBogus: true };
  }
}

/** Whether it says what is there, or that nothing is; any other code says neither. */
export function isDecided({ rcode }: Message): boolean {
  return rcode === 'NOERROR' || rcode === 'NXDOMAIN';
}
