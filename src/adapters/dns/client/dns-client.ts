/** The queries of one check: counted, bounded in number and time, and the same query sent to the same server once. */
import { exchange, type Reply } from './exchange.ts';
import type { Query } from './message.ts';
import { type NameServer, shownServer } from './name-server.ts';

export interface QueryLimits {
  readonly timeoutMs: number;
  readonly mostQueries: number;
  readonly signal: AbortSignal;
  /** Ends the check with what was found so far, unlike the signal. */
  readonly deadline: AbortSignal;
}

export class DnsClient {
  readonly #options: QueryLimits;
  readonly #replies = new Map<string, Promise<Reply>>();

  constructor(options: QueryLimits) {
    this.#options = options;
  }

  get count(): number {
    return this.#replies.size;
  }

  /** Whether something was left unasked. */
  get isExhausted(): boolean {
    return this.#replies.size >= this.#options.mostQueries || this.#options.deadline.aborted;
  }

  ask(server: NameServer, query: Query, tcpOnly = false): Promise<Reply> {
    const { name, type, isRecursive, withoutValidation = false } = query;
    const key = JSON.stringify([shownServer(server), name, type, isRecursive, withoutValidation, tcpOnly]);
    const before = this.#replies.get(key);
    if (before) return before;
    this.#options.signal.throwIfAborted();
    if (this.isExhausted) return Promise.resolve(unasked);
    const reply = this.#bounded(server, query, tcpOnly);
    this.#replies.set(key, reply);
    return reply;
  }

  async #bounded(server: NameServer, query: Query, tcpOnly: boolean): Promise<Reply> {
    const { timeoutMs, signal, deadline } = this.#options;
    try {
      return await exchange(server, query, {
        timeoutMs,
        tcpOnly,
        signal: AbortSignal.any([signal, deadline]),
      });
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) return unasked;
      throw error;
    }
  }
}

const unasked: Reply = {
  kind: 'silence',
  why: 'it was not asked, because the check took too long',
  isOurs: true,
};
