/** A route that waits: until something came, the time is up, the client has left, or the server is told to close. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { InputError } from './input.ts';

const defaultTimeoutMs = 10_000;
const longestTimeoutMs = 300_000;

export interface Waiting<T> {
  readonly timeoutMs: string | undefined;
  /** For the sentence of the 408: `mail to ada@lab.test`. */
  readonly wanted: string;
  readonly next: (timeoutMs: number, stop: AbortSignal) => Promise<T | undefined>;
}

/** One for each server: what it gives is called by every waiting route of that server. */
export function waitRoute(app: FastifyInstance) {
  const closing = new AbortController();
  // Closing waits for requests, and these would keep it waiting.
  app.addHook('preClose', async () => closing.abort(new InputError('The server is closing.', 503)));
  return async <T>(reply: FastifyReply, { timeoutMs, wanted, next }: Waiting<T>): Promise<T> => {
    const limit = timeoutOf(timeoutMs);
    const left = new AbortController();
    // A waiter whose client has gone would take what belongs to the next one.
    reply.raw.once('close', () => left.abort(new InputError('The client has left.', 499)));
    const item = await next(limit, AbortSignal.any([closing.signal, left.signal]));
    if (item === undefined) throw new InputError(`No ${wanted} came within ${limit} ms.`, 408);
    return item;
  };
}

function timeoutOf(text: string | undefined): number {
  if (text === undefined) return defaultTimeoutMs;
  const timeoutMs = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (timeoutMs <= longestTimeoutMs) return timeoutMs;
  throw new InputError(
    `"${text}" is no timeoutMs: it is a number from 0 to ${longestTimeoutMs}, such as 5000.`,
  );
}
