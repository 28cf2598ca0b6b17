/**
 * How many streams may be open at once: each holds a connection and memory for as long as its reader likes. Counted by
 * account and in all, on this instance, before anything is done for the stream.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../fault.ts';
import type { AccountId } from '../ids.ts';
import { principalOf } from './scope.ts';

export interface StreamLimits {
  readonly perAccount: number;
  readonly inAll: number;
}

const retryAfterSeconds = 5;

export class StreamSlots {
  readonly #limits: StreamLimits;
  readonly #open = new Map<AccountId, number>();
  #total = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Taken until the connection is done with this answer, in whichever way: told, refused, or its reader gone. */
  take(request: FastifyRequest, { raw }: FastifyReply): void {
    const { accountId } = principalOf(request);
    const { perAccount, inAll } = this.#limits;
    const open = this.#open.get(accountId) ?? 0;
    if (open >= perAccount)
      throw tooMany(
        `Your account has ${open} streams open, and may have ${perAccount} at once.`,
        'Close those that nobody reads, or follow all projects by one stream with GET /events.',
      );
    if (this.#total >= inAll)
      throw tooMany(
        `This instance has ${this.#total} streams open, and takes no more.`,
        'Try again shortly. Whoever runs it can raise SLIPWAY_LIMIT_STREAMS_TOTAL.',
      );
    // Its reader may have gone while we asked who it is: then nobody would tell us again.
    if (raw.closed) return;
    this.#open.set(accountId, open + 1);
    this.#total += 1;
    raw.once('close', () => this.#release(accountId));
  }

  #release(accountId: AccountId): void {
    this.#total -= 1;
    const left = (this.#open.get(accountId) ?? 1) - 1;
    if (left === 0) this.#open.delete(accountId);
    else this.#open.set(accountId, left);
  }
}

function tooMany(sentence: string, hint: string): Fault {
  return new Fault('rate_limited', sentence, { hint, retryAfterSeconds });
}
